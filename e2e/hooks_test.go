package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// hookEnd is the end of a hook in the client's debug log.
type hookEnd struct {
	event   string // with its source, "PreCompact:auto"
	command string
	status  int
	millis  int // -1 if the client does not report it
}

func (h hookEnd) String() string {
	return fmt.Sprintf("%s [%s] status %d, %d ms", h.event, h.command, h.status, h.millis)
}

// hookEndLine matches the line of the client's debug log that ends a hook.
var hookEndLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(\w+(?::\w+)?) \[([^\]]*)\] (?:finished|completed) with status (-?\d+)(?: \((\d+)ms\))?`)
})

// debugFile returns a path for the debug log of one client process. Only this log
// lists the ends of all hooks: the client's output omits those of PreCompact,
// PostCompact and SessionEnd.
func (s *sandbox) debugFile() string {
	folder := filepath.Join(filepath.Dir(s.project), "debug")
	return filepath.Join(folder, strconv.Itoa(int(s.processes.Add(1)))+".log")
}

// hookEnds reads the ends of strandline's hooks from a debug log.
func (s *sandbox) hookEnds(debugFile string) []hookEnd {
	s.t.Helper()
	var ends []hookEnd
	for line := range strings.Lines(s.read(debugFile)) {
		found := hookEndLine().FindStringSubmatch(line)
		if len(found) == 0 || !strings.Contains(found[2], programName) {
			continue
		}
		status, err := strconv.Atoi(found[3])
		if err != nil {
			s.t.Fatalf("debug log: %q: %v", line, err)
		}
		millis, err := strconv.Atoi(found[4])
		if err != nil {
			millis = -1
		}
		ends = append(ends, hookEnd{event: found[1], command: found[2], status: status, millis: millis})
	}
	return ends
}

// checkHooks fails the test if a hook of the process did not end well, or none
// ended at all.
func (s *sandbox) checkHooks(debugFile string) {
	s.t.Helper()
	ends := s.hookEnds(debugFile)
	for _, end := range ends {
		// The client ends a statusline that is out of date before it is printed.
		if end.status != 0 && end.event != "StatusLine" {
			s.t.Errorf("hook %s", end)
		}
	}
	if len(ends) == 0 && s.program != "" {
		s.t.Errorf("%s: no hook of strandline ran", filepath.Base(debugFile))
	}
}

// logHooks prints the durations of the hooks.
func (s *sandbox) logHooks() {
	var times []string
	files, err := filepath.Glob(filepath.Join(filepath.Dir(s.debugFile()), "*.log"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, file := range files {
		for _, end := range s.hookEnds(file) {
			if end.millis >= 0 {
				times = append(times, fmt.Sprintf("%s %d", end.event, end.millis))
			}
		}
	}
	if len(times) > 0 {
		s.t.Logf("hooks, in ms from start to end: %s", strings.Join(times, ", "))
	}
}

// checkHookRows fails the test if what was added to the transcripts since the last
// look holds a complaint about a hook.
func (s *sandbox) checkHookRows() {
	s.t.Helper()
	for _, path := range s.clientFiles() {
		text := s.read(path)
		for line := range strings.Lines(text[s.checked[path]:]) {
			for _, complaint := range complaints([]byte(line)) {
				s.t.Errorf("%s: %s", filepath.Base(path), complaint)
			}
		}
		s.checked[path] = len(text)
	}
}

// complaints returns the hook errors in a transcript row.
func complaints(line []byte) []string {
	var row struct {
		Attachment struct {
			Type    string `json:"type"`
			Command string `json:"command"`
		} `json:"attachment"`
		HookErrors []any `json:"hookErrors"`
	}
	if err := json.Unmarshal(line, &row); err != nil {
		return nil // a row of another shape says nothing about hooks
	}
	var found []string
	switch row.Attachment.Type {
	case "hook_non_blocking_error", "hook_blocking_error", "hook_error_during_execution", "hook_cancelled":
		found = append(found, row.Attachment.Type+" of "+row.Attachment.Command)
	}
	for _, e := range row.HookErrors {
		found = append(found, fmt.Sprint(e))
	}
	return found
}

// forgiveHookRows ignores the hook errors that are in the transcripts now.
func (s *sandbox) forgiveHookRows() {
	s.t.Helper()
	for _, path := range s.clientFiles() {
		s.checked[path] = len(s.read(path))
	}
}

// checkLog fails the test if strandline has logged anything.
func (s *sandbox) checkLog() {
	s.t.Helper()
	path := filepath.Join(s.store, "strandline.log")
	if exists(path) {
		s.t.Errorf("strandline has logged:\n%s", s.read(path))
	}
}

// exists reports whether a file is there.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
