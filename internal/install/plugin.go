package install

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/install/jsonc"
)

// The plugin holds a module, which answers the client's session.compact with
// `strandline compact`, and the entry of the MCP server. It holds no hooks: those
// stand in the settings, where every version of the client calls them, and must
// not stand in both.
//
//go:embed all:plugin
var pluginFiles embed.FS

// What the plugin and its marketplace are called in the settings.
const (
	pluginName   = "strandline@strandline-local"
	pluginMarket = "strandline-local"
	// pluginProgram stands in the plugin's files for the path of the binary,
	// within quotes of either kind.
	pluginProgram = "@PROGRAM@"
)

// pluginDir is where the plugin's files are kept.
func pluginDir(home string) string { return filepath.Join(home, "plugin") }

// member is a value of ours in an object of the settings.
type member struct {
	name      string // of the entry
	container string // the object's name
	key       string
	want      any
	text      string
}

// pluginEntries are what the settings need for the client to load the plugin.
// Both were seen to be enough for version 2.1.329, without its own install
// command.
func pluginEntries(home string) []entry {
	type source struct {
		Source string `json:"source"`
		Path   string `json:"path"`
	}
	dir := pluginDir(home)
	return []entry{
		member{
			name: "plugin/marketplace", container: "extraKnownMarketplaces", key: pluginMarket,
			want: map[string]source{"source": {"directory", dir}}, text: dir,
		},
		member{name: "plugin/enabled", container: "enabledPlugins", key: pluginName, want: true, text: pluginName},
	}
}

func (m member) id() string     { return m.name }
func (m member) value() any     { return m.want }
func (m member) detail() string { return m.text }

// put writes the value. What a person has changed by hand, such as a plugin that
// is switched off, stays.
func (m member) put(d *jsonc.Doc, written json.RawMessage) (Action, error) {
	for _, path := range [][]any{nil, {m.container}} {
		if v := d.Get(path...); v != nil && v.Kind != jsonc.Object {
			return "", archive.Invalid(m.container+" is not the object that the client expects", "correct it or take it out, then run the command again")
		}
	}
	raw, err := json.Marshal(m.want)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", m.name, err)
	}
	have := d.Raw(m.container, m.key)
	switch {
	case have == nil && d.Get(m.container) == nil:
		return ActionAdd, d.Set(map[string]any{m.key: m.want}, m.container)
	case have == nil:
		return ActionAdd, d.Set(m.want, m.key, m.container)
	case same(have, raw), written != nil && !same(have, written), written == nil && string(have) == "false":
		return ActionKeep, nil
	}
	return ActionUpdate, d.SetItem(m.want, m.container, m.key)
}

// drop takes the value out, unless it is what stood there before Strandline.
func (m member) drop(d, base *jsonc.Doc) (Action, error) {
	have := d.Raw(m.container, m.key)
	switch {
	case have == nil, base == nil && string(have) == "false": // Strandline never writes that
		return ActionKeep, nil
	case base != nil && base.Get(m.container, m.key) != nil && same(have, base.Raw(m.container, m.key)):
		return ActionKeep, nil
	}
	if err := d.Delete(m.container, m.key); err != nil {
		return "", err
	}
	left := d.Get(m.container)
	if left != nil && len(left.Items) == 0 && (base == nil || base.Get(m.container) == nil) {
		if err := d.Delete(m.container); err != nil {
			return "", err
		}
	}
	return ActionRemove, nil
}

// writePlugin brings the plugin's files to what they have to be.
func writePlugin(home, exe string) error {
	hint := "check the permissions of " + home + ", and the free space"
	program, err := json.Marshal(exe)
	if err != nil {
		return fmt.Errorf("encode path: %w", err)
	}
	return eachPluginFile(func(rel string, data []byte) error {
		for _, quote := range []string{"'", `"`} {
			data = bytes.ReplaceAll(data, []byte(quote+pluginProgram+quote), program)
		}
		path := filepath.Join(pluginDir(home), rel)
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
			return nil
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return denied("the plugin cannot be written", err, hint)
		}
		if err := replaceFile(path, data, 0o600, func() error { return nil }); err != nil {
			return denied("the plugin cannot be written", err, hint)
		}
		return nil
	})
}

// removePlugin deletes the plugin's folder, with whatever the client has put into
// it.
func removePlugin(home string) error {
	if err := os.RemoveAll(pluginDir(home)); err != nil {
		return denied("the plugin cannot be removed", err, "delete "+pluginDir(home))
	}
	return nil
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

// pluginInUse reports whether the manifest knows settings that want the plugin.
func (m *manifest) pluginInUse() bool {
	for _, r := range m.Files {
		if _, ok := r.Entries["plugin/enabled"]; ok {
			return true
		}
	}
	return false
}

// checkPlugin says whether the client lets Strandline compact.
func (s *survey) checkPlugin() {
	const early = "plugin modules are an early access interface of the client, seen working with version 2.1.329; " +
		"where it fails the client compacts by itself"
	if !s.enabled(pluginName) {
		s.report(LevelInfo, "plugin", "the compactor plugin is not switched on: the client summarizes with its model, helped by the hooks",
			"`strandline init` switches it on, unless it is called with --no-plugin")
		return
	}
	missing := eachPluginFile(func(rel string, _ []byte) error {
		if _, err := os.Stat(filepath.Join(pluginDir(s.opts.Home), rel)); err != nil {
			return fmt.Errorf("%s: %w", rel, err)
		}
		return nil
	})
	if missing != nil {
		s.report(LevelWarn, "plugin", "the compactor plugin is switched on, but its files are not there: "+errors.Unwrap(missing).Error(), "run `strandline init`")
		return
	}
	s.report(LevelOK, "plugin", "the compactor plugin is switched on; "+early, "")
}
