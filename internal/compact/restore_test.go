package compact_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/text"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got+"\n" != string(want) {
		t.Errorf("%s differs; run go test -update and review the difference\n%s", path, got)
	}
}

func restore(t *testing.T, m *memory, req compact.Request) compact.Output {
	t.Helper()
	req.Session = m.session.ID
	b, err := compact.Restore(context.Background(), m, req)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRestoreGolden(t *testing.T) {
	for name, req := range map[string]compact.Request{
		"restore_9500":         {Budget: 9500},
		"restore_1500":         {Budget: 1500},
		"restore_500":          {Budget: 500},
		"handoff":              {Budget: 4000, From: "Claude Code", Changes: func(context.Context) string { return "web/checkout.tsx | 2 +-" }},
		"restore_instructions": {Budget: 1200, Instructions: "keep everything about migration 0042_discount_codes.sql"},
	} {
		golden(t, name, restore(t, shop(), req).Text)
	}
}

func TestRestoreFacts(t *testing.T) {
	text := restore(t, shop(), compact.Request{Budget: 9500}).Text
	for what, want := range map[string]string{
		"the last request":            "Latest request: Now the server side. I prefer plain SQL over the query builder.",
		"the first request":           "User: Add a discount code field to the checkout page.",
		"a preference, verbatim":      "It must never be logged, and please use the existing FormField component.",
		"the task in hand":            "in progress: Validate codes on the server",
		"a task not begun":            "pending: Write a migration for discount_codes",
		"a changed file":              "api/orders.py, changed once (+4 -1):",
		"what was done last":          "[2.3] ran `pytest",
		"a decisive line of it":       "SELECT percent FROM discount_codes",
		"an open error with its code": "ran `pytest api/test_orders.py -q`, failed (exit 1)",
		"the line that mattered":      "psycopg.errors.UndefinedTable: relation \"discount_codes\" does not exist",
		"its cause":                   "The table is missing because migration 0042_discount_codes.sql was not applied",
		"a cured error as what it is": "ran `npm test -- checkout`, exit 0",
		"a decision":                  "citext column discount_codes.code instead of lower()",
		"its reason":                  "so that the unique index holds",
		"how to expand":               "strandline show",
		"where it comes from":         "session 7f3a12cd, project shop, 2026-11-19",
		"a handle of a step":          "[2.2]",
		"relative paths":              "web/checkout.tsx",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q is missing", what, want)
		}
	}
	for what, unwanted := range map[string]string{
		"a dead branch":        "abandonedBranch",
		"the cured failure":    "applyDiscount is not a function",
		"the session's folder": "/home/ada/shop/",
	} {
		if strings.Contains(text, unwanted) {
			t.Errorf("%s: %q is included", what, unwanted)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestRestoreLeavesPromptsOut: a client that keeps the prompts gets the rest.
func TestRestoreLeavesPromptsOut(t *testing.T) {
	for _, budget := range []int{1500, 9500} {
		out := restore(t, shop(), compact.Request{Budget: budget, Prompted: true}).Text
		for text, want := range map[string]bool{
			"Add a discount code field": false, "I prefer plain SQL": false, "It must never be logged": false, "User:": false,
			"failed (exit 1)": true, "api/orders.py": true, "## The assistant's words": true,
		} {
			if strings.Contains(out, text) != want {
				t.Errorf("%d units hold %q: %t, want %t\n%s", budget, text, !want, want, out)
			}
		}
	}
}

// The text of a refused edit is in no file.
func TestRestoreOmitsRefusedEdits(t *testing.T) {
	m := newMemory()
	m.prompt("Rename the limiter of the gateway.")
	m.edit("/home/ada/shop/api/limit.go", "func limiter() int", "func gatewayLimiter() int")
	m.refusedEdit("/home/ada/shop/api/limit.go", "func gatewayLimiter() int", "func refusedLimiter() int")
	m.refusedEdit("/home/ada/shop/api/other.go", "func other() int", "func refusedOther() int")
	text := restore(t, m, compact.Request{Budget: 9500}).Text
	if !strings.Contains(text, "api/limit.go, changed once") || !strings.Contains(text, "func gatewayLimiter() int") {
		t.Errorf("the change is missing:\n%s", text)
	}
	if strings.Contains(text, "func refused") || strings.Contains(text, "other.go, changed") || !strings.Contains(text, "tried to change the file api/other.go, failed") {
		t.Errorf("a refused edit is included:\n%s", text)
	}
}

func TestRestorePrefersTheLatestRequest(t *testing.T) {
	text := restore(t, shop(), compact.Request{Budget: 1000}).Text
	if !strings.Contains(text, "discount_codes") || strings.Contains(text, "renderCheckout(over") {
		t.Errorf("a small budget must keep the newest work:\n%s", text)
	}
	if last, first := strings.Index(text, "Latest request: "), strings.Index(text, "User: "); last < 0 || first >= 0 && first < last {
		t.Error("the last request does not come first")
	}
}

func TestRestoreHandles(t *testing.T) {
	m := shop()
	b := restore(t, m, compact.Request{Budget: 9500})
	if len(b.Handles) < 8 {
		t.Fatalf("only %d handles", len(b.Handles))
	}
	seen := map[string]bool{}
	for _, h := range b.Handles {
		p, err := archive.ParseHandle(h)
		if err != nil || seen[h] || p.Turn < 0 || p.Turn >= len(m.turns) {
			t.Errorf("handle %q: %v", h, err)
		}
		seen[h] = true
	}
}

func TestRestoreAtLine(t *testing.T) {
	whole := shop()
	for cut := 1; cut <= whole.line; cut++ {
		part := shop()
		part.cutAt(cut)
		want := restore(t, part, compact.Request{Budget: 4000})
		got := restore(t, shop(), compact.Request{Budget: 4000, AtLine: cut})
		if got.Text != want.Text {
			t.Fatalf("cut at line %d:\n%s\n\na session that ends there:\n%s", cut, got.Text, want.Text)
		}
	}
}

// cutAt removes everything from a line on, as if the session had ended there.
func (m *memory) cutAt(line int) {
	m.turns = slices.DeleteFunc(m.turns, func(x archive.Turn) bool { return x.LineFrom >= line })
	m.passages = slices.DeleteFunc(m.passages, func(x archive.Passage) bool { return x.LineTo > line })
	m.calls = slices.DeleteFunc(m.calls, func(x archive.Call) bool { return x.LineUse >= line })
	for i := range m.calls {
		if c := &m.calls[i]; c.LineResult >= line {
			c.LineResult, c.Exit, c.Failed, c.Error = -1, nil, false, ""
		}
	}
	m.tasks = slices.DeleteFunc(m.tasks, func(x archive.TaskEvent) bool { return x.Line >= line })
	if n := len(m.turns); n > 0 {
		m.turns[n-1].Dead = false // no live turn follows it
	}
}

func TestRestoreAtLineIgnoresLaterSummaries(t *testing.T) {
	m := shop()
	plain := restore(t, m, compact.Request{Budget: 2000, AtLine: m.line})
	m.hooks = []archive.HookSummary{{Session: m.session.ID, Time: m.time(), Text: "SELECT percent FROM discount_codes 0042_discount_codes.sql UndefinedTable"}}
	if got := restore(t, m, compact.Request{Budget: 2000, AtLine: m.line}); got.Text != plain.Text {
		t.Error("a summary reported after the line changed the text")
	}
	if got := restore(t, m, compact.Request{Budget: 2000}); got.Text == plain.Text {
		t.Error("the pending summary had no effect on the whole session")
	}
}

func TestRestorePrefersTermsMissingInTheSummary(t *testing.T) {
	m := newMemory()
	m.prompt("Which of both limits is it?")
	m.reply("The retryBudget of internal/alpha.go limits how often a call is made again.")
	m.reply("The queueDepth of internal/omega.go limits how many calls may wait at once.")
	m.reply("Both are read in internal/start.go.")
	m.reply("Nothing else reads them at all.")
	for _, tt := range []struct{ summary, lacks string }{
		{"We found the retryBudget in internal/alpha.go.", "queueDepth of internal/omega.go"},
		{"We found the queueDepth in internal/omega.go.", "retryBudget of internal/alpha.go"},
	} {
		m.hooks = []archive.HookSummary{{Time: m.time(), Text: tt.summary}}
		if text := restore(t, m, compact.Request{Budget: 860}).Text; !strings.Contains(text, tt.lacks) {
			t.Errorf("summary %q: the block lacks %q\n%s", tt.summary, tt.lacks, text)
		}
	}
}

func TestRestoreUsesAnEarlierSummary(t *testing.T) {
	m := shop()
	m.compact("1. The discountLedger keeps each redemption of a code in api/ledger.py with its orderRef.")
	m.prompt("Go on.")
	m.reply("Going on with the ledger.")
	if text := restore(t, m, compact.Request{Budget: 9500}).Text; !strings.Contains(text, "discountLedger keeps each redemption") {
		t.Errorf("the previous summary is missing\n%s", text)
	}
	fresh := shop()
	fresh.compact("1. The discountLedger keeps each redemption of a code in api/ledger.py with its orderRef.")
	if text := restore(t, fresh, compact.Request{Budget: 9500}).Text; strings.Contains(text, "discountLedger") {
		t.Error("a summary in the context was repeated")
	}
}

func TestRestoreOfUnusualSessions(t *testing.T) {
	tests := []struct {
		name  string
		build func(m *memory)
		want  string // "" for no text
	}{
		{"empty", func(*memory) {}, ""},
		{"only a prompt", func(m *memory) { m.prompt("Hello there, port the parser to Go.") }, "Latest request: Hello there, port the parser to Go."},
		{"no prompt", func(m *memory) {
			m.reply("The parser must keep comments, because gofmt needs them.")
			m.run("go vet ./...", 0, "")
		}, "keep comments"},
		{"one giant turn", func(m *memory) {
			m.prompt("Fix all warnings.")
			for range 300 {
				m.edit("/home/ada/shop/api/a.py", "x", "def apply_rules(order: Order) -> None:  # noqa")
				m.run("make lint", 1, "api/a.py:10: W605 invalid escape sequence in rule_pattern")
			}
		}, "W605 invalid escape sequence"},
		{"a sub-agent's", func(m *memory) {
			m.session.ID = sessionID + "~a2c37f95"
			m.prompt("Find the callers of applyDiscount.")
			m.reply("There are two callers of applyDiscount in web/cart.tsx.")
		}, "[0] Latest request: Find the callers"},
		{"a prompt of blanks", func(m *memory) { m.prompt("   \n\t") }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			tt.build(m)
			body := restore(t, m, compact.Request{Budget: 3000}).Text
			if tt.want == "" && body != "" || !strings.Contains(body, tt.want) {
				t.Errorf("want %q in\n%s", tt.want, body)
			}
			if text.Units(body) > 3000 {
				t.Errorf("%d units", text.Units(body))
			}
		})
	}
}

func TestRestoreReadsABoundedNumberOfRows(t *testing.T) {
	long := func(turns int) int {
		m := newMemory()
		for range turns {
			m.prompt("next step of the work, please")
			for range 20 {
				m.run("make test", 0, "all 10 tests of order_rules passed")
			}
		}
		m.rows = 0
		restore(t, m, compact.Request{Budget: 9500})
		return m.rows
	}
	if few, many := long(100), long(1000); many > few+1000 {
		t.Errorf("%d rows of a session, %d of one ten times as long", few, many)
	}
}

func TestRestoreReturnsErrors(t *testing.T) {
	m := shop()
	_, err := compact.Restore(context.Background(), m, compact.Request{Session: "other", Budget: 9500})
	if archive.ErrorCode(err) != archive.CodeNotFound {
		t.Errorf("unknown session: %v", err)
	}
	m.err = errors.New("disk on fire")
	if _, err := compact.Restore(context.Background(), m, compact.Request{Session: m.session.ID, Budget: 9500}); !errors.Is(err, m.err) {
		t.Errorf("got %v", err)
	}
}

func TestRestoreOmitsSidechains(t *testing.T) {
	m := shop()
	m.reply("The helper found sidechainSecret in api/helper.py on its way.")
	m.passages[len(m.passages)-1].Label = "sidechain"
	m.run("cat api/sidechainFile.py", 0, "nothing of interest here")
	m.steps[len(m.steps)-1].Sidechain = true
	m.passages[len(m.passages)-1].Label = "sidechain"
	if text := restore(t, m, compact.Request{Budget: 9500}).Text; strings.Contains(text, "sidechain") {
		t.Errorf("a sub-agent's text is included:\n%s", text)
	}
}

// family is a session and the one it was forked from.
type family struct {
	*memory
	parent *memory
}

func (f family) Passages(ctx context.Context, sp archive.PassageSpan) ([]archive.Passage, error) {
	return f.of(sp.Session).Passages(ctx, sp)
}

func (f family) Calls(ctx context.Context, sp archive.CallSpan) ([]archive.Call, error) {
	return f.of(sp.Session).Calls(ctx, sp)
}

func (f family) Turns(ctx context.Context, sp archive.Span) ([]archive.Turn, error) {
	return f.of(sp.Session).Turns(ctx, sp)
}

func (f family) Rewound(ctx context.Context, sp archive.Span) ([]int, error) {
	return f.of(sp.Session).Rewound(ctx, sp)
}

func (f family) of(session string) *memory {
	if session == f.parent.session.ID {
		return f.parent
	}
	return f.memory
}

// A client's file that was replaced by an older copy has only copied rows.
func TestRestoreOfAnOlderCopyIncludesItsRows(t *testing.T) {
	before, after := shop(), newMemory()
	before.session.ID += "@1"
	after.session.Generation = 2
	after.turns = []archive.Turn{{Session: sessionID, Copy: &archive.Ref{Session: before.session.ID, Turn: 0, Step: -1}}}
	b, err := compact.Restore(context.Background(), family{after, before}, compact.Request{Session: sessionID, Budget: 9500})
	if err != nil {
		t.Fatal(err)
	}
	if want := "Add a discount code field"; !strings.Contains(b.Text, want) || strings.Contains(b.Text, "UndefinedTable") {
		t.Errorf("want %q and no later turn:\n%s", want, b.Text)
	}
}

func TestRestoreOfAForkIncludesItsParent(t *testing.T) {
	parent, fork := shop(), newMemory()
	parent.prompt("Only the parent went on with parentOnly.")
	parent.reply("The parentOnly function was written here, later than the fork.")
	fork.session.ID, fork.session.Relation, fork.session.Parent = "ffff0000-1111", archive.RelationFork, parent.session.ID
	fork.turns = []archive.Turn{{Session: fork.session.ID, Copy: &archive.Ref{Session: sessionID, Turn: 2, Step: -1}}}
	fork.steps = []archive.Step{{Session: fork.session.ID, Index: 3, Copy: &archive.Ref{Session: sessionID, Turn: 2, Step: 3}}}
	fork.turn, fork.step, fork.line = 0, 3, 20
	fork.prompt("Try the same with a trigger instead.")
	fork.reply("A trigger on discount_codes would hide the rule, so that nobody finds it.")
	b, err := compact.Restore(context.Background(), family{fork, parent}, compact.Request{Session: fork.session.ID, Budget: 9500})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"[1] Latest request: Try the same with a trigger", "[7f3a12cd/0] User: Add a discount code field", "[7f3a12cd/2.2] api/orders.py", "UndefinedTable",
	} {
		if !strings.Contains(b.Text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, unwanted := range []string{"parentOnly", "0042_discount_codes.sql", "Redux", "/-"} {
		if strings.Contains(b.Text, unwanted) {
			t.Errorf("%q is included", unwanted)
		}
	}
	if t.Failed() {
		t.Log(b.Text)
	}
}
