package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/config"
	"strandline/internal/install"
)

// WiringOptions select which of the client's settings Install and Uninstall change.
type WiringOptions struct {
	Clients    []string // of WiredClients; empty for Claude Code
	Scope      string   // "user" or "project"
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
	// Found counts the sessions in the client's files that the archive lacks.
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
	if out, err = a.wire(ctx, o, false); err != nil {
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
	return a.wire(ctx, o, true)
}

// The clients that Strandline can be connected to.
const (
	clientClaude = "claude"
	clientCodex  = "codex"
)

// WiredClients are the values of WiringOptions.Clients.
func WiredClients() []string { return []string{clientClaude, clientCodex} }

// FoundClients lists the clients that have a folder on this machine, and those that are
// connected to Strandline.
func (a *App) FoundClients() (found, connected []string) {
	cfg, _ := a.Settings() // rejected settings have paths, too
	for _, c := range WiredClients() {
		dir, scope := clientDir(cfg, c)
		if exists(dir) {
			found = append(found, c)
		}
		if install.Connected(cfg.Paths.Home, dir, scope) {
			connected = append(connected, c)
		}
	}
	return found, connected
}

// clientDir returns a client's folder and the scope of its hooks there.
func clientDir(cfg *config.Config, client string) (string, install.Scope) {
	if client == clientCodex {
		return cfg.CodexDir, install.ScopeCodexHooks
	}
	return cfg.ClientDir, install.ScopeUser
}

// WiringScopes are the values of WiringOptions.Scope.
func WiringScopes() []string {
	return []string{string(install.ScopeUser), string(install.ScopeProject)}
}

// step changes the settings file of one scope.
type step struct {
	dir    string // the client's folder
	scope  install.Scope
	remove bool
}

// steps lists the settings files of the clients.
func (o WiringOptions) steps(cfg *config.Config, uninstall bool) (list []step, err error) {
	for _, c := range o.Clients {
		dir, _ := clientDir(cfg, c)
		switch {
		case c == clientClaude:
			list = append(list, step{dir, install.Scope(o.Scope), uninstall})
			if o.Scope == string(install.ScopeProject) {
				list = append(list, step{dir, install.ScopeShared, true})
			}
		case c != clientCodex:
			return nil, archive.Invalid(fmt.Sprintf("%q is not a client that Strandline can be connected to", archive.Clip(c, 40)), "--client takes "+strings.Join(WiredClients(), ", "))
		case o.Scope != string(install.ScopeUser):
			return nil, archive.Invalid("Codex is connected for the user, not for a project", "leave --scope out")
		default:
			for _, scope := range install.CodexScopes(uninstall) {
				list = append(list, step{dir, scope, uninstall})
			}
		}
	}
	return list, nil
}

func (a *App) wire(ctx context.Context, o WiringOptions, uninstall bool) (out Wiring, err error) {
	if len(o.Clients) == 0 {
		o.Clients = []string{clientClaude}
	}
	cfg, err := a.Settings()
	if err != nil {
		return out, err
	}
	if !slices.Contains(WiringScopes(), o.Scope) {
		return out, archive.Invalid(fmt.Sprintf("%q is not a scope", o.Scope), "--scope takes user or project")
	}
	out.Home = cfg.Paths.Home
	steps, err := o.steps(cfg, uninstall)
	if err != nil {
		return out, err
	}
	for _, s := range steps {
		in := install.New(install.Options{
			ClientDir: s.dir, ProjectDir: a.ProjectDir(), Home: cfg.Paths.Home, Exe: a.Exe, Now: a.Now,
			Scope: s.scope, Plugin: o.Plugin && s.dir == cfg.ClientDir, NoMCP: !o.MCP, NoSkill: !o.Skill, NoStatusline: !o.Statusline,
		})
		plan := in.Plan
		if s.remove {
			plan = in.PlanUninstall
		}
		p, err := plan()
		look := o.DryRun || s.remove && !p.Changed() && (s.scope == install.ScopeShared || !exists(cfg.Paths.Home))
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

// SetSetting writes a setting into the user's settings file, or into the project's; with a
// nil value it removes it there. It returns the file, "" if nothing was written, and the
// setting in force if another source overrides it. It works with rejected settings, which it
// may correct.
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
