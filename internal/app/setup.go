package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/config"
	"strandline/internal/install"
)

// WiringOptions select which of the client's settings Install and Uninstall change.
type WiringOptions struct {
	Scope      string // "user" or "project"
	DryRun     bool
	Plugin     bool // install the compactor plugin
	MCP, Skill bool // as parts of the plugin
	Statusline bool
}

// Wiring lists the changes, or planned changes, of the client's settings.
type Wiring struct {
	Files    []WiredFile // changed files
	Parts    []WiredPart
	Diff     string // of a dry run
	Warnings []string
	Home     string // the archive's folder
	// Found is what the client's files hold and the archive does not.
	Found capture.Missing
}

// WiredPart is one thing that Install connects to the client.
type WiredPart = install.Part

// WiredFile counts the changed entries of a settings file.
type WiredFile struct {
	Path                    string
	Added, Updated, Removed int
}

// Install adds Strandline to the client's settings. For a project, it also removes the
// entries that earlier versions wrote into the file that the project's users share.
func (a *App) Install(ctx context.Context, o WiringOptions) (out Wiring, err error) {
	steps := []step{{install.Scope(o.Scope), (*install.Installer).Plan}}
	if o.Scope == string(install.ScopeProject) {
		steps = append(steps, step{install.ScopeShared, (*install.Installer).PlanUninstall})
	}
	if out, err = a.wire(ctx, o, steps); err != nil {
		return out, err
	}
	w, err := a.Workspace()
	if err != nil {
		return out, err
	}
	jobs, err := w.clientFiles(ctx)
	if err == nil {
		out.Found, err = w.Capture.Uncaptured(jobs)
	}
	return out, err
}

// Uninstall removes Strandline from the client's settings.
func (a *App) Uninstall(ctx context.Context, o WiringOptions) (Wiring, error) {
	steps := []step{{install.Scope(o.Scope), (*install.Installer).PlanUninstall}}
	if o.Scope == string(install.ScopeProject) {
		steps = append(steps, step{install.ScopeShared, (*install.Installer).PlanUninstall})
	}
	return a.wire(ctx, o, steps)
}

// WiringScopes are the values of WiringOptions.Scope.
func WiringScopes() []string {
	return []string{string(install.ScopeUser), string(install.ScopeProject)}
}

// step changes the settings file of one scope.
type step struct {
	scope install.Scope
	plan  func(*install.Installer) (install.Plan, error)
}

func (a *App) wire(ctx context.Context, o WiringOptions, steps []step) (out Wiring, err error) {
	cfg, err := a.Settings()
	if err != nil {
		return out, err
	}
	if !slices.Contains(WiringScopes(), o.Scope) {
		return out, archive.Invalid(fmt.Sprintf("%q is not a scope", o.Scope), "--scope takes user or project")
	}
	out.Home = cfg.Paths.Home
	for _, s := range steps {
		in := install.New(install.Options{
			ClientDir: cfg.ClientDir, ProjectDir: a.ProjectDir(), Home: cfg.Paths.Home, Exe: a.Exe, Now: a.Now,
			Scope: s.scope, Plugin: o.Plugin, NoMCP: !o.MCP, NoSkill: !o.Skill, NoStatusline: !o.Statusline,
		})
		p, err := s.plan(in)
		look := o.DryRun || p.Uninstall && !p.Changed() && (s.scope == install.ScopeShared || !exists(cfg.Paths.Home))
		if err == nil && !look {
			p, err = in.Apply(ctx, p)
		}
		if err != nil {
			return out, err
		}
		out.add(p, o.DryRun)
	}
	return out, nil
}

// add adds the changes of one file.
func (out *Wiring) add(p install.Plan, dryRun bool) {
	out.Parts = append(out.Parts, p.Parts...)
	out.Warnings = append(out.Warnings, p.Warnings...)
	if !p.Changed() {
		return
	}
	if dryRun {
		out.Diff += p.Diff()
	}
	n := map[install.Action]int{}
	for _, e := range p.Entries {
		n[e.Action]++
	}
	out.Files = append(out.Files, WiredFile{p.Path, n[install.ActionAdd], n[install.ActionUpdate], n[install.ActionRemove]})
}

// SetSetting writes a setting into the user's settings file, or into the project's; with
// a nil value it removes it there. It returns the file, "" if nothing was written, and the setting in force if another
// source overrides it. It works with rejected settings, which it may correct.
func (a *App) SetSetting(key string, value *string, inProject bool) (file string, override *config.Entry, err error) {
	cfg, _ := a.LoadSettings()
	file = cfg.ConfigFile
	if inProject {
		file = filepath.Join(a.ProjectDir(), config.ProjectFile)
	}
	if value == nil {
		err = config.Unset(file, key)
	} else {
		err = config.Set(file, key, *value)
	}
	if err != nil {
		return "", nil, err
	}
	after, err := a.LoadSettings()
	for _, e := range after.Entries() {
		if e.Key == key && (e.Source != file || value == nil) {
			override = &e
		}
	}
	return file, override, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
