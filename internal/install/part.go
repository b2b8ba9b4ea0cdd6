package install

import (
	"cmp"
	"fmt"
	"strings"

	"strandline/internal/archive"
)

// Part is one thing that an init connects to the client, for the user.
type Part struct {
	Name   string
	Action Action // ActionOff for a part that is left out
	Detail string // what it does
	Switch string // the option or command that turns it off
}

// ActionOff is the action of a part that the options or the user's settings leave out.
const ActionOff Action = "off"

// State returns the action as a participle, such as "added".
func (p Part) State() string {
	return map[Action]string{ActionAdd: "added", ActionUpdate: "updated", ActionRemove: "removed", ActionKeep: "unchanged", ActionOff: "off"}[p.Action]
}

// parts describes a planned init. doc is the JSON document after it.
func (in *Installer) parts(p Plan, doc *settingsDoc) []Part {
	o, f := in.opts, in.opts.File
	actions := map[string]Action{}
	for _, e := range p.Entries {
		kind, _, _ := strings.Cut(e.ID, "/")
		actions[kind] = cmp.Or(changed(actions[kind]), changed(e.Action), ActionKeep)
	}
	list := []Part{}
	if len(f.Hooks) > 0 {
		detail := fmt.Sprintf("record at %d events, restore context after compactions", len(f.Hooks))
		list = append(list, Part{"hooks", cmp.Or(actions["hook"], ActionKeep), detail, "strandline uninstall"})
	}
	if !f.Main {
		return o.ownParts(list, actions)
	}
	if o.Scope != ScopeUser {
		list[0].Switch += " --scope project"
	} else {
		list = append(list, o.statuslinePart(actions["statusline"], doc))
	}
	plugin := Part{"plugin", actions["plugin"], "replaces /compact and automatic compactions, without a model", "--no-plugin"}
	switch {
	case !o.Plugin:
		plugin.Action = ActionOff
	case string(doc.raw("enabledPlugins", pluginName)) == "false":
		plugin.Action, plugin.Detail = ActionOff, "switched off in your settings (enabledPlugins)"
	}
	mcp := Part{"MCP server", plugin.Action, "gives the model search and recall", "--no-mcp"}
	skill := Part{"skill", plugin.Action, "shows the model how to search and to summarize work", "--no-skill"}
	for part, off := range map[*Part]bool{&mcp: o.NoMCP, &skill: o.NoSkill} {
		if off {
			part.Action = ActionOff
		}
	}
	return append(list, plugin, mcp, skill)
}

// ownParts completes the parts of another client than Claude Code.
func (o Options) ownParts(list []Part, actions map[string]Action) []Part {
	f := o.File
	if f.Whole != "" {
		list = append(list, Part{f.Part.Name, actions["file"], f.Part.Detail, "strandline uninstall"})
	}
	for i := range list {
		list[i].Switch += " --client " + o.Client.Name
	}
	if f.Servers != "" {
		mcp := Part{"MCP server", actions["mcp"], "gives the model search and recall", "--no-mcp"}
		if o.NoMCP {
			mcp.Action = ActionOff
		}
		list = append(list, mcp)
	}
	for i := range list {
		list[i].Name = o.Client.Title + " " + list[i].Name
	}
	return list
}

// changed returns an action that changes the file, else "".
func changed(a Action) Action {
	if a == ActionKeep {
		return ""
	}
	return a
}

func (o Options) statuslinePart(action Action, doc *settingsDoc) Part {
	part := Part{"statusline", action, "shows the use of the context window", "--no-statusline"}
	command, own, found := statuslineEntry{exe: o.Exe, goos: o.GOOS}.find(doc)
	switch {
	case own != nil && own.with != "":
		part.Detail = "shows the use of the context window and runs your " + archive.Clip(own.with, 40)
	case own == nil && found:
		part.Action, part.Detail = ActionOff, "yours is kept: "+archive.Clip(command, 40)
	case own == nil && doc.get(statuslineKey) != nil:
		part.Action, part.Detail = ActionOff, "yours is kept: it is not a command"
	case own == nil:
		part.Action = ActionOff
	}
	return part
}
