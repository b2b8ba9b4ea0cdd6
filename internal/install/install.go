// Package install wires Strandline into the client's settings and takes it out
// again, byte by byte: what other hands wrote there stays as it is.
package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"time"

	"strandline/internal/archive"
	"strandline/internal/state"
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
	ClientDir  string // the client's configuration folder
	ProjectDir string // the project's root, needed for ScopeProject only
	Home       string // Strandline's own folder; the manifest is kept there
	Exe        string // the strandline binary that the hooks call
	Scope      Scope  // empty: ScopeUser
	Plugin     bool   // install the compactor plugin as well
	// NoStatusline leaves the client's statusline as it is.
	NoStatusline bool
	GOOS         string           // whose shell the commands are written for; empty: this system's
	Now          func() time.Time // nil: the manifest says nothing about the time

	// beforeRename stands between the writing of a new settings file and its
	// taking the old one's place.
	beforeRename func() error
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
		o.Now = func() time.Time { return time.Time{} }
	}
	if o.beforeRename == nil {
		o.beforeRename = func() error { return nil }
	}
	return &Installer{opts: o}
}

// settingsPath returns the file that the scope names.
func (o Options) settingsPath() (string, error) {
	switch {
	case o.Scope == ScopeUser && filepath.IsAbs(o.ClientDir):
		return filepath.Join(o.ClientDir, "settings.json"), nil
	case o.Scope == ScopeProject && filepath.IsAbs(o.ProjectDir):
		return filepath.Join(o.ProjectDir, ".claude", "settings.json"), nil
	case o.Scope != ScopeUser && o.Scope != ScopeProject:
		return "", archive.Invalid(fmt.Sprintf("%q is no scope", o.Scope), "use user or project")
	}
	return "", archive.Invalid("the folder of the client's settings is not known", "set HOME or CLAUDE_CONFIG_DIR to an absolute path")
}

// lockWait is how long another init or uninstall may take.
const lockWait = 5 * time.Second

// Apply carries a plan out and returns it as it was carried out: if the settings
// have changed since the plan was made, it is made anew from what stands there
// now. Two of them never run at once; an Error with CodeBusy says that the other
// one took too long.
func (in *Installer) Apply(ctx context.Context, p Plan) (Plan, error) {
	lock, err := in.lock(ctx)
	if err != nil {
		return p, err
	}
	if p.Uninstall {
		p, err = in.planUninstall()
	} else {
		p, err = in.plan()
	}
	if err == nil {
		err = in.carryOut(p)
	}
	return p, errors.Join(err, lock.Release())
}

// Uninstall is PlanUninstall and Apply in one.
func (in *Installer) Uninstall(ctx context.Context) (Plan, error) {
	return in.Apply(ctx, Plan{Uninstall: true})
}

func (in *Installer) lock(ctx context.Context) (*state.Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for {
		lock, err := state.TryLock(filepath.Join(in.opts.Home, "install.lock"))
		switch {
		case err == nil:
			return lock, nil
		case !errors.Is(err, state.ErrHeld):
			return nil, denied("Strandline's folder cannot be written", err, "check the permissions of "+in.opts.Home+", and the free space")
		}
		select {
		case <-ctx.Done():
			return nil, &archive.Error{
				Code: archive.CodeBusy, Msg: "another init or uninstall is running",
				Hint: "try again when it has ended", Err: err,
			}
		case <-retry.C:
		}
	}
}

// carryOut writes a plan that was made under the lock. The manifest is written
// first and cleared last: it may name entries that are not there, which harms
// nobody, but never the other way round.
func (in *Installer) carryOut(p Plan) error {
	m, err := readManifest(in.opts.Home)
	if err != nil {
		return err
	}
	if !p.Uninstall {
		if err := in.keepRecords(m, p); err != nil {
			return err
		}
		if in.opts.Plugin {
			if err := writePlugin(in.opts.Home, in.opts.Exe); err != nil {
				return err
			}
		}
	}
	for _, f := range p.Files {
		if err := in.write(f); err != nil {
			return err
		}
	}
	if p.Uninstall {
		if err := in.keepRecords(m, p); err != nil {
			return err
		}
	}
	if m.pluginInUse() {
		return nil
	}
	return removePlugin(in.opts.Home)
}

// keepRecords brings the manifest to what the plan says.
func (in *Installer) keepRecords(m *manifest, p Plan) error {
	changed := false
	for _, f := range p.Files {
		_, known := m.Files[f.Path]
		switch {
		case p.Uninstall && known:
			delete(m.Files, f.Path)
			changed = true
		case !p.Uninstall && (f.Changed() || !known):
			m.Files[f.Path] = f.record
			changed = true
		}
	}
	if !changed {
		return nil
	}
	return m.save(in.opts.Home)
}

// write gives one settings file its new content.
func (in *Installer) write(f FileChange) error {
	if !f.Changed() {
		return nil
	}
	if f.After == nil {
		return removeSettings(f)
	}
	return writeSettings(f, in.opts.beforeRename)
}

// denied is an Error for a file system that refuses.
func denied(msg string, err error, hint string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &archive.Error{Code: archive.CodeNotFound, Msg: msg, Hint: hint, Err: err}
	}
	return &archive.Error{Code: archive.CodeDenied, Msg: msg, Hint: hint, Err: err}
}
