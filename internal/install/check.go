package install

import (
	"context"
	"path/filepath"
	"runtime"
)

// Level says how serious a finding is.
type Level string

// The levels.
const (
	LevelOK   Level = "ok"
	LevelInfo Level = "info" // good to know
	LevelWarn Level = "warn" // works, but not as it should
	LevelFail Level = "fail" // something is not recorded
)

// Finding is one result of a check.
type Finding struct {
	Level Level  `json:"level"`
	Topic string `json:"topic"` // "settings", "hooks", "binary", "timeouts", "retention", "neighbours", "plugin", "home"
	Msg   string `json:"msg"`   // one sentence
	Hint  string `json:"hint,omitempty"`
}

// CheckOptions say what to look at. Every path is absolute.
type CheckOptions struct {
	ClientDir  string // the client's configuration folder
	ProjectDir string // empty: no project's settings are read
	Home       string // Strandline's own folder
	Exe        string // the binary that asks
	Version    string // its version
	GOOS       string // empty: this system
	// ManagedDir holds the administrator's settings; empty: the client's usual
	// place on this system.
	ManagedDir string
	// Getenv reads the environment; nil: an empty one.
	Getenv func(string) string
	// LookPath finds a command that is wired by name; nil: none is found.
	LookPath func(file string) (string, error)
	// VersionOf asks another binary for its version; nil: it is not asked.
	VersionOf func(ctx context.Context, exe string) (string, error)
}

// Check looks at how Strandline is wired into the client and at what could keep
// it from working. It changes nothing. What the client does with its settings
// was measured with version 2.1.329.
func Check(ctx context.Context, o CheckOptions) []Finding {
	if o.GOOS == "" {
		o.GOOS = runtime.GOOS
	}
	if o.ManagedDir == "" {
		o.ManagedDir = managedDir(o.GOOS)
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	s := survey{opts: o}
	s.readAll()
	s.checkSwitches()
	s.checkWiring()
	s.checkBinaries(ctx)
	s.checkTimeouts()
	s.checkRetention()
	s.checkNeighbours()
	s.checkPlugin()
	s.checkHome()
	return s.findings
}

// managedDir is where the client reads an administrator's settings.
func managedDir(goos string) string {
	switch goos {
	case "windows":
		return `C:\Program Files\ClaudeCode`
	case "darwin":
		return "/Library/Application Support/ClaudeCode"
	}
	return "/etc/claude-code"
}

// survey is a check under way.
type survey struct {
	opts     CheckOptions
	files    []settings // the one that counts most first
	hooks    []seenHook // of every file and plugin
	findings []Finding
}

func (s *survey) report(level Level, topic, msg, hint string) {
	s.findings = append(s.findings, Finding{Level: level, Topic: topic, Msg: msg, Hint: hint})
}

// readAll reads every file that the client merges, and the hooks of the plugins
// that those files switch on.
func (s *survey) readAll() {
	managed, err := filepath.Glob(filepath.Join(s.opts.ManagedDir, "managed-settings.d", "*.json"))
	if err == nil {
		for _, path := range managed {
			s.read(path, true)
		}
	}
	s.read(filepath.Join(s.opts.ManagedDir, "managed-settings.json"), true)
	if s.opts.ProjectDir != "" {
		s.read(filepath.Join(s.opts.ProjectDir, ".claude", "settings.local.json"), false)
		s.read(filepath.Join(s.opts.ProjectDir, ".claude", "settings.json"), false)
	}
	s.read(filepath.Join(s.opts.ClientDir, "settings.json"), false)
	s.readPlugins()
}
