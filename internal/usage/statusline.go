package usage

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"strandline/internal/state"
	"strandline/internal/text"
)

// Statusline prints one line for the client's statusline: the usage of the context
// window by the client's own count, and whether the session is captured. It opens no
// index. Missing or invalid input gives a line with less in it, never an error.
type Statusline struct {
	Stdin   io.Reader
	Stdout  io.Writer
	Getenv  func(string) string
	Store   Store
	Monitor Monitor
	Now     func() time.Time
	// Template is the line's template, "" for the default.
	Template string
	// ASCII forces ASCII characters; otherwise the locale decides.
	ASCII bool
	// Command is the user's command whose first line is printed before Strandline's.
	Command string
}

const (
	maxInput     = 1 << 20     // bytes read of stdin
	inputTimeout = time.Second // of stdin

	// minWidth is the least number of columns for Strandline's part of the line: those
	// of the shield and a percentage.
	minWidth = 7

	// commandTimeout limits the user's command. The client waits for the line, and
	// starts another when something changes.
	commandTimeout   = 2 * time.Second
	maxCommandOutput = 16 << 10 // bytes read of the command's output

	// maxTail is the most uncaptured bytes of a transcript that are searched for
	// conversation rows.
	maxTail = 256 << 10
)

// Print prints one line.
func (l Statusline) Print(ctx context.Context) error {
	reading, cancel := context.WithTimeout(ctx, inputTimeout)
	defer cancel()
	data, _ := state.ReadInput(reading, l.Stdin, maxInput)
	prefix := make(chan string, 1)
	go func() { prefix <- runCommand(ctx, l.Command, data) }()
	// Fields of another type stay zero; invalid JSON gives the zero payload.
	var in linePayload
	_ = json.Unmarshal(data, &in)
	values := l.collect(ctx, in)
	style := l.style()
	line := <-prefix
	sep := " │ "
	if style.ascii {
		sep = style.separator()
	}
	if line != "" {
		if style.width > 0 {
			style.width = max(style.width-text.Cells(line)-text.Cells(sep), minWidth)
		}
		if strings.Contains(line, "\x1b[") {
			line += "\x1b[0m"
		}
		line += sep
	}
	_, err := io.WriteString(l.Stdout, line+values.render(style)+"\n")
	return err
}

// style returns the terminal's capabilities according to the environment.
func (l Statusline) style() lineStyle {
	width, _ := strconv.Atoi(l.Getenv("COLUMNS"))
	return lineStyle{
		template: l.Template, ascii: l.ASCII || !utf8Locale(l.Getenv), width: width,
		plain: l.Getenv("NO_COLOR") != "" || l.Getenv("TERM") == "dumb",
	}
}

// utf8Locale reports whether the locale uses UTF-8, which an unset locale does.
func utf8Locale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToUpper(getenv(name)); value != "" {
			return strings.Contains(value, "UTF-8") || strings.Contains(value, "UTF8")
		}
	}
	return true
}

// linePayload is the part of the client's payload that is shown. Every field may be
// missing, null, or of another type.
type linePayload struct {
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	Model      struct {
		ID   string `json:"id"`
		Name string `json:"display_name"`
	} `json:"model"`
	Window struct {
		// Tokens is 0 before the first response and right after a compaction.
		Tokens float64 `json:"total_input_tokens"`
		Size   float64 `json:"context_window_size"`
	} `json:"context_window"`
}

// validTokens returns a number of tokens of a payload, 0 if it is not plausible.
func validTokens(f float64) int64 {
	if f >= 1 && f <= maxTokens {
		return int64(f)
	}
	return 0
}

// lineValues holds the values that a line shows.
type lineValues struct {
	Session
	known       bool // the window's usage is known
	capture     captureStatus
	health      float64 // of the archive, from 0 to 1
	healthKnown bool
	modelName   string
}

// collect combines the client's payload with the session's record. The payload
// takes precedence; tokens from the record are shown as an estimate.
func (l Statusline) collect(ctx context.Context, in linePayload) lineValues {
	s, known := l.Store.Session(in.Session)
	size := validTokens(in.Window.Size)
	v := lineValues{capture: compareCapture(in, s, known, l.Now()), modelName: in.Model.Name, known: known || size > 0}
	if size > 0 && (s.ClientWindow != size || s.ClientModel != in.Model.ID) {
		// Store the window for the hooks, whose payloads lack it: once per session. On an
		// error the hooks use the model's window.
		_ = l.Store.Update(ctx, in.Session, func(s *Session) bool {
			s.ClientWindow, s.ClientModel = size, in.Model.ID
			l.Monitor.Derive(s)
			return true
		})
		s.ClientWindow, s.ClientModel = size, in.Model.ID
	}
	s.Model = cmp.Or(in.Model.ID, s.Model)
	if tokens := validTokens(in.Window.Tokens); tokens > 0 {
		s.LastTokenEstimate, s.Estimated = tokens, false
	} else {
		s.Estimated = s.LastTokenEstimate > 0
	}
	l.Monitor.Derive(&s)
	v.Session = s
	if strings.Contains(l.Template, "{health}") {
		if h, ok := l.Store.Health(); ok {
			v.health, v.healthKnown = h.Mean()
		}
	}
	return v
}

// captureStatus compares the archive with the session's transcript.
type captureStatus int

const (
	capturePending captureStatus = iota // part of the conversation is not in the log, or it is unknown
	captureDone                         // the whole conversation is in the log, or what is missing is young
	captureFailed                       // the last capture or its indexing failed
)

// youngGap is the age up to which rows that are not captured are no finding: the client
// writes a turn's last row after its last hook.
const youngGap = time.Minute

// compareCapture compares the transcript with the captured bytes. Only rows of the
// conversation count: the client writes other rows after a turn's last hook.
func compareCapture(in linePayload, s Session, known bool, now time.Time) captureStatus {
	if known && s.Captured > 0 && s.CaptureFailed {
		return captureFailed
	}
	if filepath.Base(in.Transcript) != in.Session+".jsonl" {
		return capturePending
	}
	info, err := os.Stat(in.Transcript)
	switch {
	case errors.Is(err, fs.ErrNotExist): // before the first row, or deleted by the client
		return captureDone
	case err != nil || !info.Mode().IsRegular():
		return capturePending
	case now.Sub(info.ModTime()) < youngGap, known && info.Size() == s.Captured:
		return captureDone
	case !known || s.Captured == 0 || info.Size() < s.Captured || info.Size() > s.Captured+maxTail:
		return capturePending
	}
	tail, err := readRange(in.Transcript, s.Captured, s.Captured+maxTail)
	if err != nil || bytes.Contains(tail, []byte(`"type":"user"`)) || bytes.Contains(tail, []byte(`"type":"assistant"`)) {
		return capturePending
	}
	return captureDone
}

// runCommand runs the user's statusline command with the client's payload on stdin
// and returns the first non-empty line of its output; "" if there is none in time.
// The exit status is ignored.
func runCommand(ctx context.Context, command string, stdin []byte) string {
	if command == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	shell := []string{"/bin/sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd.exe", "/C"}
	}
	cmd := exec.CommandContext(ctx, shell[0], append(shell[1:], command)...) // from the user's settings
	setGroup(cmd)
	cmd.WaitDelay = 100 * time.Millisecond // background processes may keep the pipes open
	cmd.Stdin = bytes.NewReader(stdin)
	var out limitedBuffer
	cmd.Stdout = &out
	_ = cmd.Run()
	for line := range strings.SplitSeq(string(out), "\n") {
		if line = strings.TrimRight(line, " \t\r"); line != "" {
			return line
		}
	}
	return ""
}

// limitedBuffer stores the first maxCommandOutput bytes and drops the rest.
type limitedBuffer []byte

// Write implements io.Writer.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), maxCommandOutput-len(*b))]...)
	return len(p), nil
}
