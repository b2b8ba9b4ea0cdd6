package usage

import (
	"bytes"
	"encoding/json"
	"os"
)

// compactSettings is what the client's settings files say about automatic compaction.
type compactSettings struct {
	window int  // tokens, 0 if not set
	off    bool // automatic compaction is disabled
}

// settingsFile is the part of a settings file that is read. Values of another type are
// ignored, as is a file that is not JSON.
type settingsFile struct {
	Window  setWindow `json:"autoCompactWindow"`
	Enabled *bool     `json:"autoCompactEnabled"`
	Models  map[string]struct {
		Window setWindow `json:"autoCompactWindow"`
	} `json:"modelSettings"`
}

// setWindow is a number of tokens, 0 for "auto" and anything else; set if it was given.
type setWindow struct {
	tokens int
	set    bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (w *setWindow) UnmarshalJSON(data []byte) error {
	w.set = true
	_ = json.Unmarshal(data, &w.tokens) // another type: not a number of tokens
	return nil
}

// readSettings reads settings files, of which the first that has a setting takes
// precedence. Within a file the setting of the model does.
func readSettings(model string, files []string) (s compactSettings) {
	var window, enabled bool // found
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(data, []byte(`"autoCompact`)) {
			continue
		}
		var f settingsFile
		_ = json.Unmarshal(data, &f) // keeps the part that it could read
		if w := f.of(model); w.set && !window {
			s.window, window = w.tokens, true
		}
		if f.Enabled != nil && !enabled {
			s.off, enabled = !*f.Enabled, true
		}
	}
	return s
}

// of returns the window for a model. Names with and without a date mean the same model.
func (f settingsFile) of(model string) setWindow {
	for name, m := range f.Models {
		if m.Window.set && (isModel(model, name) || isModel(name, model)) {
			return m.Window
		}
	}
	return f.Window
}
