package install

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// checkTimeouts looks for limits that were meant in milliseconds. The client
// counts seconds, so 5000 lets a hook that hangs block it for 83 minutes.
func (s *survey) checkTimeouts() {
	odd := 0
	for _, h := range s.hooks {
		if h.Timeout > maxTimeout {
			odd++
			s.report(LevelWarn, "timeouts",
				fmt.Sprintf("the %s hook %q in %s has a timeout of %g seconds", h.event, archive.Clip(h.Command, 80), h.path, h.Timeout),
				"the client counts seconds: if milliseconds were meant, divide by 1000")
		}
	}
	if odd == 0 && len(s.hooks) > 0 {
		s.report(LevelOK, "timeouts", fmt.Sprintf("no hook's timeout is above %d seconds", maxTimeout), "")
	}
}

// checkRetention says how long the client keeps its transcripts.
func (s *survey) checkRetention() {
	days := 30.0
	f, set := s.effective("cleanupPeriodDays", &days)
	switch {
	case !set:
		s.report(LevelInfo, "retention", "the client deletes transcripts after 30 days, its default; Strandline's log keeps them",
			"set cleanupPeriodDays in "+filepath.Join(s.opts.ClientDir, "settings.json")+" to let it resume older sessions by itself")
	case days < 1:
		s.report(LevelFail, "retention", fmt.Sprintf("cleanupPeriodDays is %g in %s, so the client passes over all of that file", days, f.path), "set it to 1 or more")
	default:
		s.report(LevelInfo, "retention", fmt.Sprintf("the client deletes transcripts after %g days (cleanupPeriodDays in %s); Strandline's log keeps them", days, f.path), "")
	}
}

// neighbours are other tools that keep a memory by hooks, by what stands in
// their commands.
func neighbours() []string {
	return []string{
		"claude-flow", "ruflo", "claude-mem", "claude-dcm", "claude-remember", "context-mode",
		"context-persistence-hook", "deja-vu", "episodic-memory", "memsearch", "mempalace",
	}
}

// checkNeighbours names other memory tools: they work, but say things twice.
func (s *survey) checkNeighbours() {
	for _, name := range neighbours() {
		var events []string
		for _, h := range s.hooks {
			text := strings.ToLower(h.path + " " + h.Command + " " + strings.Join(h.Args, " "))
			if strings.Contains(text, name) && !slices.Contains(events, h.event) {
				events = append(events, h.event)
			}
		}
		if len(events) > 0 {
			s.report(LevelInfo, "neighbours", name+" has hooks too ("+strings.Join(events, ", ")+"), and both put text into the context",
				"run one of them, or bring its archive in with `strandline import`")
		}
	}
}

// maxEntries limits how much of Strandline's folder is looked at.
const maxEntries = 20_000

// checkHome makes sure that Strandline's folder can be written, and read by
// nobody else.
func (s *survey) checkHome() {
	home := s.opts.Home
	info, err := os.Stat(home)
	switch {
	case os.IsNotExist(err):
		s.report(LevelInfo, "home", home+" is not there yet, the first hook makes it", "")
		return
	case err != nil:
		s.report(LevelFail, "home", "Strandline's folder cannot be read: "+err.Error(), "check its permissions")
		return
	case !info.IsDir():
		s.report(LevelFail, "home", home+" is not a folder", "move it out of the way, or set STRANDLINE_HOME")
		return
	}
	// Only a try tells: permissions, quotas and read-only mounts all have a say.
	f, err := os.CreateTemp(home, ".doctor-*")
	if err == nil {
		err = f.Close()
		if e := os.Remove(f.Name()); err == nil {
			err = e
		}
	}
	if err != nil {
		s.report(LevelFail, "home", "Strandline's folder cannot be written: "+err.Error(), "check its permissions and the free space")
		return
	}
	if open := s.openToOthers(); len(open) > 0 {
		s.report(LevelWarn, "home", fmt.Sprintf("others can read %s%s", open[0], andMore(len(open)-1)), "run `chmod -R go= "+quote(home, s.opts.GOOS)+"`")
		return
	}
	s.report(LevelOK, "home", home+" can be written, and read by nobody else", "")
}

// openToOthers lists what the group or others may touch. Windows has no such
// modes.
func (s *survey) openToOthers() []string {
	if s.opts.GOOS == "windows" {
		return nil
	}
	var open []string
	seen := 0
	err := filepath.WalkDir(s.opts.Home, func(path string, d fs.DirEntry, err error) error {
		if seen++; seen > maxEntries {
			return fs.SkipAll
		}
		if err != nil {
			return nil //nolint:nilerr // what cannot be read is not open to others either
		}
		if info, err := d.Info(); err == nil && info.Mode()&fs.ModeSymlink == 0 && info.Mode().Perm()&0o077 != 0 {
			open = append(open, path)
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return open
}

func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}
