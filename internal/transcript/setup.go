package transcript

import (
	"path/filepath"
	"slices"
)

// Setup is what init writes into a client's own settings, so that the client calls
// Strandline. Uninstall takes it out again, byte for byte.
type Setup struct {
	// Folder returns the folder of the files. Nil: the parent of the first root.
	Folder func(getenv func(string) string, home string) string
	Files  []SetupFile // in the order of an init
	// Note is what the user has to do after an init, one sentence; "" for nothing.
	Note string
	// Off are settings with which the client runs no hooks.
	Off []Switch
}

// SetupFile is one file. It has hooks, an MCP server or both, unless it is whole.
type SetupFile struct {
	Path string // below the folder, with slashes: "settings.json"
	// Hooks are entries of the object "hooks", in the form of Claude Code's settings.
	Hooks        []Hook
	Milliseconds bool // the client counts timeouts in milliseconds
	// Servers is the key of the MCP servers: of an object in a JSON file, of tables in a
	// TOML file. Server is Strandline's entry: JSON, or the lines of the table.
	Servers, Server string
	// Whole is the content of a file that is Strandline's alone; Part describes it.
	Whole string
	Part  SetupPart
	// Trust reports that the client lists in this TOML file which hooks the user trusts.
	Trust bool
	// Main is set for the settings of Claude Code, with a statusline and plugins.
	Main bool
}

// SetupPart describes a file for the user.
type SetupPart struct{ Name, Detail string }

// Program is the place of Strandline's program in SetupFile.Server and SetupFile.Whole. It is
// replaced, with its quotes, by a quoted string.
const Program = `"@PROGRAM@"`

// Hook is a command that the client runs at an event.
type Hook struct {
	Event   string // as the client names it
	Matcher string
	Timeout int  // seconds
	Async   bool // the client does not wait
	Context int  // the client's limit of added text, in its unit; 0 for its default
}

// Switch is a setting of a client: the file below its folder, the key with dots, and the
// value that switches something off.
type Switch struct {
	File, Key string
	Off       bool
}

// SettingsFolder returns the folder of the client's settings, "" if it is not known.
func (c Client) SettingsFolder(getenv func(string) string, home string) string {
	if c.Setup.Folder != nil {
		return c.Setup.Folder(getenv, home)
	}
	if c.Roots == nil {
		return ""
	}
	if roots := c.Roots(getenv, home); len(roots) > 0 {
		return filepath.Dir(roots[0])
	}
	return ""
}

// Connectable lists the clients whose settings init can write, Claude Code first.
func Connectable(list []Client) []Client {
	list = slices.DeleteFunc(slices.Clone(list), func(c Client) bool { return len(c.Setup.Files) == 0 })
	slices.SortStableFunc(list, func(a, b Client) int {
		switch {
		case a.Setup.Files[0].Main:
			return -1
		case b.Setup.Files[0].Main:
			return 1
		}
		return 0
	})
	return list
}
