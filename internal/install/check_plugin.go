package install

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"strandline/internal/archive"
)

// minModules is the first version of the client with plugin modules. Resuming a session
// in an earlier one, seen with 2.1.278, undoes a module's compaction.
const minModules = "2.1.287"

// obstacle is one way in which the client does not use the compactor plugin. All were
// seen with version 2.1.330 of the client.
type obstacle struct {
	seen func(c *checker) string // what was found; "" for nothing
	cure string
	fix  bool // writing the plugin's files again removes it
}

func obstacles() []obstacle {
	const admin = "ask your administrator to allow Strandline's plugin"
	return []obstacle{
		{(*checker).missingPlugin, "run `strandline init`", true},
		{(*checker).oldClient, "update the client: `claude update`", false},
		{(*checker).otherMods, admin, false},
		{(*checker).closedMarkets, admin, false},
		{(*checker).noHooks, "remove it or set it to false", false},
		{func(c *checker) string { return c.mode("CLAUDE_CODE_SAFE_MODE", "safe mode") }, "unset CLAUDE_CODE_SAFE_MODE", false},
		{func(c *checker) string { return c.mode("CLAUDE_CODE_SIMPLE", "bare mode") }, "unset CLAUDE_CODE_SIMPLE", false},
		{(*checker).switchedOff, "the client asks its maker again at the next start with a network; until then it compacts itself", false},
		{(*checker).rivals, "switch one of them off: `claude plugin disable NAME`, or `strandline init --no-plugin`", false},
	}
}

// checkPlugin reports whether the client uses the compactor plugin.
func (c *checker) checkPlugin() {
	if !c.enabled(pluginName) {
		c.report(LevelInfo, "plugin", "the compactor plugin is not switched on: the client summarizes with its model, and the hooks improve the summary",
			"run `strandline init` without --no-plugin to switch it on")
		return
	}
	found := false
	for _, o := range obstacles() {
		what := o.seen(c)
		if what == "" {
			continue
		}
		found = true
		c.report(LevelWarn, "plugin", what, o.cure)
		if o.fix {
			c.fixLast(func() error { return c.installed().writePlugin() })
		}
	}
	for _, f := range c.files {
		var on bool
		if f.managed && f.get("disableSideloadFlags", &on) && on {
			c.report(LevelInfo, "plugin", "disableSideloadFlags in "+f.path+" refuses --plugin-dir; the plugin that init installs is loaded nevertheless", "")
		}
	}
	if !found {
		c.report(LevelOK, "plugin", "the compactor plugin is switched on; it uses an early access interface, seen working with client 2.1.329 and 2.1.330; if it fails, the client compacts itself", "")
	}
}

func (c *checker) missingPlugin() string {
	err := eachPluginFile(func(rel string, _ []byte) error {
		if name := filepath.ToSlash(rel); name == pluginMCP || name == pluginSkill {
			return nil // init --no-mcp, --no-skill
		}
		_, err := os.Stat(filepath.Join(pluginDir(c.opts.Home), rel))
		return err
	})
	if err == nil {
		return ""
	}
	return "the compactor plugin is switched on, but its files are missing: " + err.Error()
}

func (c *checker) oldClient() string {
	if v := c.opts.ClientVersion; v != "" && olderVersion(v, minModules) {
		return fmt.Sprintf("client %s has no plugin modules, which exist since %s", archive.Clip(v, 20), minModules)
	}
	return ""
}

// olderVersion compares the numbers of two versions. Unreadable ones are not older.
func olderVersion(a, b string) bool {
	numbers := func(v string) (list []int) {
		for part := range strings.SplitSeq(v, ".") {
			n, err := strconv.Atoi(part)
			if err != nil {
				return nil
			}
			list = append(list, n)
		}
		return list
	}
	x, y := numbers(a), numbers(b)
	return x != nil && y != nil && slices.Compare(x, y) < 0
}

// otherMods reports the administrator's option that admits the organization's modules
// only. It is an option of one of the client's own plugins.
func (c *checker) otherMods() string {
	for _, f := range c.files {
		var plugins map[string]struct {
			Options struct {
				Only bool `json:"allowManagedModsOnly"`
			} `json:"options"`
		}
		if !f.managed || !f.get("pluginConfigs", &plugins) {
			continue
		}
		for _, p := range plugins {
			if p.Options.Only {
				return "allowManagedModsOnly in " + f.path + " loads only your organization's plugin modules"
			}
		}
	}
	return ""
}

// closedMarkets reports lists of marketplaces that exclude the plugin's folder.
func (c *checker) closedMarkets() string {
	type source struct{ Source, Path string }
	mine := func(s source) bool { return s.Source == "directory" && s.Path == pluginDir(c.opts.Home) }
	for _, f := range c.files {
		var allowed, blocked []source
		switch {
		case !f.managed:
		case f.get("strictKnownMarketplaces", &allowed) && !slices.ContainsFunc(allowed, mine):
			return "strictKnownMarketplaces in " + f.path + " does not allow the plugin's folder"
		case f.get("blockedMarketplaces", &blocked) && slices.ContainsFunc(blocked, mine):
			return "blockedMarketplaces in " + f.path + " blocks the plugin's folder"
		}
	}
	return ""
}

func (c *checker) noHooks() string {
	var off bool
	if f, ok := c.effective("disableAllHooks", &off); ok && off {
		return "disableAllHooks in " + f.path + " keeps plugin modules from being loaded, too"
	}
	return ""
}

func (c *checker) mode(variable, name string) string {
	if where := c.variable(variable); where != "" {
		return variable + " is set in " + where + ": in " + name + " the client loads no plugin modules"
	}
	return ""
}

// modulesSwitch is the switch by which the client's maker turns plugin modules off. The
// client saves it in its state file, and ignores it where its telemetry is off.
const modulesSwitch = "tengu_plugin_hooks_modules"

func (c *checker) switchedOff() string {
	for _, name := range []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DO_NOT_TRACK", "DISABLE_GROWTHBOOK"} {
		if c.variable(name) != "" {
			return ""
		}
	}
	for _, path := range []string{filepath.Join(c.opts.ClientDir, ".claude.json"), c.opts.ClientDir + ".json"} {
		data, err := readSettings(path)
		if err != nil {
			continue // the client reports it
		}
		var s struct {
			Features map[string]json.RawMessage `json:"cachedGrowthBookFeatures"`
		}
		if json.Unmarshal(data, &s) == nil && string(s.Features[modulesSwitch]) == "false" {
			return "the client's maker switched plugin modules off (" + modulesSwitch + " in " + path + ")"
		}
	}
	return ""
}

// maxModule limits how much of a plugin's module is read, in bytes.
const maxModule = 1 << 20

// addRival notes a plugin whose modules answer compactions, too.
func (c *checker) addRival(id, root string, values map[string]json.RawMessage) {
	var modules []string
	if id == pluginName || json.Unmarshal(values["modules"], &modules) != nil {
		return
	}
	for _, m := range modules {
		data, err := os.ReadFile(filepath.Join(root, "hooks", filepath.FromSlash(m)))
		if err == nil && strings.Contains(string(data[:min(len(data), maxModule)]), "session.compact") {
			c.answering = append(c.answering, id)
			return
		}
	}
}

func (c *checker) rivals() string {
	if len(c.answering) == 0 {
		return ""
	}
	return "another plugin answers compactions as well, and the client takes the answer of the one that it loads first: " + strings.Join(c.answering, ", ")
}
