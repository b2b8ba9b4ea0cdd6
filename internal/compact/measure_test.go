package compact_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"strandline/internal/archive"
	"strandline/internal/compact"
)

const block9500 = 9500

// compacted is the shop session with a compaction and the work after it.
func compacted(summary string) *memory {
	m := shop()
	m.compact(summary)
	goOn(m)
	return m
}

// goOn uses many terms of the shop session, and some new ones.
func goOn(m *memory) {
	m.prompt("Go on with UnknownDiscount and the brandNewThing.")
	m.reply("Migration 0042_discount_codes.sql is not applied; apply_discount in api/orders.py raises psycopg.errors.UndefinedTable.")
	m.edit("/home/ada/shop/api/orders.py", "raise UnknownDiscount(code)", "raise UnknownDiscount(code) from None\nlog_nothing(secretFields)")
	m.run("pytest api/test_orders.py -q && npm test -- checkout.test.tsx", 0, "neverNeeded_output web/reduxStore.ts")
	m.reply("Now DiscountField, renderCheckout and CheckoutProps in web/testkit.ts and web/checkout.tsx match again.")
}

func outcome(t *testing.T, m *memory, index int) compact.Outcome {
	t.Helper()
	o, err := compact.Measure(t.Context(), m, m.compactions[index], block9500, nil)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestMeasureShares(t *testing.T) {
	for _, test := range []struct {
		name, summary  string
		least, atMost  float64 // kept
		restoredBetter bool
	}{
		{"a summary without terms", "The user works on a shop.", 0, 0, true},
		{
			"a summary with terms", "The user wants a discount field. UnknownDiscount is raised in api/orders.py by apply_discount when a code is missing.",
			0.1, 0.5, true,
		},
		{
			"a bare list of names", "UnknownDiscount orders.py apply_discount secretFields DiscountField renderCheckout CheckoutProps",
			0, 0, true,
		},
		{
			"one name a line, up to a limit", "- UnknownDiscount\n- api/orders.py\n- apply_discount",
			0.1, 0.5, true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := outcome(t, compacted(test.summary), 0)
			if !o.HasShares || o.Needed < 10 {
				t.Fatalf("no shares for %d terms", o.Needed)
			}
			if o.Kept < test.least || o.Kept > test.atMost {
				t.Errorf("kept %.3f, want %.1f to %.1f", o.Kept, test.least, test.atMost)
			}
			if test.restoredBetter && o.Restored <= o.Kept {
				t.Errorf("restored %.3f, kept %.3f", o.Restored, o.Kept)
			}
			if o.Together < math.Max(o.Kept, o.Restored) || o.Together > o.Kept+o.Restored+1e-9 || o.Together > 1 {
				t.Errorf("together %.3f, kept %.3f and restored %.3f", o.Together, o.Kept, o.Restored)
			}
			if o.Given || o.Handles != nil || o.Used != nil {
				t.Errorf("Given is set: %+v", o)
			}
		})
	}
}

func TestMeasureCountsKnownTerms(t *testing.T) {
	with := outcome(t, compacted("-"), 0).Needed
	m := compacted("-")
	m.reply("freshName and other_fresh_name in brand/new/file.go are new, so nothing could have kept them.")
	m.passage(archive.KindReply, "thinking", "I could look at email_label in FormField.")
	m.passage(archive.KindReply, "sidechain", "I found email_label in FormField.")
	if n := outcome(t, m, 0).Needed; n != with {
		t.Errorf("%d needed, %d without words that were new, thought, or a sub-agent's", n, with)
	}
	m.reply("FormField takes email_label.")
	if n := outcome(t, m, 0).Needed; n != with+2 {
		t.Errorf("%d needed, want two more than %d", n, with)
	}
}

func TestMeasureLeavesOutWhatEveryProgramKnows(t *testing.T) {
	needed := func(command string) int {
		m := shop()
		m.run("gh pr view --json title 2>/dev/null --merge-discount; ls /home/ada/shop", 0, "")
		m.compact("The user works on a shop.")
		goOn(m)
		m.run(command, 0, "")
		return outcome(t, m, 0).Needed
	}
	base := needed("true")
	if n := needed("gh pr list --json number 2>/dev/null; ls /home/ada/shop"); n != base {
		t.Errorf("%d terms are needed, %d without --json, /dev/null and the session's folder", n, base)
	}
	if n := needed("shop --merge-discount"); n != base+1 {
		t.Errorf("%d terms are needed with a flag of the project, %d without", n, base)
	}
}

func TestMeasureEndsAtTheNextCompaction(t *testing.T) {
	m := compacted("-")
	want := outcome(t, m, 0)
	m.compact("Second: apply_discount in api/orders.py is done and tested.")
	m.prompt("And FormField with email_label, please.")
	m.reply("FormField takes email_label.")
	if got := outcome(t, m, 0); got.Needed != want.Needed || got.Kept != want.Kept || got.Restored != want.Restored {
		t.Errorf("rows after the next compaction count:\n%+v\n%+v", got, want)
	}
	second := outcome(t, m, 1)
	if second.HasShares || second.Needed != 2 || second.Kept != 0 || second.Together != 0 {
		t.Errorf("shares for two terms: %+v", second)
	}
}

func TestMeasureUsedPlaces(t *testing.T) {
	const summary = "The user wants discounts. The test runs with pytest in api/test_orders.py -q for now."
	m := compacted(summary)
	cut := m.compactions[0]
	block := restore(t, m, compact.Request{AtLine: cut.Line, Budget: block9500})
	m.injected = []archive.Injection{
		{ID: "1", Session: sessionID, Time: cut.Time.Add(-time.Second), InjectedFact: archive.InjectedFact{Event: "PreCompact/auto", Chars: 900}},
		{ID: "2", Session: sessionID, Time: cut.Time.Add(-time.Second), InjectedFact: archive.InjectedFact{
			Event: "SessionStart/compact", Chars: block9500, Handles: append([]string{"7f3a12cd/99", "elsewher/1.2"}, block.Handles...),
		}},
	}
	o := outcome(t, m, 0)
	if !o.Given || len(o.Handles) != len(block.Handles)+2 {
		t.Fatalf("given %v, handles %v", o.Given, o.Handles)
	}
	used := map[string]bool{}
	for _, h := range o.Used {
		used[h] = true
	}
	if len(o.Used) == 0 || len(o.Used) >= len(o.Handles) || used["7f3a12cd/99"] || used["elsewher/1.2"] {
		t.Errorf("used %v of %v", o.Used, o.Handles)
	}
	// The edit that introduced UnknownDiscount was needed; the first step was not.
	if edit := (archive.Ref{Session: sessionID, Turn: 2, Step: 2}).Handle(); !used[edit] {
		t.Errorf("%s is not among %v", edit, o.Used)
	}
	if used["7f3a12cd/0.0"] {
		t.Errorf("a place with an announcement counts as used: %v", o.Used)
	}
}

func TestMeasureAssignsInjectionsByTime(t *testing.T) {
	m := compacted("-")
	m.compact("-")
	goOn(m)
	for i, c := range m.compactions {
		m.injected = []archive.Injection{{Time: c.Time.Add(30 * time.Second), InjectedFact: archive.InjectedFact{Event: "SessionStart/compact", Chars: 800, Handles: []string{"7f3a12cd/0"}}}}
		for k := range m.compactions {
			if o := outcome(t, m, k); o.Given != (k == i) {
				t.Errorf("an injection of compaction %d: given %v for %d", i, o.Given, k)
			}
		}
	}
}

// The index does not hold the replacement conversation, so it is produced again.
func TestMeasureReplacement(t *testing.T) {
	m := shop()
	m.compact("-")
	cut := &m.compactions[0]
	cut.Ours, cut.SummaryLine, cut.Trigger = true, -1, "plugin"
	goOn(m)
	m.injected = []archive.Injection{{Time: cut.Time, InjectedFact: archive.InjectedFact{Event: "session.compact/auto", Chars: 4000, Budget: 12_345, Handles: []string{"7f3a12cd/0.0", "7f3a12cd/2.2"}}}}
	again := func(_ context.Context, c archive.Compaction, budget int) (string, error) {
		if budget != 12_345 {
			t.Errorf("produced again with %d tokens, want the recorded size", budget)
		}
		return "The server raises UnknownDiscount for a code that it does not know.", map[bool]error{false: errors.New("another compaction")}[c == *cut]
	}
	o, err := compact.Measure(t.Context(), m, *cut, block9500, again)
	if err != nil {
		t.Fatal(err)
	}
	if !o.HasShares || !o.Given || o.Kept <= 0 || o.Kept >= 1 || o.Restored != 0 || o.Together != o.Kept || len(o.Handles) != 2 || len(o.Used) != 1 || o.Used[0] != "7f3a12cd/2.2" {
		t.Errorf("%+v", o)
	}
	o, err = compact.Measure(t.Context(), m, *cut, block9500, func(context.Context, archive.Compaction, int) (string, error) {
		return "", errors.New("the log is damaged")
	})
	if err != nil || o.HasShares || !o.Given || o.Kept != 0 {
		t.Errorf("a conversation that cannot be produced again: %+v, %v", o, err)
	}
}

func TestMeasureWithoutNeededTerms(t *testing.T) {
	for name, m := range map[string]*memory{
		"nothing after the boundary": func() *memory { m := shop(); m.compact("text"); return m }(),
		"nothing before it":          func() *memory { m := newMemory(); m.compact("text"); goOn(m); return m }(),
		"no row at all":              func() *memory { m := newMemory(); m.compact(""); return m }(),
	} {
		t.Run(name, func(t *testing.T) {
			o := outcome(t, m, 0)
			if want := (compact.Outcome{Compaction: m.compactions[0]}); !reflect.DeepEqual(o, want) {
				t.Errorf("%+v", o)
			}
		})
	}
}

func TestMeasureReturnsErrors(t *testing.T) {
	m := compacted("-")
	m.err = errors.New("the disk failed")
	if _, err := compact.Measure(context.Background(), m, m.compactions[0], block9500, nil); !errors.Is(err, m.err) {
		t.Errorf("error %v", err)
	}
}

func TestMeasureProperties(t *testing.T) {
	words := rapid.SampledFrom([]string{
		"loadConfig", "api/orders.py", "--dry-run", "v1.2.3", "retry_delay", "the", "cause", "is", "that", "because", "HandlerFunc", "\n", "0a1b2c3d4e", "web/form.tsx", "maxBackoff", "user_id",
	})
	text := rapid.Custom(func(r *rapid.T) string {
		s := ""
		for _, w := range rapid.SliceOfN(words, 0, 20).Draw(r, "words") {
			s += w + " "
		}
		return s
	})
	rapid.Check(t, func(r *rapid.T) {
		m := newMemory()
		for range rapid.IntRange(1, 30).Draw(r, "events") {
			switch rapid.IntRange(0, 5).Draw(r, "event") {
			case 0:
				m.prompt(text.Draw(r, "prompt"))
			case 1:
				m.compact(text.Draw(r, "summary"))
			case 2:
				m.run(text.Draw(r, "command"), 1, text.Draw(r, "output"))
			case 3:
				m.edit("web/form.tsx", text.Draw(r, "old"), text.Draw(r, "new"))
			default:
				m.reply(text.Draw(r, "reply"))
			}
		}
		budget := rapid.IntRange(0, 4000).Draw(r, "budget")
		for _, c := range m.compactions {
			o, err := compact.Measure(context.Background(), m, c, budget, nil)
			if err != nil {
				r.Fatal(err)
			}
			for _, share := range []float64{o.Kept, o.Restored, o.Together} {
				if math.IsNaN(share) || share < 0 || share > 1 {
					r.Fatalf("%+v", o)
				}
			}
			if o.Together < math.Max(o.Kept, o.Restored) || !o.HasShares && o.Together > 0 {
				r.Fatalf("%+v", o)
			}
		}
	})
}
