package config

import (
	"path/filepath"
	"strings"
)

// Paths are the files and folders that the environment and the user's home folder
// determine. No settings file changes them.
type Paths struct {
	Home        string // the archive: $STRANDLINE_HOME, else in the user's data folder
	ConfigDir   string // the user's settings and the redaction key
	ClientDir   string // the client's folder: $CLAUDE_CONFIG_DIR, else ~/.claude
	ConfigFile  string // the user's settings file
	ProjectFile string // the project's settings file, "" without a project
}

// findPaths resolves the paths. Relative paths in the environment, and those that
// begin with ~/, are relative to the user's home folder. Relative XDG folders are
// ignored, as their standard requires.
func findPaths(in Inputs) Paths {
	join := func(dir string, rest ...string) string {
		if dir == "" {
			return ""
		}
		return filepath.Join(append([]string{dir}, rest...)...)
	}
	xdg := func(name string, fallback ...string) string {
		if dir := in.Env(name); filepath.IsAbs(dir) {
			return dir
		}
		return join(in.Home, fallback...)
	}
	own := func(name, fallback string) string {
		switch dir := in.Env(name); {
		case dir == "":
			return fallback
		case filepath.IsAbs(dir):
			return filepath.Clean(dir)
		default:
			return join(in.Home, strings.TrimPrefix(dir, "~"))
		}
	}
	data, config := xdg("XDG_DATA_HOME", ".local", "share"), xdg("XDG_CONFIG_HOME", ".config")
	if in.OS == "windows" {
		data, config = xdg("LocalAppData", "AppData", "Local"), xdg("AppData", "AppData", "Roaming")
	}
	p := Paths{
		Home:        own("STRANDLINE_HOME", join(data, "strandline")),
		ConfigDir:   join(config, "strandline"),
		ClientDir:   own("CLAUDE_CONFIG_DIR", join(in.Home, ".claude")),
		ProjectFile: join(in.Cwd, ProjectFile),
	}
	p.ConfigFile = join(p.ConfigDir, "config.toml")
	return p
}

// ClientSettings lists the client's settings files, the one that takes precedence first.
func (p Paths) ClientSettings() []string {
	var files []string
	if p.ProjectFile != "" {
		dir := filepath.Join(filepath.Dir(p.ProjectFile), ".claude")
		files = append(files, filepath.Join(dir, "settings.local.json"), filepath.Join(dir, "settings.json"))
	}
	return append(files, filepath.Join(p.ClientDir, "settings.json"))
}

func (p Paths) in(parts ...string) string {
	return filepath.Join(append([]string{p.Home}, parts...)...)
}

// Index is the index database.
func (p Paths) Index() string { return p.in("index.db") }

// Journal is the folder of the journal.
func (p Paths) Journal() string { return p.in("journal") }

// Vectors is the folder of the vector files.
func (p Paths) Vectors() string { return p.in("vectors") }

// Models is the folder of added embedding models.
func (p Paths) Models() string { return p.in("models") }

// Learned is the file of the weights learned from compactions.
func (p Paths) Learned() string { return p.in("learned.json") }

// Errors is the error log.
func (p Paths) Errors() string { return p.in("strandline.log") }

// State is the folder of small derived files.
func (p Paths) State() string { return p.in("state") }

// Pending is the folder of sessions that a hook could not finish.
func (p Paths) Pending() string { return p.in("state", "pending") }

// OwnCompactions is the folder of sessions that Strandline just compacted.
func (p Paths) OwnCompactions() string { return p.in("state", "compacted") }

// PendingCompactions is the folder of sessions that the client is compacting.
func (p Paths) PendingCompactions() string { return p.in("state", "compacting") }

// LateCompactions is the folder of sessions whose context is to be restored.
func (p Paths) LateCompactions() string { return p.in("state", "late") }

// Blocked is the folder of blocked compactions.
func (p Paths) Blocked() string { return p.in("state", "blocked") }

// Pace is the folder of the sessions' automatic compactions.
func (p Paths) Pace() string { return p.in("state", "pace") }

// Outcomes is the folder of measured compactions.
func (p Paths) Outcomes() string { return p.in("state", "outcomes") }

// CheckStates is the folder of the hooks' state of segments.
func (p Paths) CheckStates() string { return p.in("state", "segments") }

// HookCalls is the folder of the sessions whose hooks were called.
func (p Paths) HookCalls() string { return p.in("state", "hooked") }

// GuardZones is the folder of the zones in which the guard took a snapshot.
func (p Paths) GuardZones() string { return p.in("state", "guard") }

// Gateway is the folder of the gateways' totals.
func (p Paths) Gateway() string { return p.in("state", "gateway") }

// GuardLog is the log of the guard's alerts.
func (p Paths) GuardLog() string { return p.in("guard.log") }

// Maintained is the file whose time is that of the last maintenance run.
func (p Paths) Maintained() string { return p.in("state", "maintained") }

// ServeToken is the token file of the HTTP server that was started last.
func (p Paths) ServeToken() string { return p.in("state", "serve.token") }
