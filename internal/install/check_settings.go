package install

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// settings is a settings file.
type settings struct {
	path    string
	managed bool   // written by the administrator
	root    string // folder of the plugin that the hooks belong to
	values  map[string]json.RawMessage
}

// seenHook is a hook of any tool.
type seenHook struct {
	path    string // of the file
	event   string
	matcher string
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Timeout float64  `json:"timeout"` // seconds
	Async   *bool    `json:"async"`
}

// get decodes a value. It returns false if the value is missing or has another type.
func (s settings) get(key string, v any) bool {
	raw, ok := s.values[key]
	return ok && string(raw) != "null" && json.Unmarshal(raw, v) == nil
}

// read reads a settings file and its hooks. It reports a file that the client cannot
// read.
func (c *checker) read(path string, managed bool) {
	if slices.ContainsFunc(c.files, func(f settings) bool { return f.path == path }) {
		return // the project is the user's home folder
	}
	if values, ok := c.load(path); ok {
		f := settings{path: path, managed: managed, values: values}
		c.files = append(c.files, f)
		c.collect(f)
	}
}

// load reads the members of a JSON file.
func (c *checker) load(path string) (map[string]json.RawMessage, bool) {
	data, err := readSettings(path)
	if err != nil {
		c.report(LevelWarn, "settings", err.Error(), archive.ErrorHint(err))
	}
	if data == nil {
		return nil, false
	}
	doc, err := parseDoc(data)
	if err != nil {
		c.report(LevelFail, "settings", path+" is not valid JSON, so the client ignores all of it: "+err.Error(), "correct the file")
		return nil, false
	}
	if notice := doc.notice(); notice != "" {
		c.report(LevelFail, "settings", path+" holds "+notice+", so the client ignores all of it", "remove them")
	}
	values := map[string]json.RawMessage{}
	if v := doc.get(); v == nil || v.kind != kindObject {
		return values, true
	}
	return values, json.Unmarshal(doc.plain, &values) == nil
}

// collect adds the hooks of a file. Like the client, it ignores values of other
// types.
func (c *checker) collect(f settings) {
	var events map[string]json.RawMessage
	f.get("hooks", &events)
	for _, event := range slices.Sorted(maps.Keys(events)) {
		var groups []json.RawMessage
		if json.Unmarshal(events[event], &groups) != nil {
			continue
		}
		for _, raw := range groups {
			var group struct {
				Matcher string            `json:"matcher"`
				Hooks   []json.RawMessage `json:"hooks"`
			}
			if json.Unmarshal(raw, &group) != nil {
				continue
			}
			for _, raw := range group.Hooks {
				h := seenHook{path: f.path, event: event, matcher: group.Matcher}
				if json.Unmarshal(raw, &h) == nil {
					h.Command = strings.ReplaceAll(h.Command, "${CLAUDE_PLUGIN_ROOT}", f.root)
					c.hooks = append(c.hooks, h)
				}
			}
		}
	}
}

// readPlugins reads the hooks of the enabled plugins.
func (c *checker) readPlugins() {
	values, ok := c.load(filepath.Join(c.opts.ClientDir, "plugins", "installed_plugins.json"))
	if !ok {
		return
	}
	var installed map[string][]struct {
		InstallPath string `json:"installPath"`
	}
	if json.Unmarshal(values["plugins"], &installed) != nil {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(installed)) {
		if !c.enabled(id) {
			continue
		}
		for _, at := range installed[id] {
			path := filepath.Join(at.InstallPath, "hooks", "hooks.json")
			if values, ok := c.load(path); ok {
				c.addRival(id, at.InstallPath, values)
				c.collect(settings{path: path, root: at.InstallPath, values: values})
			}
		}
	}
}

// enabled reports whether the settings enable a plugin.
func (c *checker) enabled(id string) bool {
	for _, f := range c.files {
		var plugins map[string]json.RawMessage
		if !f.get("enabledPlugins", &plugins) {
			continue
		}
		if raw, ok := plugins[id]; ok {
			return string(raw) == "true"
		}
	}
	return false
}

// effective decodes the value of a key in the file with the highest precedence.
func (c *checker) effective(key string, v any) (settings, bool) {
	for _, f := range c.files {
		if f.get(key, v) {
			return f, true
		}
	}
	return settings{}, false
}
