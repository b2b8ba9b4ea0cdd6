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

// checkSwitches looks for what turns hooks off altogether.
func (s *survey) checkSwitches() {
	var off bool
	if f, ok := s.effective("disableAllHooks", &off); ok && off {
		s.report(LevelFail, "hooks", "disableAllHooks in "+f.path+" switches every hook off", "take it out, or set it to false")
	}
	for _, f := range s.files {
		for _, key := range []string{"allowManagedHooksOnly", "strictPluginOnlyCustomization"} {
			var only any
			if f.managed && f.get(key, &only) && only != false {
				s.report(LevelFail, "hooks", key+" in "+f.path+" forbids hooks from your own settings", "ask your administrator to allow Strandline")
			}
		}
	}
	for _, v := range []struct{ name, what string }{
		{"CLAUDE_CODE_SIMPLE", "runs no hooks"},
		{"CLAUDE_CODE_SAFE_MODE", "runs no hooks"},
		{"CLAUDE_CODE_SKIP_PROMPT_HISTORY", "writes no transcript"},
	} {
		if where := s.variable(v.name); where != "" {
			s.report(LevelWarn, "hooks", v.name+" is set in "+where+", and with it the client "+v.what, "unset "+v.name)
		}
	}
}

// variable says where a variable of the client's environment is switched on,
// "" if nowhere. Settings may hold variables too.
func (s *survey) variable(name string) string {
	on := func(v any) bool {
		text := fmt.Sprint(v)
		return text != "" && text != "0" && !strings.EqualFold(text, "false")
	}
	if on(s.opts.Getenv(name)) {
		return "the environment"
	}
	for _, f := range s.files {
		env := map[string]any{}
		f.get("env", &env)
		if v, ok := env[name]; ok && on(v) {
			return f.path
		}
	}
	return ""
}

// ourCall finds the part of a hook that runs Strandline.
func (s *survey) ourCall(h seenHook) (call, bool) {
	return findCall(h.Command, h.Args, s.opts.Exe, s.opts.GOOS)
}

// checkWiring makes sure that every event reaches Strandline once.
func (s *survey) checkWiring() {
	var missing []string
	var twice []doubled
	wanted := hooks(s.opts.Exe, s.opts.GOOS)
	for _, want := range wanted {
		var found []seenHook
		for _, h := range s.hooks {
			if _, ok := s.ourCall(h); ok && h.event == want.event {
				found = append(found, h)
			}
		}
		if len(found) == 0 {
			missing = append(missing, want.event)
		}
		if t, ok := doubledIn(found); ok {
			twice = append(twice, t)
		}
	}
	s.reportDoubled(twice)
	switch {
	case len(missing) == len(wanted):
		s.report(LevelFail, "hooks", "the client does not call Strandline", "run `strandline init`")
	case len(missing) > 0:
		s.report(LevelFail, "hooks", "the client does not call Strandline at "+strings.Join(missing, ", "), "run `strandline init`")
	default:
		s.report(LevelOK, "hooks", fmt.Sprintf("the client calls Strandline at all %d events", len(wanted)), "")
	}
}

// doubled are two hooks of an event that run at the same occasion.
type doubled struct {
	event, where string
	same         bool // the client runs one command once
}

// doubledIn finds two hooks of one event that run at the same occasion.
func doubledIn(found []seenHook) (doubled, bool) {
	for i, h := range found {
		for _, g := range found[:i] {
			if h.matcher != g.matcher && !always(h.matcher) && !always(g.matcher) {
				continue
			}
			where := h.path
			if h.path != g.path {
				where = g.path + " and " + h.path
			}
			return doubled{h.event, where, h.Command == g.Command && slices.Equal(h.Args, g.Args)}, true
		}
	}
	return doubled{}, false
}

// reportDoubled tells of events that are wired twice, those that are so in the same
// way at once.
func (s *survey) reportDoubled(list []doubled) {
	for len(list) > 0 {
		first := list[0]
		var events []string
		list = slices.DeleteFunc(slices.Clone(list), func(t doubled) bool {
			alike := t.where == first.where && t.same == first.same
			if alike {
				events = append(events, t.event)
			}
			return alike
		})
		hint := "`strandline uninstall --scope user` or `--scope project` takes one of them out"
		if all := strings.Join(events, ", "); first.same {
			s.report(LevelInfo, "hooks", "wired twice with the same command, which the client runs once, in "+first.where+": "+all, hint)
		} else {
			s.report(LevelWarn, "hooks", "Strandline runs twice, from "+first.where+", at "+all, hint)
		}
	}
}

// checkBinaries looks at every binary that the hooks name.
func (s *survey) checkBinaries(ctx context.Context) {
	paths := map[string]bool{}
	for _, h := range s.hooks {
		if c, ok := s.ourCall(h); ok {
			paths[c.path] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		s.checkBinary(ctx, path)
	}
}

func (s *survey) checkBinary(ctx context.Context, path string) {
	const again = "run `strandline init` with the binary that you want"
	file := filepath.FromSlash(path)
	if byName(path) {
		if s.opts.LookPath == nil {
			return
		}
		found, err := s.opts.LookPath(path)
		if err != nil {
			s.report(LevelFail, "binary", "the hooks call "+path+", which is not in PATH", again)
			return
		}
		file = found
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		s.report(LevelFail, "binary", "the hooks call "+file+", which is not there", again)
		return
	case !info.Mode().IsRegular() || s.opts.GOOS != "windows" && info.Mode()&0o111 == 0:
		s.report(LevelFail, "binary", "the hooks call "+file+", which cannot be executed", again)
		return
	}
	if own, err := os.Stat(s.opts.Exe); err == nil && os.SameFile(own, info) {
		s.report(LevelOK, "binary", "the hooks call this binary, "+file, "")
		return
	}
	if s.opts.VersionOf == nil {
		s.report(LevelInfo, "binary", "the hooks call "+file+", which is another binary than this one", again)
		return
	}
	version, err := s.opts.VersionOf(ctx, file)
	switch {
	case err != nil:
		s.report(LevelFail, "binary", "the hooks call "+file+", which does not tell its version: "+err.Error(), again)
	case version != s.opts.Version:
		s.report(LevelWarn, "binary", fmt.Sprintf("the hooks call %s, version %s, and this is version %s", file, version, s.opts.Version), again)
	default:
		s.report(LevelOK, "binary", "the hooks call "+file+", of the same version", "")
	}
}
