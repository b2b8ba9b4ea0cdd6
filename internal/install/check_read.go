package install

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/install/jsonc"
)

// settings is a settings file as far as it matters here.
type settings struct {
	path    string
	managed bool   // an administrator's
	root    string // of the plugin whose hooks these are
	values  map[string]json.RawMessage
}

// seenHook is a command that the client runs, whoever wants it.
type seenHook struct {
	path    string // of the file
	event   string
	matcher string
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Timeout float64  `json:"timeout"` // seconds
}

// get decodes a value; what is missing or of another type gives false.
func (s settings) get(key string, v any) bool {
	raw, ok := s.values[key]
	return ok && string(raw) != "null" && json.Unmarshal(raw, v) == nil
}

// read takes a settings file in. One that the client cannot read is reported.
func (s *survey) read(path string, managed bool) {
	for _, f := range s.files {
		if f.path == path {
			return // the project is the user's home
		}
	}
	values, ok := s.load(path)
	if !ok {
		return
	}
	f := settings{path: path, managed: managed, values: values}
	s.files = append(s.files, f)
	s.collect(f)
}

// load reads the members of a JSON file.
func (s *survey) load(path string) (map[string]json.RawMessage, bool) {
	data, err := readSettings(path)
	if err != nil {
		s.report(LevelWarn, "settings", err.Error(), archive.ErrorHint(err))
		return nil, false
	}
	if data == nil {
		return nil, false
	}
	doc, err := jsonc.Parse(data)
	if err != nil {
		s.report(LevelFail, "settings", path+" is not valid JSON, so the client passes over all of it: "+err.Error(), "correct it there")
		return nil, false
	}
	if notice := doc.Notice(); notice != "" {
		s.report(LevelFail, "settings", path+" holds "+notice+", so the client passes over all of it", "take them out")
	}
	values := map[string]json.RawMessage{}
	if v := doc.Get(); v == nil || v.Kind != jsonc.Object {
		return values, true
	}
	if err := json.Unmarshal(doc.Plain(), &values); err != nil {
		return nil, false
	}
	return values, true
}

// collect lists the hooks of a file. Anything of an odd shape is passed over, as
// the client does.
func (s *survey) collect(f settings) {
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
					s.hooks = append(s.hooks, h)
				}
			}
		}
	}
}

// readPlugins takes in the hooks of the plugins that are switched on.
func (s *survey) readPlugins() {
	values, ok := s.load(filepath.Join(s.opts.ClientDir, "plugins", "installed_plugins.json"))
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
		if !s.enabled(id) {
			continue
		}
		for _, at := range installed[id] {
			path := filepath.Join(at.InstallPath, "hooks", "hooks.json")
			if values, ok := s.load(path); ok {
				s.collect(settings{path: path, root: at.InstallPath, values: values})
			}
		}
	}
}

// enabled reports whether the settings switch a plugin on.
func (s *survey) enabled(id string) bool {
	for _, f := range s.files {
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

// effective finds the file whose value of a key counts.
func (s *survey) effective(key string, v any) (settings, bool) {
	for _, f := range s.files {
		if f.get(key, v) {
			return f, true
		}
	}
	return settings{}, false
}
