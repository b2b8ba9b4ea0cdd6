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

// past is a session with one line per row.
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

// newBlocker returns a Blocker for a window of 100,000 tokens: the client compacts at
// 67,000 and stops at 77,000, so blocking ends at 72,000.
func newBlocker(t *testing.T, mode config.Block) (Blocker, *past) {
	t.Helper()
	return Blocker{Mode: mode, Dir: filepath.Join(t.TempDir(), "blocked"), Getenv: func(name string) string {
		return map[string]string{"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}[name]
	}}, &past{}
}

// expect checks whether the attempt is blocked.
func expect(t *testing.T, g Blocker, p *past, a Attempt, want bool) {
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
		"at the threshold":                      {func(p *past) { p.respond(67_000) }, Attempt{}, true},
		"below the reserve":                     {func(p *past) { p.respond(71_999) }, Attempt{}, true},
		"within the reserve":                    {func(p *past) { p.respond(72_000) }, Attempt{}, false},
		"above the hard limit":                  {func(p *past) { p.respond(90_000) }, Attempt{}, false},
		"below the threshold":                   {func(p *past) { p.respond(66_999) }, Attempt{}, false},
		"nothing known":                         {func(*past) {}, Attempt{}, false},
		"no usage in the response":              {func(p *past) { p.respond(68_000).Usage = archive.Usage{} }, Attempt{}, false},
		"a copied response":                     {func(p *past) { p.respond(68_000).Copy = &archive.Ref{} }, Attempt{}, false},
		"a sub-agent's response is not counted": {func(p *past) { p.respond(68_000); p.respond(90_000).Sidechain = true }, Attempt{}, true},
		"usage from before the compaction":      {func(p *past) { p.respond(68_000); p.compact() }, Attempt{}, false},
		"an error was the last response":        {func(p *past) { p.respond(68_000); p.fail() }, Attempt{}, false},
		"an older error":                        {func(p *past) { p.fail(); p.respond(68_000) }, Attempt{}, true},
		"the client reports more tokens":        {func(p *past) { p.respond(68_000) }, Attempt{Tokens: 73_000}, false},
		"the client reports a smaller window":   {func(p *past) { p.respond(68_000) }, Attempt{Window: 90_000}, false},
		"manual":                                {func(p *past) { p.respond(68_000) }, Attempt{Trigger: "manual"}, false},
		"by a plugin":                           {func(p *past) { p.respond(68_000) }, Attempt{Trigger: "plugin"}, false},
		"an unknown trigger":                    {func(p *past) { p.respond(68_000) }, Attempt{Trigger: "?"}, false},
		"a sub-agent's context":                 {func(p *past) { p.respond(68_000) }, Attempt{Session: session + "~a1"}, true},
		"an invalid session id":                 {func(p *past) { p.respond(68_000) }, Attempt{Session: "../x"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, p := newBlocker(t, config.BlockHeadroom)
			c.past(p)
			expect(t, g, p, c.attempt, c.want)
		})
	}
}

// The client compacts a window that it does not watch only when the API refuses.
func TestUnwatchedWindowIsNotBlocked(t *testing.T) {
	t.Parallel()
	g, p := newBlocker(t, config.BlockHeadroom)
	g.Getenv = func(string) string { return "" }
	p.respond(168_000).Model = "claude-haiku-4-5"
	expect(t, g, p, Attempt{}, false)
	p.respond(968_000)
	expect(t, g, p, Attempt{}, true)
}

func TestModes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[config.Block][2]bool{ // with headroom, without
		config.BlockNever: {false, false}, "": {false, false}, config.BlockHeadroom: {true, false}, config.BlockAlways: {true, true},
	} {
		for i, tokens := range []int64{68_000, 90_000} {
			g, p := newBlocker(t, mode)
			p.respond(tokens)
			expect(t, g, p, Attempt{Trigger: "manual"}, false)
			expect(t, g, p, Attempt{}, want[i])
		}
	}
}

// TestBlockedOnceWithoutAResponse: without a new response blocking did not help.
func TestBlockedOnceWithoutAResponse(t *testing.T) {
	t.Parallel()
	for _, mode := range []config.Block{config.BlockHeadroom, config.BlockAlways} {
		g, p := newBlocker(t, mode)
		p.respond(68_000)
		expect(t, g, p, Attempt{}, true)
		expect(t, g, p, Attempt{}, false) // the API refused the next request
		expect(t, g, p, Attempt{Session: "another"}, true)
		p.respond(69_000)
		expect(t, g, p, Attempt{}, true) // tokens are left
	}
	g, p := newBlocker(t, config.BlockAlways) // without any response
	expect(t, g, p, Attempt{}, true)
	expect(t, g, p, Attempt{}, false)
}

// TestNotBlockedAfterAFailure until the next compaction.
func TestNotBlockedAfterAFailure(t *testing.T) {
	t.Parallel()
	for _, mode := range []config.Block{config.BlockHeadroom, config.BlockAlways} {
		g, p := newBlocker(t, mode)
		p.respond(68_000)
		expect(t, g, p, Attempt{}, true)
		p.fail()
		expect(t, g, p, Attempt{}, false)
		for range 2 * maxSteps {
			p.respond(69_000)
		}
		expect(t, g, p, Attempt{}, false)
		p.compact()
		p.respond(68_000)
		expect(t, g, p, Attempt{}, true)
		p.fail()
		expect(t, g, p, Attempt{}, false)
		expect(t, g, p, Attempt{Trigger: "manual"}, false) // resets the record
		p.respond(68_000)
		expect(t, g, p, Attempt{}, true)
	}
}

// TestNotBlockedWithoutARecord: without a record the session would be blocked forever.
func TestNotBlockedWithoutARecord(t *testing.T) {
	t.Parallel()
	g, p := newBlocker(t, config.BlockAlways)
	p.respond(68_000)
	if err := os.WriteFile(g.Dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if reason, err := g.Reason(t.Context(), p, Attempt{Session: session, Trigger: "auto"}); reason != "" || err == nil {
		t.Errorf("a file instead of the folder: %q, %v", reason, err)
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
		t.Errorf("a damaged record: %q, %v", reason, err)
	}
	expect(t, g, p, Attempt{}, true) // the record was deleted
	p.err = errors.New("no disk")
	if reason, err := g.Reason(t.Context(), p, Attempt{Session: session, Trigger: "auto"}); reason != "" || !errors.Is(err, p.err) {
		t.Errorf("no index: %q, %v", reason, err)
	}
}

// TestReason has the usage, the limit and the alternative on one line.
func TestReason(t *testing.T) {
	t.Parallel()
	g, p := newBlocker(t, config.BlockHeadroom)
	p.respond(68_000)
	reason, err := g.Reason(t.Context(), p, Attempt{Session: session, Trigger: "auto"})
	for _, want := range []string{"68000 of 100000", "until 72000", "compaction.block_auto", "/compact"} {
		if err != nil || !strings.Contains(reason, want) || strings.Contains(reason, "\n") {
			t.Errorf("%q, %v: no %q", reason, err, want)
		}
	}
}
