package install

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// checkOther reports whether a client other than Claude Code, if it has a folder, calls
// Strandline.
func (c *checker) checkOther(ctx context.Context, o Options) {
	name, title := o.Client.Name, o.Client.Title
	if _, err := os.Stat(o.ClientDir); err != nil || o.ClientDir == "" {
		return
	}
	again := "`strandline init --client " + name + "`"
	o.File = o.Client.Setup.Files[0]
	if !Connected(o) {
		c.report(LevelInfo, name, title+" is installed here and not connected to Strandline", again+" connects it")
		return
	}
	c.others = true
	missing, programs := o.missing()
	switch n, all := o.trusted(); {
	case len(missing) > 0:
		c.report(LevelFail, name, title+" does not call Strandline at "+strings.Join(missing, ", "), "run "+again)
	case o.switchedOff() != "":
		c.report(LevelFail, name, "hooks are switched off in "+title+"'s settings ("+o.switchedOff()+")", "remove the setting")
	case n < all:
		c.report(LevelWarn, name, fmt.Sprintf("%s does not trust %d of Strandline's %d hooks and does not run them", title, all-n, all), o.Client.Setup.Note)
	default:
		c.report(LevelOK, name, title+" calls Strandline", "")
	}
	for _, path := range programs {
		if level, state := c.checkBinary(ctx, path); level == LevelFail || level == LevelWarn {
			c.report(level, name, title+"'s settings call "+state, "run "+again+" with the right binary")
		}
	}
	for _, f := range o.Client.Setup.Files {
		if f.Servers != "" && member(o.values(f.Path), f.Servers, program) == nil {
			c.report(LevelInfo, name, title+" has no MCP server of Strandline: its model cannot search", again+" adds it")
		}
	}
}

// missing returns the events at which the client does not call Strandline, and the files of
// Strandline's that are missing or differ; and the programs that hooks call.
func (o Options) missing() (missing, programs []string) {
	found := map[string]bool{}
	for _, o.File = range o.Client.Setup.Files {
		path, err := o.settingsPath()
		if err != nil {
			continue
		}
		data, err := readSettings(path)
		if whole, _ := o.fill([]byte(o.File.Whole)); len(whole) > 0 && string(whole) != string(data) {
			missing = append(missing, path)
		}
		doc, failed := parseDoc(data)
		for _, h := range o.hooksOf(o.File) {
			calls := 0
			if err == nil && failed == nil {
				for _, x := range h.find(doc) {
					found[x.call.path] = true
					calls++
				}
			}
			if calls == 0 {
				missing = append(missing, h.Event)
			}
		}
	}
	return missing, slices.Sorted(maps.Keys(found))
}

// switchedOff returns the setting with which the client runs no hooks, "" for none.
func (o Options) switchedOff() string {
	for _, s := range o.Client.Setup.Off {
		keys := strings.Split(s.Key, ".")
		last := len(keys) - 1
		if v, ok := member(o.values(s.File), keys[:last]...)[keys[last]].(bool); ok && v == s.Off {
			return s.Key
		}
	}
	return ""
}
