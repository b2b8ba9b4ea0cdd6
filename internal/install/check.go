package install

import "context"

// Level says how serious a finding is.
type Level string

// The levels.
const (
	LevelOK   Level = "ok"
	LevelInfo Level = "info"
	LevelWarn Level = "warn"
	LevelFail Level = "fail"
)

// Finding is one result of a check.
type Finding struct {
	Level Level  `json:"level"`
	Topic string `json:"topic"` // "binary", "hooks", "timeouts" …
	Msg   string `json:"msg"`   // one sentence
	Hint  string `json:"hint,omitempty"`
}

// CheckOptions say what to look at. Every path is absolute.
type CheckOptions struct {
	ClientDir  string // see ClientDir
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
// it from working. It changes nothing.
func Check(ctx context.Context, o CheckOptions) []Finding { return nil }
