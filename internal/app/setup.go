package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"strandline/internal/archive"
	"strandline/internal/config"
	"strandline/internal/install"
)

// WiringOptions select which of the client's settings Install and Uninstall change.
type WiringOptions struct {
	Scope      string // "user" or "project"
	DryRun     bool
	Plugin     bool // install the compactor plugin
	Statusline bool
}

// Wiring lists the changes, or planned changes, of the client's settings.
type Wiring struct {
	Files    []WiredFile // changed files
	Diff     string      // of a dry run
	Warnings []string
	Home     string // the archive's folder
}

// WiredFile counts the changed entries of a settings file.
type WiredFile struct {
	Path                    string
	Added, Updated, Removed int
}

// Install adds Strandline to the client's settings.
func (a *App) Install(ctx context.Context, o WiringOptions) (Wiring, error) {
	return a.wire(ctx, o, (*install.Installer).Plan)
}

// Uninstall removes Strandline from the client's settings.
func (a *App) Uninstall(ctx context.Context, o WiringOptions) (Wiring, error) {
	return a.wire(ctx, o, (*install.Installer).PlanUninstall)
}

// WiringScopes are the values of WiringOptions.Scope.
func WiringScopes() []string {
	return []string{string(install.ScopeUser), string(install.ScopeProject)}
}

func (a *App) wire(ctx context.Context, o WiringOptions, plan func(*install.Installer) (install.Plan, error)) (out Wiring, err error) {
	cfg, err := a.Settings()
	if err != nil {
		return out, err
	}
	if o.Scope != string(install.ScopeUser) && o.Scope != string(install.ScopeProject) {
		return out, archive.Invalid(fmt.Sprintf("%q is not a scope", o.Scope), "--scope takes user or project")
	}
	in := install.New(install.Options{
		ClientDir: cfg.ClientDir, ProjectDir: a.ProjectDir(), Home: cfg.Paths.Home, Exe: a.Exe,
		Scope: install.Scope(o.Scope), Plugin: o.Plugin, NoStatusline: !o.Statusline, Now: a.Now,
	})
	p, err := plan(in)
	if err == nil && !o.DryRun {
		p, err = in.Apply(ctx, p)
	}
	if err != nil {
		return out, err
	}
	out = Wiring{Warnings: p.Warnings, Home: cfg.Paths.Home}
	if !p.Changed() {
		return out, nil
	}
	if o.DryRun {
		out.Diff = p.Diff()
	}
	n := map[install.Action]int{}
	for _, e := range p.Entries {
		n[e.Action]++
	}
	out.Files = []WiredFile{{p.Path, n[install.ActionAdd], n[install.ActionUpdate], n[install.ActionRemove]}}
	return out, nil
}

// SetSetting writes a setting into the user's settings file, or into the project's.
// It returns the file, "" if nothing was written, and the setting in force if another
// source overrides it. It works with rejected settings, which it may correct.
func (a *App) SetSetting(key, value string, inProject bool) (file string, override *config.Entry, err error) {
	cfg, _ := a.LoadSettings()
	file = cfg.ConfigFile
	if inProject {
		file = filepath.Join(a.ProjectDir(), config.ProjectFile)
	}
	if err := config.Set(file, key, value); err != nil {
		return "", nil, err
	}
	after, err := a.LoadSettings()
	for _, e := range after.Entries() {
		if e.Key == key && e.Source != file {
			override = &e
		}
	}
	return file, override, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
