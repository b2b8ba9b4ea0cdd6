package usage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/config"
)

const session = "7f3a12cd-0000-4000-8000-000000000001"

// past is a session that grows; one line per row.
type past struct {
	steps []archive.Step
	cuts  []archive.Compaction
	line  int
	err   error
}

func (p *past) Steps(_ context.Context, sp archive.Span) ([]archive.Step, error) {
	out := slices.Clone(p.steps)
	slices.Reverse(out)
	return out[:min(len(out), sp.Limit)], p.err
}

func (p *past) Compactions(context.Context, archive.Span) ([]archive.Compaction, error) {
	if n := len(p.cuts); n > 0 {
		return p.cuts[n-1:], p.err
	}
	return nil, p.err
}

func (p *past) respond(tokens int64) *archive.Step {
	p.line++
	p.steps = append(p.steps, archive.Step{LineFrom: p.line, Model: "claude-opus-5-5", Usage: archive.Usage{CacheRead: tokens - 30, Input: 10, Output: 20}})
	return &p.steps[len(p.steps)-1]
}

func (p *past) fail() {
	p.line++
	p.steps = append(p.steps, archive.Step{LineFrom: p.line, Model: "<synthetic>", APIError: true})
}

func (p *past) compact() {
	p.line++
	p.cuts = append(p.cuts, archive.Compaction{Line: p.line})
}

// desk is a guard of a window of 100,000 tokens: it compacts at 67,000 and stops
// at 77,000, so there is headroom up to 72,000.
func desk(t *testing.T, mode config.Block) (Blocker, *past) {
	t.Helper()
	return Blocker{Mode: mode, Dir: filepath.Join(t.TempDir(), "blocked"), Getenv: func(name string) string {
		return map[string]string{"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}[name]
	}}, &past{}
}

// ask fails the test unless the attempt is blocked, or not, as wanted.
func ask(t *testing.T, g Blocker, p *past, a Attempt, want bool) {
	t.Helper()
	if a.Session == "" {
		a.Session = session
	}
	if a.Trigger == "" {
		a.Trigger = "auto"
	}
	reason, err := g.Reason(t.Context(), p, a)
	if err != nil || (reason != "") != want {
		t.Errorf("blocked %t (%q, %v), want %t", reason != "", reason, err, want)
	}
}

func TestHeadroom(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		past    func(p *past)
		attempt Attempt
		want    bool
	}{
		"at the threshold":                  {func(p *past) { p.respond(67_000) }, Attempt{}, true},
		"with room left":                    {func(p *past) { p.respond(71_999) }, Attempt{}, true},
		"within the reserve":                {func(p *past) { p.respond(72_000) }, Attempt{}, false},
		"above the hard limit":              {func(p *past) { p.respond(90_000) }, Attempt{}, false},
		"below the threshold: the API's no": {func(p *past) { p.respond(66_999) }, Attempt{}, false},
		"nothing known":                     {func(*past) {}, Attempt{}, false},
		"no usage in the response":          {func(p *past) { p.respond(68_000).Usage = archive.Usage{} }, Attempt{}, false},
		"a copied response":                 {func(p *past) { p.respond(68_000).Copy = &archive.Ref{} }, Attempt{}, false},
		"a sub-agent's response counts not": {func(p *past) { p.respond(68_000); p.respond(90_000).Sidechain = true }, Attempt{}, true},
		"usage from before the compaction":  {func(p *past) { p.respond(68_000); p.compact() }, Attempt{}, false},
		"an error was the last response":    {func(p *past) { p.respond(68_000); p.fail() }, Attempt{}, false},
		"an older error":                    {func(p *past) { p.fail(); p.respond(68_000) }, Attempt{}, true},
		"the client counts more":            {func(p *past) { p.respond(68_000) }, Attempt{Tokens: 73_000}, false},
		"the client tells a smaller window": {func(p *past) { p.respond(68_000) }, Attempt{Window: 90_000}, false},
		"by hand":                           {func(p *past) { p.respond(68_000) }, Attempt{Trigger: "manual"}, false},
		"by a plugin":                       {func(p *past) { p.respond(68_000) }, Attempt{Trigger: "plugin"}, false},
		"no trigger that is known":          {func(p *past) { p.respond(68_000) }, Attempt{Trigger: "?"}, false},
		"a sub-agent's context":             {func(p *past) { p.respond(68_000) }, Attempt{Session: session + "~a1"}, true},
		"no session's id":                   {func(p *past) { p.respond(68_000) }, Attempt{Session: "../x"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, p := desk(t, config.BlockHeadroom)
			c.past(p)
			ask(t, g, p, c.attempt, c.want)
		})
	}
}

// A model whose window the client does not watch is compacted when the API
// refuses, whatever its usage is.
func TestAnUnwatchedWindowIsNotBlocked(t *testing.T) {
	t.Parallel()
	g, p := desk(t, config.BlockHeadroom)
	g.Getenv = func(string) string { return "" }
	p.respond(168_000).Model = "claude-haiku-4-5"
	ask(t, g, p, Attempt{}, false)
	p.respond(968_000)
	ask(t, g, p, Attempt{}, true)
}

func TestModes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[config.Block][2]bool{ // with headroom, without
		config.BlockNever: {false, false}, "": {false, false}, config.BlockHeadroom: {true, false}, config.BlockAlways: {true, true},
	} {
		for i, tokens := range []int64{68_000, 90_000} {
			g, p := desk(t, mode)
			p.respond(tokens)
			ask(t, g, p, Attempt{Trigger: "manual"}, false)
			ask(t, g, p, Attempt{}, want[i])
		}
	}
}

// TestNoPointIsBlockedTwice: a block that no response followed has led nowhere.
func TestNoPointIsBlockedTwice(t *testing.T) {
	t.Parallel()
	for _, mode := range []config.Block{config.BlockHeadroom, config.BlockAlways} {
		g, p := desk(t, mode)
		p.respond(68_000)
		ask(t, g, p, Attempt{}, true)
		ask(t, g, p, Attempt{}, false) // the API refused what was sent then
		ask(t, g, p, Attempt{Session: "another"}, true)
		p.respond(69_000)
		ask(t, g, p, Attempt{}, true) // there is still room
	}
	g, p := desk(t, config.BlockAlways) // nothing of the session is known
	ask(t, g, p, Attempt{}, true)
	ask(t, g, p, Attempt{}, false)
}

// TestAfterAFailureNothingIsBlocked until a compaction has gone through.
func TestAfterAFailureNothingIsBlocked(t *testing.T) {
	t.Parallel()
	for _, mode := range []config.Block{config.BlockHeadroom, config.BlockAlways} {
		g, p := desk(t, mode)
		p.respond(68_000)
		ask(t, g, p, Attempt{}, true)
		p.fail()
		ask(t, g, p, Attempt{}, false)
		for range 2 * maxSteps {
			p.respond(69_000)
		}
		ask(t, g, p, Attempt{}, false)
		p.compact()
		p.respond(68_000)
		ask(t, g, p, Attempt{}, true)
		p.fail()
		ask(t, g, p, Attempt{}, false)
		ask(t, g, p, Attempt{Trigger: "manual"}, false) // starts afresh
		p.respond(68_000)
		ask(t, g, p, Attempt{}, true)
	}
}

// TestWithoutANoteNothingIsBlocked: what cannot be written down would be
// forgotten, and blocked for ever.
func TestWithoutANoteNothingIsBlocked(t *testing.T) {
	t.Parallel()
	g, p := desk(t, config.BlockAlways)
	p.respond(68_000)
	if err := os.WriteFile(g.Dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if reason, err := g.Reason(t.Context(), p, Attempt{Session: session, Trigger: "auto"}); reason != "" || err == nil {
		t.Errorf("a file stands in the way: %q, %v", reason, err)
	}
	if err := os.Remove(g.Dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(g.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(g.store().Path(session), []byte(`{"li`), 0o600); err != nil {
		t.Fatal(err)
	}
	if reason, err := g.Reason(t.Context(), p, Attempt{Session: session, Trigger: "auto"}); reason != "" || err == nil {
		t.Errorf("a torn note: %q, %v", reason, err)
	}
	ask(t, g, p, Attempt{}, true) // it is gone
	p.err = errors.New("no disk")
	if reason, err := g.Reason(t.Context(), p, Attempt{Session: session, Trigger: "auto"}); reason != "" || !errors.Is(err, p.err) {
		t.Errorf("no archive: %q, %v", reason, err)
	}
}

// TestTheReasonIsOneSentence tells what is used, how far it goes and the way out.
func TestTheReasonIsOneSentence(t *testing.T) {
	t.Parallel()
	g, p := desk(t, config.BlockHeadroom)
	p.respond(68_000)
	reason, err := g.Reason(t.Context(), p, Attempt{Session: session, Trigger: "auto"})
	for _, want := range []string{"68000 of 100000", "until 72000", "compaction.block_auto", "/compact"} {
		if err != nil || !strings.Contains(reason, want) || strings.Contains(reason, "\n") {
			t.Errorf("%q, %v: no %q", reason, err, want)
		}
	}
}
