package config

import (
	"path/filepath"
	"strings"
)

// Paths are the places on disk. Only the environment and the user's home folder
// decide them, never a file.
type Paths struct {
	Home        string // the archive: $STRANDLINE_HOME, else the user's data folder
	ConfigDir   string // the user's settings and the redaction key
	ClientDir   string // the client's own folder: $CLAUDE_CONFIG_DIR, else ~/.claude
	ConfigFile  string // the user's settings file
	ProjectFile string // the project's, "" without a project
}

// findPaths resolves the paths. Relative ones in the environment, and those that
// begin with ~/, count from the user's home folder, so that they do not move
// with the working directory; relative XDG folders are ignored, as their
// standard asks.
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
		dir := in.Env(name)
		if dir == "" {
			return fallback
		}
		if filepath.IsAbs(dir) {
			return filepath.Clean(dir)
		}
		return join(in.Home, strings.TrimPrefix(dir, "~"))
	}
	var data, config string
	if in.OS == "windows" {
		data = xdg("LocalAppData", "AppData", "Local")
		config = xdg("AppData", "AppData", "Roaming")
	} else {
		data = xdg("XDG_DATA_HOME", ".local", "share")
		config = xdg("XDG_CONFIG_HOME", ".config")
	}
	p := Paths{
		Home:        own("STRANDLINE_HOME", join(data, "strandline")),
		ConfigDir:   join(config, "strandline"),
		ClientDir:   own("CLAUDE_CONFIG_DIR", join(in.Home, ".claude")),
		ProjectFile: projectFile(in.Cwd),
	}
	p.ConfigFile = join(p.ConfigDir, "config.toml")
	return p
}
