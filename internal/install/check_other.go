package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// checkTimeouts reports timeouts that look like milliseconds. The client counts
// seconds, so a hook that hangs blocks it for 83 minutes with 5000.
func (c *checker) checkTimeouts() {
	odd := 0
	for _, h := range c.hooks {
		if h.Timeout > maxTimeout {
			odd++
			c.report(LevelWarn, "timeouts",
				fmt.Sprintf("the %s hook %q in %s has a timeout of %g seconds", h.event, archive.Clip(h.Command, 80), h.path, h.Timeout),
				"the client counts seconds; divide milliseconds by 1000")
		}
	}
	if odd == 0 && len(c.hooks) > 0 {
		c.report(LevelOK, "timeouts", fmt.Sprintf("no hook's timeout is above %d seconds", maxTimeout), "")
	}
}

// checkRetention reports how long the client keeps its transcripts.
func (c *checker) checkRetention() {
	days := 30.0
	f, set := c.effective("cleanupPeriodDays", &days)
	switch {
	case !set:
		c.report(LevelInfo, "retention", "the client deletes transcripts after 30 days, its default; Strandline's log keeps them",
			"set cleanupPeriodDays in "+filepath.Join(c.opts.ClientDir, "settings.json")+" to let the client resume older sessions")
	case days < 1:
		c.report(LevelFail, "retention", fmt.Sprintf("cleanupPeriodDays is %g in %s, so the client ignores that file", days, f.path), "set it to 1 or more")
	default:
		c.report(LevelInfo, "retention", fmt.Sprintf("the client deletes transcripts after %g days (cleanupPeriodDays in %s); Strandline's log keeps them", days, f.path), "")
	}
}

// otherTool is another memory tool: parts of its hooks' commands, the first one is its
// name, and how to bring its data along.
type otherTool struct {
	parts []string
	move  string
}

func otherTools() []otherTool {
	const (
		entries    = "`strandline import --from ruflo PROJECT` copies its archive"
		summaries  = "`strandline import --from compressed-context` copies its summaries"
		service    = "`strandline serve --compat dcm` answers its scripts (docs/moving.md)"
		transcript = "`strandline import` reads the transcripts that it was fed from; its own notes are not imported"
	)
	out := []otherTool{
		{[]string{"claude-flow"}, entries}, {[]string{"ruflo"}, entries}, {[]string{"context-persistence-hook"}, entries},
		{[]string{"claude-agentic-framework", "auto_context_manager", "pre_compact_preserve"}, summaries},
		{[]string{"claude-dcm", "context-manager/hooks/"}, service},
	}
	for _, name := range []string{"claude-mem", "claude-remember", "context-mode", "deja-vu", "episodic-memory", "memsearch", "mempalace"} {
		out = append(out, otherTool{[]string{name}, transcript})
	}
	return out
}

// checkOtherTools reports other memory tools, which restore the same context again.
func (c *checker) checkOtherTools() {
	for _, tool := range otherTools() {
		var events []string
		for _, h := range c.hooks {
			command := strings.ToLower(filepath.ToSlash(h.path + " " + h.Command + " " + strings.Join(h.Args, " ")))
			if slices.ContainsFunc(tool.parts, func(part string) bool { return strings.Contains(command, part) }) && !slices.Contains(events, h.event) {
				events = append(events, h.event)
			}
		}
		if len(events) > 0 {
			c.report(LevelInfo, "neighbours", tool.parts[0]+" has hooks too ("+strings.Join(events, ", ")+"), and both add text to the context",
				"use one of them; "+tool.move)
		}
	}
}

// maxEntries limits the number of checked files in Strandline's folder.
const maxEntries = 20_000

// checkHome checks that the user can write Strandline's folder and no one else can
// read it.
func (c *checker) checkHome() {
	level, msg, hint := c.homeState()
	c.report(level, "home", msg, hint)
	if level == LevelWarn {
		c.fixLast(c.makePrivate)
	}
}

func (c *checker) homeState() (level Level, msg, hint string) {
	home := c.opts.Home
	info, err := os.Stat(home)
	switch {
	case os.IsNotExist(err):
		return LevelInfo, home + " does not exist yet; the first hook creates it", ""
	case err != nil:
		return LevelFail, "Strandline's folder cannot be read: " + err.Error(), "check its permissions"
	case !info.IsDir():
		return LevelFail, home + " is not a folder", "move it out of the way, or set STRANDLINE_HOME"
	}
	// A test file covers permissions, quotas and read-only mounts.
	f, err := os.CreateTemp(home, ".doctor-*")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return LevelFail, "Strandline's folder cannot be written: " + err.Error(), "check its permissions and the free space"
	}
	if open := c.openToOthers(); len(open) > 0 {
		msg = "others can read " + open[0]
		if more := len(open) - 1; more > 0 {
			msg += fmt.Sprintf(" and %d more", more)
		}
		return LevelWarn, msg, "run `chmod -R go= " + Quote(home, c.opts.GOOS) + "`"
	}
	return LevelOK, home + " is writable, and private", ""
}

// openToOthers lists the files that other users can access. Windows has no such
// modes.
func (c *checker) openToOthers() []string {
	if c.opts.GOOS == "windows" {
		return nil
	}
	var open []string
	seen := 0
	_ = filepath.WalkDir(c.opts.Home, func(path string, d fs.DirEntry, err error) error {
		if seen++; seen > maxEntries {
			return fs.SkipAll
		}
		if err != nil {
			return nil //nolint:nilerr // unreadable for others, too
		}
		if info, err := d.Info(); err == nil && info.Mode()&fs.ModeSymlink == 0 && info.Mode().Perm()&0o077 != 0 {
			open = append(open, path)
		}
		return nil
	})
	return open
}
