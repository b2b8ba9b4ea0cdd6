// Package install adds Strandline to the client's settings and removes it again. All
// other bytes of the settings stay unchanged.
package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"strandline/internal/archive"
	"strandline/internal/state"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// Scope selects the settings file.
type Scope string

// The scopes.
const (
	ScopeUser    Scope = "user"    // <ClientDir>/settings.json, every project of the user
	ScopeProject Scope = "project" // <ProjectDir>/.claude/settings.local.json, this project on this machine
	// ScopeShared is <ProjectDir>/.claude/settings.json, which teams commit. Earlier versions
	// wrote their entries there; they are only removed.
	ScopeShared Scope = "shared"
)

// Options configures an Installer. All paths are absolute.
type Options struct {
	// Client is the client, and File one of the files of its setup; empty: Claude Code.
	Client     transcript.Client
	File       transcript.SetupFile
	ClientDir  string // the client's configuration folder
	ProjectDir string // the project's root, for ScopeProject
	Home       string // Strandline's folder, which holds the manifest
	Exe        string // the strandline binary that the hooks call
	Scope      Scope  // empty: ScopeUser
	Plugin     bool   // install the compactor plugin
	// NoStatusline leaves the client's statusline unchanged.
	NoStatusline bool
	NoMCP        bool             // the plugin has no MCP server
	NoSkill      bool             // the plugin has no skill
	GOOS         string           // system whose shell runs the commands; empty: this system
	Now          func() time.Time // nil: the manifest has no time

	// beforeRename runs after a new settings file is written and before it replaces
	// the old one; for tests.
	beforeRename func() error
}

// Installer edits the client's settings.
type Installer struct{ opts Options }

// New returns an installer.
func New(o Options) *Installer {
	o = o.withDefaults()
	if o.Now == nil {
		o.Now = func() time.Time { return time.Time{} }
	}
	if o.beforeRename == nil {
		o.beforeRename = func() error { return nil }
	}
	return &Installer{opts: o}
}

// withDefaults fills the empty options that select the file.
func (o Options) withDefaults() Options {
	o.Scope, o.GOOS = cmp.Or(o.Scope, ScopeUser), cmp.Or(o.GOOS, runtime.GOOS)
	if o.File.Path == "" {
		o.Client = claude.Client()
		o.File = o.Client.Setup.Files[0]
	}
	return o
}

// settingsPath returns the settings file of the scope.
func (o Options) settingsPath() (string, error) {
	o = o.withDefaults()
	switch {
	case !o.File.Main && filepath.IsAbs(o.ClientDir):
		return filepath.Join(o.ClientDir, filepath.FromSlash(o.File.Path)), nil
	case o.Scope == ScopeUser && filepath.IsAbs(o.ClientDir):
		return filepath.Join(o.ClientDir, "settings.json"), nil
	case o.Scope == ScopeProject && filepath.IsAbs(o.ProjectDir):
		return filepath.Join(o.ProjectDir, ".claude", "settings.local.json"), nil
	case o.Scope == ScopeShared && filepath.IsAbs(o.ProjectDir):
		return filepath.Join(o.ProjectDir, ".claude", "settings.json"), nil
	case !slices.Contains([]Scope{ScopeUser, ScopeProject, ScopeShared}, o.Scope):
		return "", archive.Invalid(fmt.Sprintf("%q is not a scope", o.Scope), "use user or project")
	}
	return "", archive.Invalid("the folder of the client's settings is not known", "set HOME or CLAUDE_CONFIG_DIR to an absolute path")
}

// lockWait limits the wait for another init or uninstall.
const lockWait = 5 * time.Second

// Apply makes a new plan under a lock, carries it out and returns it. It differs from
// p if the settings changed since p was made. The error has CodeBusy if another
// Apply holds the lock for too long.
func (in *Installer) Apply(ctx context.Context, p Plan) (Plan, error) {
	lock, err := in.lock(ctx)
	if err != nil {
		return p, err
	}
	plan := in.Plan
	if p.Uninstall {
		plan = in.PlanUninstall
	}
	if p, err = plan(); err == nil {
		err = in.execute(p)
	}
	return p, errors.Join(err, lock.Release())
}

func (in *Installer) lock(ctx context.Context) (*state.Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock, err := state.WaitLock(ctx, filepath.Join(in.opts.Home, "install.lock"), false)
	switch {
	case errors.Is(err, state.ErrHeld):
		return nil, &archive.Error{Code: archive.CodeBusy, Msg: "another init or uninstall is running", Hint: "try again when it has ended", Err: err}
	case err != nil:
		return nil, denied("Strandline's folder cannot be written", err, writeHint(in.opts.Home))
	}
	return lock, nil
}

// writeHint is the hint for a folder that cannot be written.
func writeHint(dir string) string { return "check the permissions of " + dir + ", and the free space" }

// execute carries out a plan that was made under the lock. It writes the manifest
// before an init and clears it after an uninstall: the manifest may list missing
// entries, but every entry is listed.
func (in *Installer) execute(p Plan) error {
	m, err := readManifest(in.opts.Home)
	if err == nil && !p.Uninstall {
		err = in.updateManifest(m, p)
		if err == nil && in.opts.Plugin {
			err = in.opts.writePlugin()
		}
	}
	switch {
	case err != nil || !p.Changed():
	case p.After == nil:
		err = removeSettings(p)
	default:
		err = writeSettings(p, in.opts.beforeRename)
	}
	if err == nil && p.Uninstall {
		err = in.updateManifest(m, p)
	}
	if err != nil || m.pluginInUse() {
		return err
	}
	if err := os.RemoveAll(pluginDir(in.opts.Home)); err != nil { // with files that the client added
		return denied("the plugin cannot be removed", err, "delete "+pluginDir(in.opts.Home))
	}
	return nil
}

// updateManifest records the file of an init, or removes that of an uninstall.
func (in *Installer) updateManifest(m *manifest, p Plan) error {
	_, known := m.Files[p.Path]
	switch {
	case p.Uninstall && known:
		delete(m.Files, p.Path)
	case !p.Uninstall && (p.Changed() || !known):
		m.Files[p.Path] = p.record
	default:
		return nil
	}
	return m.save(in.opts.Home)
}

// denied returns an Error for a file system error.
func denied(msg string, err error, hint string) error {
	e := &archive.Error{Code: archive.CodeDenied, Msg: msg, Hint: hint, Err: err}
	if errors.Is(err, fs.ErrNotExist) {
		e.Code = archive.CodeNotFound
	}
	return e
}
