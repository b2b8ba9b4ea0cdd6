package install

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// checkSwitches reports settings and variables that disable all hooks.
func (c *checker) checkSwitches() {
	var off bool
	if f, ok := c.effective("disableAllHooks", &off); ok && off {
		c.report(LevelFail, "hooks", "disableAllHooks in "+f.path+" disables all hooks", "remove it or set it to false")
	}
	for _, f := range c.files {
		for _, key := range []string{"allowManagedHooksOnly", "strictPluginOnlyCustomization"} {
			var only any
			if f.managed && f.get(key, &only) && only != false {
				c.report(LevelFail, "hooks", key+" in "+f.path+" disables hooks in your own settings", "ask your administrator to allow Strandline")
			}
		}
	}
	for _, v := range []struct{ name, what string }{
		{"CLAUDE_CODE_SIMPLE", "runs no hooks"},
		{"CLAUDE_CODE_SAFE_MODE", "runs no hooks"},
		{"CLAUDE_CODE_SKIP_PROMPT_HISTORY", "writes no transcript"},
	} {
		if where := c.variable(v.name); where != "" {
			c.report(LevelWarn, "hooks", v.name+" is set in "+where+", so the client "+v.what, "unset "+v.name)
		}
	}
}

// variable returns where a variable of the client is switched on: the environment, a
// settings file, or "" for nowhere.
func (c *checker) variable(name string) string {
	on := func(v any) bool {
		text := fmt.Sprint(v)
		return text != "" && text != "0" && !strings.EqualFold(text, "false")
	}
	if on(c.opts.Getenv(name)) {
		return "the environment"
	}
	for _, f := range c.files {
		env := map[string]any{}
		f.get("env", &env)
		if v, ok := env[name]; ok && on(v) {
			return f.path
		}
	}
	return ""
}

// call returns the part of a hook that runs Strandline.
func (c *checker) call(h seenHook) (call, bool) {
	return findCall(h.Command, h.Args, "hook", c.opts.Exe, c.opts.GOOS)
}

// checkEvents reports events that do not call Strandline exactly once.
func (c *checker) checkEvents() {
	var missing, waited []string
	var order []duplication
	twice := map[duplication][]string{}
	main := c.main(ScopeUser)
	wanted := main.hooksOf(main.File)
	for _, want := range wanted {
		var found []seenHook
		for _, h := range c.hooks {
			if _, ok := c.call(h); ok && h.event == want.Event {
				found = append(found, h)
			}
		}
		if want.Async && slices.ContainsFunc(found, func(h seenHook) bool { return h.Async == nil }) {
			waited = append(waited, want.Event)
		}
		if len(found) == 0 {
			missing = append(missing, want.Event)
		}
		if d, ok := findDuplication(found); ok {
			if twice[d] == nil {
				order = append(order, d)
			}
			twice[d] = append(twice[d], want.Event)
		}
	}
	for _, d := range order {
		c.reportDuplication(d, twice[d])
	}
	if len(waited) > 0 {
		c.report(LevelInfo, "hooks", "the client waits at "+strings.Join(waited, ", ")+" for a hook without an answer", "run `strandline init`, which makes it asynchronous")
		c.fixLast(c.reinstall())
	}
	c.checkShared()
	switch {
	case len(missing) == len(wanted):
		c.report(LevelFail, "hooks", "the client does not call Strandline", "run `strandline init`")
		c.fixLast(c.reinstall())
	case len(missing) > 0:
		c.report(LevelFail, "hooks", "the client does not call Strandline at "+strings.Join(missing, ", "), "run `strandline init`")
		c.fixLast(c.reinstall())
	default:
		c.report(LevelOK, "hooks", fmt.Sprintf("the client calls Strandline at all %d events", len(wanted)), "")
	}
}

// checkShared reports hooks with a path of this machine in the settings that a project's
// users share.
func (c *checker) checkShared() {
	path := filepath.Join(c.opts.ProjectDir, ".claude", "settings.json")
	own := func(h seenHook) bool {
		call, ok := c.call(h)
		return ok && h.path == path && !byName(call.path)
	}
	if c.opts.ProjectDir == "" || path == filepath.Join(c.opts.ClientDir, "settings.json") || !slices.ContainsFunc(c.hooks, own) {
		return
	}
	c.report(LevelWarn, "hooks", path+", which others may share, names a program of this machine",
		"run `strandline init --scope project`, which moves the entries to settings.local.json")
	c.fixLast(c.moveShared)
}

// duplication is two hooks of an event that run together.
type duplication struct {
	where string // the files
	same  bool   // equal commands, of which the client runs one
}

func findDuplication(found []seenHook) (duplication, bool) {
	for i, h := range found {
		for _, g := range found[:i] {
			if h.matcher != g.matcher && !matchesAll(h.matcher) && !matchesAll(g.matcher) {
				continue
			}
			where := h.path
			if h.path != g.path {
				where = g.path + " and " + h.path
			}
			return duplication{where, h.Command == g.Command && slices.Equal(h.Args, g.Args)}, true
		}
	}
	return duplication{}, false
}

// reportDuplication reports events that call Strandline twice from the same files.
func (c *checker) reportDuplication(d duplication, events []string) {
	const hint = "run `strandline uninstall --scope user` or `--scope project` to remove one"
	all := strings.Join(events, ", ")
	if d.same {
		c.report(LevelInfo, "hooks", "installed twice with the same command, which the client runs once, in "+d.where+": "+all, hint)
	} else {
		c.report(LevelWarn, "hooks", "Strandline runs twice, from "+d.where+", at "+all, hint)
	}
}

// checkBinaries checks all binaries that the hooks call.
func (c *checker) checkBinaries(ctx context.Context) {
	paths := map[string]bool{}
	for _, h := range c.hooks {
		if c, ok := c.call(h); ok {
			paths[c.path] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		level, state := c.checkBinary(ctx, path)
		hint := ""
		if level != LevelOK {
			hint = "run `strandline init` with the right binary"
		}
		if level != "" {
			c.report(level, "binary", "the hooks call "+state, hint)
			if level == LevelFail {
				c.fixLast(c.reinstall())
			}
		}
	}
}

// checkBinary checks one binary. It returns its path with the fault, and "" for
// a binary that cannot be checked.
func (c *checker) checkBinary(ctx context.Context, path string) (level Level, state string) {
	file := filepath.FromSlash(path)
	if byName(path) {
		if c.opts.LookPath == nil {
			return "", ""
		}
		found, err := c.opts.LookPath(path)
		if err != nil {
			return LevelFail, path + ", which is not in PATH"
		}
		file = found
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return LevelFail, file + ", which does not exist"
	case !info.Mode().IsRegular() || c.opts.GOOS != "windows" && info.Mode()&0o111 == 0:
		return LevelFail, file + ", which cannot be executed"
	}
	if own, err := os.Stat(c.opts.Exe); err == nil && os.SameFile(own, info) {
		return LevelOK, "this binary, " + file
	}
	if c.opts.VersionOf == nil {
		return LevelInfo, file + ", which is not this binary"
	}
	switch version, err := c.opts.VersionOf(ctx, file); {
	case err != nil:
		return LevelFail, file + ", which does not print its version: " + err.Error()
	case version != c.opts.Version:
		return LevelWarn, fmt.Sprintf("%s, version %s; this is version %s", file, version, c.opts.Version)
	}
	return LevelOK, file + ", of the same version"
}
