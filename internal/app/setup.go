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
	"strandline/internal/client"
	"strandline/internal/config"
	"strandline/internal/install"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// WiringOptions select which of the client's settings Install and Uninstall change.
type WiringOptions struct {
	Clients    []string // names of ConnectableClients; empty for Claude Code
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

// DefaultClient is the client that init connects if it finds none.
const DefaultClient = claude.Name

// ConnectableClients lists the clients that init knows, Claude Code first.
func ConnectableClients() []transcript.Client { return transcript.Connectable(client.All()) }

// FoundClient is a client on this machine.
type FoundClient struct {
	Name, Title string
	Connected   bool // to Strandline
}

// FoundClients lists the clients that are installed, with a folder or a program, and those
// that are connected to Strandline.
func (a *App) FoundClients() (found []FoundClient) {
	cfg, _ := a.Settings() // rejected settings have paths, too
	for _, c := range ConnectableClients() {
		o := install.Options{Client: c, File: c.Setup.Files[0], ClientDir: a.settingsFolder(c), Home: cfg.Paths.Home}
		f := FoundClient{c.Name, c.Title, install.Connected(o)}
		if f.Connected || exists(o.ClientDir) || a.inPath(c) {
			found = append(found, f)
		}
	}
	return found
}

// inPath reports whether the client's program is in PATH.
func (a *App) inPath(c transcript.Client) bool {
	if len(c.Resume) == 0 || a.System == nil {
		return false
	}
	_, err := a.System.LookPath(c.Resume[0])
	return err == nil
}

// settingsFolder returns the folder of a client's settings.
func (a *App) settingsFolder(c transcript.Client) string {
	if cfg, _ := a.Settings(); c.Name == DefaultClient {
		return cfg.ClientDir
	}
	return c.SettingsFolder(a.Getenv, a.Home)
}

// WiringScopes are the values of WiringOptions.Scope.
func WiringScopes() []string {
	return []string{string(install.ScopeUser), string(install.ScopeProject)}
}

// step changes one file of a client.
type step struct {
	install.Options
	remove bool
}

// steps lists the files of the clients.
func (a *App) steps(o WiringOptions, uninstall bool) (list []step, err error) {
	all := ConnectableClients()
	for _, name := range o.Clients {
		at := slices.IndexFunc(all, func(c transcript.Client) bool { return c.Name == name })
		if at < 0 {
			return nil, archive.Invalid(fmt.Sprintf("%q is not a client that Strandline can be connected to", archive.Clip(name, 40)), "--client takes "+strings.Join(ClientNames(all), ", "))
		}
		c := all[at]
		files := slices.Clone(c.Setup.Files)
		if uninstall {
			slices.Reverse(files)
		}
		for _, f := range files {
			s := step{install.Options{Client: c, File: f, ClientDir: a.settingsFolder(c), Scope: install.Scope(o.Scope), Plugin: o.Plugin && f.Main}, uninstall}
			list = append(list, s)
			switch {
			case o.Scope == string(install.ScopeUser):
			case !f.Main:
				return nil, archive.Invalid(c.Title+" is connected for the user, not for a project", "leave --scope out")
			case o.Scope == string(install.ScopeProject):
				s.Scope, s.remove = install.ScopeShared, true
				list = append(list, s)
			}
		}
	}
	return list, nil
}

// ClientNames returns the names of clients.
func ClientNames(list []transcript.Client) (names []string) {
	for _, c := range list {
		names = append(names, c.Name)
	}
	return names
}

func (a *App) wire(ctx context.Context, o WiringOptions, uninstall bool) (out Wiring, err error) {
	if len(o.Clients) == 0 {
		o.Clients = []string{DefaultClient}
	}
	cfg, err := a.Settings()
	if err != nil {
		return out, err
	}
	if !slices.Contains(WiringScopes(), o.Scope) {
		return out, archive.Invalid(fmt.Sprintf("%q is not a scope", o.Scope), "--scope takes user or project")
	}
	out.Home = cfg.Paths.Home
	steps, err := a.steps(o, uninstall)
	if err != nil {
		return out, err
	}
	for _, s := range steps {
		s.ProjectDir, s.Home, s.Exe, s.Now = a.ProjectDir(), cfg.Paths.Home, a.Exe, a.Now
		s.NoMCP, s.NoSkill, s.NoStatusline = !o.MCP, !o.Skill, !o.Statusline
		in := install.New(s.Options)
		plan := in.Plan
		if s.remove {
			plan = in.PlanUninstall
		}
		p, err := plan()
		look := o.DryRun || s.remove && !p.Changed() && (s.Scope == install.ScopeShared || !exists(cfg.Paths.Home))
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
