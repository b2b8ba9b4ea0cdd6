package install

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"strandline/internal/state"
	"strandline/internal/transcript"
)

// The plugin has a module that answers the client's session.compact with
// `strandline compact`, and the MCP server. The hooks are in the settings, where all
// versions of the client call them; hooks in both places would run twice.
//
//go:embed all:plugin
var pluginFiles embed.FS

// Names of the plugin and its marketplace in the settings.
const (
	pluginName   = "strandline@strandline-local"
	pluginMarket = "strandline-local"
)

// pluginDir returns the folder of the plugin's files.
func pluginDir(home string) string { return filepath.Join(home, "plugin") }

// memberEntry is a member of an object in the settings.
type memberEntry struct {
	name      string // of the entry
	container string // the object's name
	key       string
	want      any
	text      string
	// own reports whether a value is Strandline's; nil: every value is. moved returns it
	// with the path of this binary.
	own   func(have []byte) bool
	moved func(have []byte) []byte
}

// pluginEntries returns the settings that make the client load the plugin. They are
// sufficient for version 2.1.329, without the client's install command.
func pluginEntries(home string) []memberEntry {
	type source struct {
		Source string `json:"source"`
		Path   string `json:"path"`
	}
	dir := pluginDir(home)
	return []memberEntry{
		{name: "plugin/marketplace", container: "extraKnownMarketplaces", key: pluginMarket, want: map[string]source{"source": {"directory", dir}}, text: dir},
		{name: "plugin/enabled", container: "enabledPlugins", key: pluginName, want: true, text: pluginName},
	}
}

// put writes the value, unless the user changed it, for example switched the plugin
// off.
func (m memberEntry) put(d *settingsDoc, written json.RawMessage) (Action, error) {
	if err := cmp.Or(d.checkKind(m.container, kindObject), d.checkKind(m.container, kindObject, m.container)); err != nil {
		return "", err
	}
	raw, err := json.Marshal(m.want)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", m.name, err)
	}
	have := d.raw(m.container, m.key)
	switch {
	case have == nil && d.get(m.container) == nil:
		return ActionAdd, d.set(map[string]any{m.key: m.want}, m.container)
	case have == nil:
		return ActionAdd, d.set(m.want, m.key, m.container)
	case m.own != nil && !m.own(have):
		return ActionKeep, nil
	case m.moved != nil && !sameJSONText(have, written):
		if next := m.moved(have); !bytes.Equal(have, next) {
			return ActionUpdate, d.setItem(json.RawMessage(next), m.container, m.key)
		}
		return ActionKeep, nil
	case sameJSONText(have, raw), written != nil && !sameJSONText(have, written), written == nil && string(have) == "false":
		return ActionKeep, nil
	}
	return ActionUpdate, d.setItem(m.want, m.container, m.key)
}

// drop removes the value, unless base has the same.
func (m memberEntry) drop(d, base *settingsDoc) (Action, error) {
	have := d.raw(m.container, m.key)
	switch {
	case have == nil, base == nil && string(have) == "false", m.own != nil && !m.own(have): // Strandline never writes false
		return ActionKeep, nil
	case base != nil && base.get(m.container, m.key) != nil && sameJSONText(have, base.raw(m.container, m.key)):
		return ActionKeep, nil
	}
	err := d.delete(m.container, m.key)
	if left := d.get(m.container); left != nil && len(left.items) == 0 && (base == nil || base.get(m.container) == nil) {
		err = errors.Join(err, d.delete(m.container))
	}
	return ActionRemove, err
}

// The plugin's parts that can be left out.
const (
	pluginMCP   = "strandline/.mcp.json"
	pluginSkill = "strandline/skills/strandline/SKILL.md"
)

// writePlugin writes the plugin's files, unless they are up to date, and removes those
// that the options leave out.
func (o Options) writePlugin() error {
	home := o.Home
	return eachPluginFile(func(rel string, data []byte) error {
		data, err := o.fill(data)
		if err != nil {
			return err
		}
		path := filepath.Join(pluginDir(home), rel)
		if name := filepath.ToSlash(rel); o.NoMCP && name == pluginMCP || o.NoSkill && name == pluginSkill {
			return state.Remove(path)
		}
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
			return nil
		}
		if err := state.ReplaceSynced(path, data); err != nil {
			return denied("the plugin cannot be written", err, writeHint(home))
		}
		return nil
	})
}

// fill puts the binary's path into a text, at transcript.Program.
func (o Options) fill(text []byte) ([]byte, error) {
	exe, err := json.Marshal(o.Exe)
	if err != nil {
		return nil, fmt.Errorf("encode path: %w", err)
	}
	text = bytes.ReplaceAll(text, []byte(transcript.Program), exe)
	return bytes.ReplaceAll(text, []byte(strings.ReplaceAll(transcript.Program, `"`, "'")), exe), nil
}

// eachPluginFile calls fn with every file of the plugin.
func eachPluginFile(fn func(rel string, data []byte) error) error {
	return fs.WalkDir(pluginFiles, "plugin", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := pluginFiles.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read embedded plugin: %w", err)
		}
		return fn(filepath.FromSlash(strings.TrimPrefix(path, "plugin/")), data)
	})
}

// PluginSince returns when init last wrote settings that switch the plugin on; the zero
// time without such settings.
func PluginSince(home string) (since time.Time) {
	m, err := readManifest(home)
	if err != nil {
		return since
	}
	for _, r := range m.Files {
		if r.Entries["plugin/enabled"] != nil && r.Time.After(since) {
			since = r.Time
		}
	}
	return since
}

// pluginInUse reports whether settings in the manifest use the plugin.
func (m *manifest) pluginInUse() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(m.Files)), func(r record) bool { return r.Entries["plugin/enabled"] != nil })
}
