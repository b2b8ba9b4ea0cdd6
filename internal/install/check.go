package install

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"strandline/internal/transcript"
)

// Level is the severity of a finding.
type Level string

// The levels.
const (
	LevelOK   Level = "ok"
	LevelInfo Level = "info" // good to know
	LevelWarn Level = "warn" // works, but not as it should
	LevelFail Level = "fail" // something is not captured
)

// Finding is one result of a check.
type Finding struct {
	Level Level  `json:"level"`
	Topic string `json:"topic"` // "settings", "hooks", "binary", "timeouts", "retention", "neighbours", "plugin", "home"
	Msg   string `json:"msg"`   // one sentence
	Hint  string `json:"hint,omitempty"`
	// Fix removes the cause. It changes only what Strandline wrote; nil if that is not
	// possible.
	Fix func() error `json:"-"`
}

// CheckOptions configures Check. All paths are absolute.
type CheckOptions struct {
	ClientDir string // the client's configuration folder
	// Others are clients besides Claude Code, and OtherDir returns a client's folder.
	Others     []transcript.Client
	OtherDir   func(transcript.Client) string
	ProjectDir string // empty: no project settings
	Home       string // Strandline's folder
	Exe        string // the current binary
	Version    string // its version
	// ClientVersion is the version of the client that was seen last; "" if unknown.
	ClientVersion string
	GOOS          string // empty: this system
	// Now is the clock of Fix; nil: the manifest gets no time.
	Now func() time.Time
	// ManagedDir holds the administrator's settings; empty: the client's default.
	ManagedDir string
	// Getenv reads environment variables; nil: there are none.
	Getenv func(string) string
	// LookPath finds a binary by name; nil: such hooks are not checked.
	LookPath func(file string) (string, error)
	// VersionOf returns the version of another binary; nil: it is not checked.
	VersionOf func(ctx context.Context, exe string) (string, error)
}

// Check reports how Strandline is installed in the client and what may prevent it
// from working. It changes nothing. The client's behaviour was measured with
// version 2.1.329.
func Check(ctx context.Context, o CheckOptions) []Finding {
	o.GOOS = cmp.Or(o.GOOS, runtime.GOOS)
	o.ManagedDir = cmp.Or(o.ManagedDir, managedDir(o.GOOS))
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	c := checker{opts: o}
	for _, other := range o.Others {
		c.checkOther(ctx, Options{Client: other, ClientDir: o.OtherDir(other), Home: o.Home, Exe: o.Exe, GOOS: o.GOOS, Now: o.Now})
	}
	if c.others && !Connected(c.main(ScopeUser)) && !Connected(c.main(ScopeProject)) {
		if _, err := os.Stat(o.ClientDir); err == nil {
			c.report(LevelInfo, "hooks", "Claude Code is installed here and not connected to Strandline", "`strandline init --client claude` connects it")
		}
		c.checkHome()
		return c.findings
	}
	c.readAll()
	c.checkSwitches()
	c.checkEvents()
	c.checkBinaries(ctx)
	c.checkTimeouts()
	c.checkRetention()
	c.checkOtherTools()
	c.checkPlugin()
	c.checkHome()
	return c.findings
}

// managedDir returns the folder of the administrator's settings.
func managedDir(goos string) string {
	special := map[string]string{"windows": `C:\Program Files\ClaudeCode`, "darwin": "/Library/Application Support/ClaudeCode"}
	return cmp.Or(special[goos], "/etc/claude-code")
}

// checker holds the state of a Check.
type checker struct {
	opts     CheckOptions
	files    []settings // in order of precedence
	hooks    []seenHook // of all files and plugins
	findings []Finding
	others   bool // another client is connected
	// answering lists other plugins that answer compactions.
	answering []string
}

// main returns the options of Claude Code's settings.
func (c *checker) main(scope Scope) Options {
	o := c.opts
	return Options{ClientDir: o.ClientDir, ProjectDir: o.ProjectDir, Home: o.Home, Exe: o.Exe, GOOS: o.GOOS, Scope: scope, Now: o.Now}.withDefaults()
}

func (c *checker) report(level Level, topic, msg, hint string) {
	c.findings = append(c.findings, Finding{Level: level, Topic: topic, Msg: msg, Hint: hint})
}

// fixLast makes the last finding fixable.
func (c *checker) fixLast(fix func() error) { c.findings[len(c.findings)-1].Fix = fix }

// readAll reads all files that the client merges, and the hooks of enabled plugins.
func (c *checker) readAll() {
	managed, _ := filepath.Glob(filepath.Join(c.opts.ManagedDir, "managed-settings.d", "*.json"))
	for _, path := range append(managed, filepath.Join(c.opts.ManagedDir, "managed-settings.json")) {
		c.read(path, true)
	}
	if c.opts.ProjectDir != "" {
		c.read(filepath.Join(c.opts.ProjectDir, ".claude", "settings.local.json"), false)
		c.read(filepath.Join(c.opts.ProjectDir, ".claude", "settings.json"), false)
	}
	c.read(filepath.Join(c.opts.ClientDir, "settings.json"), false)
	c.readPlugins()
}
