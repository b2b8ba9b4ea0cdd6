package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestParts: init names what it connects, each with the option that leaves it out.
func TestParts(t *testing.T) {
	const names = "hooks statusline plugin MCP server skill"
	for _, tc := range []struct {
		name, settings string
		change         func(*Options)
		want           string // states
		says           string
	}{
		{"a new file", "", func(o *Options) {}, "added added added added added", "record at 9 events"},
		{"a statusline", `{"statusLine":{"type":"command","command":"./mine"}}`, func(o *Options) {}, "added added added added added", "runs your ./mine"},
		{"another statusline", `{"statusLine":{"type":"static"}}`, func(o *Options) {}, "added off added added added", "it is not a command"},
		{"a kept statusline", `{"statusLine":{"type":"command","command":"./mine"}}`, func(o *Options) { o.NoStatusline = true }, "added off added added added", "yours is kept: ./mine"},
		{"no plugin", "{}", func(o *Options) { o.Plugin = false }, "added added off off off", ""},
		{"no MCP server", "{}", func(o *Options) { o.NoMCP = true }, "added added added off added", ""},
		{"no skill", "{}", func(o *Options) { o.NoSkill = true }, "added added added added off", ""},
		{"switched off", `{"enabledPlugins":{"` + pluginName + `":false}}`, func(o *Options) {}, "added added off off off", "in your settings"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPlace(t)
			if tc.settings != "" {
				p.write(tc.settings)
			}
			p.opts.Plugin = true
			tc.change(&p.opts)
			var name, state, detail []string
			for _, part := range p.init().Parts {
				name, state, detail = append(name, part.Name), append(state, part.State()), append(detail, part.Detail)
				if part.Switch == "" {
					t.Errorf("%s has no switch", part.Name)
				}
			}
			if strings.Join(name, " ") != names || strings.Join(state, " ") != tc.want || !strings.Contains(strings.Join(detail, "\n"), tc.says) {
				t.Errorf("got %q, %q, %q", name, state, detail)
			}
			for rel, off := range map[string]bool{pluginMCP: p.opts.NoMCP, pluginSkill: p.opts.NoSkill} {
				_, err := os.Stat(filepath.Join(pluginDir(p.opts.Home), rel))
				if (err != nil) != (off || !p.opts.Plugin) {
					t.Errorf("%s: %v", rel, err)
				}
			}
			for _, part := range p.init().Parts {
				if s := part.State(); s != "unchanged" && s != "off" {
					t.Errorf("%s: %s by a second init", part.Name, s)
				}
			}
		})
	}
}
