package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// checkCodex reports whether Codex CLI, if it has a folder, calls Strandline.
func (c *checker) checkCodex(ctx context.Context) {
	o := Options{ClientDir: c.opts.CodexDir, Home: c.opts.Home, Exe: c.opts.Exe, GOOS: c.opts.GOOS, Scope: ScopeCodexHooks, Now: c.opts.Now}
	if _, err := os.Stat(o.ClientDir); err != nil || o.ClientDir == "" {
		return
	}
	if c.codex = Connected(o.Home, o.ClientDir, o.Scope); !c.codex {
		c.report(LevelInfo, "codex", "Codex is installed here and not connected to Strandline", "`strandline init --client codex` connects it")
		return
	}
	var missing []string
	programs := map[string]bool{}
	wanted := codexHooks(o.Exe, o.GOOS)
	if data, err := readSettings(filepath.Join(o.ClientDir, "hooks.json")); err == nil {
		doc, err := parseDoc(data)
		for _, h := range wanted {
			found := []existing(nil)
			if err == nil {
				found = h.find(doc)
			}
			for _, x := range found {
				programs[x.call.path] = true
			}
			if len(found) == 0 {
				missing = append(missing, h.event)
			}
		}
	}
	switch n, all := o.trusted(); {
	case len(missing) > 0:
		c.report(LevelFail, "codex", "Codex does not call Strandline at "+strings.Join(missing, ", "), "run `strandline init --client codex`")
	case c.codexSwitch("features", "hooks") == false:
		c.report(LevelFail, "codex", "hooks are switched off in Codex's config.toml (features.hooks)", "remove the line")
	case n < all:
		c.report(LevelWarn, "codex", fmt.Sprintf("Codex does not trust %d of Strandline's %d hooks and does not run them", all-n, all), "start `codex`, which asks to review them, or type /hooks there")
	default:
		c.report(LevelOK, "codex", fmt.Sprintf("Codex calls Strandline at all %d events", len(wanted)), "")
	}
	for path := range programs {
		if level, state := c.checkBinary(ctx, path); level == LevelFail || level == LevelWarn {
			c.report(level, "codex", "Codex's hooks call "+state, "run `strandline init --client codex` with the right binary")
		}
	}
	if c.codexSwitch("mcp_servers", program, "command") == nil {
		c.report(LevelInfo, "codex", "Codex has no MCP server of Strandline: its model cannot search", "`strandline init --client codex` adds it")
	}
}

// codexSwitch returns a value of Codex's config.toml, nil if there is none.
func (c *checker) codexSwitch(path ...string) any {
	data, _ := readSettings(filepath.Join(c.opts.CodexDir, "config.toml")) // a file that cannot be read has no value
	var have map[string]any
	if (&tomlText{src: data}).decode(&have) != nil {
		return nil
	}
	last := len(path) - 1
	return member(have, path[:last]...)[path[last]]
}
