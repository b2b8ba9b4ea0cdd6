package compact_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/text"
)

// unusual are sessions of uncommon form. The golden files hold their restored
// context and steering text.
func unusual() map[string]*memory {
	all := map[string]*memory{}
	add := func(name string, build func(m *memory)) {
		m := newMemory()
		build(m)
		all[name] = m
	}
	add("one_giant_turn", func(m *memory) {
		m.prompt("Port every handler to the new router, one file at a time, and keep the tests green.")
		for i := range 120 {
			m.edit(fmt.Sprintf("/home/ada/shop/api/handler_%03d.go", i), "r.Get(", fmt.Sprintf("r.Method(http.MethodGet, \"/v2/handler/%03d\", HandleOrder%03d)", i, i))
			m.run("go test ./api/...", i%10/9, fmt.Sprintf("--- FAIL: TestHandler%03d (0.00s)\n    handler_test.go:%d: got 404, want 200", i, i))
		}
		m.reply("All 120 handlers are ported; the remaining failure is TestHandler119, because its route is registered twice in router.go.")
	})
	add("only_prompts", func(m *memory) {
		m.prompt("Explain how the retryBudget works.")
		for i := range 80 {
			m.prompt(fmt.Sprintf("And what about point %d of docs/retry_policy.md?", i))
		}
		m.prompt("Never mind. Always answer in German, please.")
	})
	add("only_failures", func(m *memory) {
		m.prompt("Make it build.")
		for i := range 30 {
			m.run(fmt.Sprintf("make target_%d", i%6), 2, fmt.Sprintf("cc: error: missing_header_%d.h: No such file or directory\nmake: *** [Makefile:%d: target_%d] Error 2", i%6, 10+i%6, i%6))
		}
	})
	add("other_scripts", func(m *memory) {
		m.prompt("決済クライアントの再試行を修正してください。ログにカード番号を出さないこと。")
		m.read("/home/ada/shop/決済/クライアント.go", "package 決済\nfunc 再試行(回数 int) error {\n\treturn payment_gateway.Retry(回数)\n}")
		m.reply("原因は payment_gateway.Retry が上限を見ていないことです。")
		m.edit("/home/ada/shop/決済/クライアント.go", "return payment_gateway.Retry(回数)", "return payment_gateway.RetryWithin(回数, 最大回数)")
		m.run("go test ./決済/...", 1, "--- FAIL: Test再試行 (0.00s)\n    クライアント_test.go:12: RetryWithin が 2 回呼ばれた")
		m.prompt("А теперь по-русски: исправь тест в файле клиент_test.go.")
		m.reply("Тест ждёт RetryWithin один раз, потому что шлюз отвечает сразу.")
	})
	add("hundred_compactions", func(m *memory) {
		m.prompt("Keep migrating tables until all of them are done.")
		for i := range 100 {
			m.reply(fmt.Sprintf("Table table_%03d is migrated because its index idx_%03d was rebuilt.", i, i))
			m.run(fmt.Sprintf("psql -f migrate_%03d.sql", i), 0, "ALTER TABLE")
			m.compact(fmt.Sprintf("1. The tables up to table_%03d are migrated with migrate_tables.sh; idx_%03d was rebuilt.", i, i))
		}
		m.reply("The next one is table_100, which needs lock_timeout set.")
	})
	return all
}

func TestUnusualSessionsGolden(t *testing.T) {
	for name, m := range unusual() {
		t.Run(name, func(t *testing.T) {
			b := restore(t, m, compact.Request{Budget: 2500})
			checkFenced(t, b.Text, 2500)
			kept := preserve(t, m, compact.Request{Budget: 2500})
			kept = kept[max(0, strings.Index(kept, text.FenceOpen)):] // without the rules
			golden(t, "session_"+name, b.Text+"\n\n"+kept)
		})
	}
}

// The facts that each of them must contain, whatever the selection.
func TestUnusualSessionsFacts(t *testing.T) {
	sessions := unusual()
	for name, want := range map[string][]string{
		"one_giant_turn":      {"Latest request: Port every handler", "TestHandler119, because its route is registered twice in router.go", "ran `go test ./api/...`, failed (exit 1)", "handler_119.go"},
		"only_prompts":        {"Latest request: Never mind. Always answer in German, please.", "User: Explain how the retryBudget works.", "User: And what about point 79 of docs/retry_p…"},
		"only_failures":       {"Latest request: Make it build.", "ran `make target_5`, failed (exit 2)", "ran `make target_0`, failed (exit 2)"},
		"other_scripts":       {"Latest request: А теперь по-русски", "カード番号を出さないこと", "決済/クライアント.go", "RetryWithin"},
		"hundred_compactions": {"Latest request: Keep migrating tables", "table_100, which needs lock_timeout set", "table_099 is migrated because"},
	} {
		text := restore(t, sessions[name], compact.Request{Budget: 2500}).Text
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: %q is missing in\n%s", name, w, text)
			}
		}
	}
	all := restore(t, sessions["hundred_compactions"], compact.Request{Budget: 60000}).Text
	if !strings.Contains(all, "up to table_099") || strings.Contains(all, "up to table_098") {
		t.Errorf("want only the newest of a hundred summaries:\n%s", all)
	}
}

func TestRestoreCases(t *testing.T) {
	for _, c := range []struct {
		name            string
		build           func(m *memory)
		wanted, nothing []string
	}{
		{"the first request of a very long session", func(m *memory) {
			m.prompt("Write the importer for ledger_export.csv.")
			for i := range 200 {
				m.prompt(fmt.Sprintf("Next, step %d.", i))
			}
		}, []string{"User: Write the importer for ledger_export.csv.", "Latest request: Next, step 199.", "User: Next, step 198."}, nil},
		{"a failure fixed by another spelling of the command", func(m *memory) {
			m.prompt("Fix it.")
			m.run("cd api && go test ./... 2>&1 | tail -5", 1, "--- FAIL: TestStaleName")
			m.run("go  test ./...", 0, "ok")
		}, nil, []string{"Open errors", "TestStaleName"}},
		{"a failure of another command stays", func(m *memory) {
			m.prompt("Fix it.")
			m.run("go test ./api", 1, "--- FAIL: TestOpenOne")
			m.run("go test ./web", 0, "ok")
		}, []string{"## Open errors", "ran `go test ./api`, failed (exit 1): --- FAIL: TestOpenOne"}, nil},
		{"a command that fails again", func(m *memory) {
			m.prompt("Fix it.")
			m.run("make check", 1, "first_failure happened")
			m.run("make check", 0, "ok")
			m.run("make check", 1, "second_failure happened")
		}, []string{"failed (exit 1): second_failure happened"}, []string{"first_failure"}},
		{"a command without a result", func(m *memory) {
			m.prompt("Deploy it.")
			m.begin()
			m.call(archive.Call{Name: "Bash", Kind: archive.CallCommand, Command: "deploy --stage prod_eu"})
			m.calls[0].LineResult = -1
			m.line++
		}, []string{"Last action: ran `deploy --stage prod_eu`, no result yet"}, []string{"Open errors"}},
		{"a line removed by a later edit", func(m *memory) {
			m.prompt("Rename it.")
			m.edit("/home/ada/shop/a.go", "", "func oldHandlerName(w Writer) error {")
			m.edit("/home/ada/shop/a.go", "func oldHandlerName(w Writer) error {", "func newHandlerName(w Writer) error {")
		}, []string{"newHandlerName", "a.go, changed 2 times"}, []string{"oldHandlerName"}},
		{"a line moved by an edit", func(m *memory) {
			m.prompt("Move it.")
			m.edit("/home/ada/shop/a.go", "func keptHandler(w Writer) error {", "// Now documented, see style_guide.md.\nfunc keptHandler(w Writer) error {")
		}, []string{"+ // Now documented, see style_guide.md."}, []string{"+ func keptHandler"}},
		{"line numbers of a listing", func(m *memory) {
			m.prompt("Look at it.")
			m.read("/home/ada/shop/b.go", "     7→\tfunc ParseLedgerRow(s string) (Row, error) {")
		}, []string{"func ParseLedgerRow(s string)"}, []string{"7→"}},
		{"an open task with its status", func(m *memory) {
			m.prompt("Plan it.")
			m.task("1", "Write ledger_import.go", "pending")
			m.task("2", "Delete ledger_old.go", "pending")
			m.task("3", "Cancel the ledger_cron job", "pending")
			m.task("1", "", "in_progress")
			m.task("2", "", "completed")
			m.task("3", "", "cancelled")
		}, []string{"in progress: Write ledger_import.go", "completed: Delete ledger_old.go"}, []string{"ledger_cron"}},
		{"a task without a subject", func(m *memory) {
			m.prompt("Plan it.")
			m.task("9", "", "in_progress")
		}, nil, []string{"## Tasks"}},
		{"terminal colours and reordering characters", func(m *memory) {
			m.prompt("Run \x1b[1mit\x1b[0m for me.")
			m.run("make", 1, "\x1b[31merror:\x1b[0m \u202ebad_symbol\u2066 is undefined")
		}, []string{"Run it for me.", "error: bad_symbol is undefined"}, []string{"\x1b", "\u202e"}},
		{"a rewind", func(m *memory) {
			m.prompt("Start.")
			m.prompt("Use the attemptOne approach.")
			m.reply("The attemptOne approach is in place because it was asked for.")
			m.turns[1].Dead = true
			m.prompt("Use the attemptTwo approach.")
		}, []string{"attemptTwo"}, []string{"attemptOne"}},
		{"other files that were read", func(m *memory) {
			m.prompt("Read them.")
			m.read("/home/ada/shop/one_read.go", "package one")
			m.read("/home/ada/shop/two_read.go", "package two")
			m.edit("/home/ada/shop/changed_file.go", "", "package changed")
		}, []string{"Read one_read.go", "Read two_read.go", "changed_file.go, changed once"}, nil},
		{"paths outside the session's folder stay whole", func(m *memory) {
			m.prompt("Look.")
			m.read("/etc/ledger/ledger.conf", "listen_port = 8443")
			m.read("/home/ada/shop/conf/ledger.conf", "listen_port = 9443")
		}, []string{"/etc/ledger/ledger.conf", "conf/ledger.conf"}, []string{"/home/ada/shop/"}},
		{"thinking counts as a reply", func(m *memory) {
			m.prompt("Think.")
			m.reply("On it.")
			m.passages[len(m.passages)-1].Label = ""
			m.reply("The lock_order must be table before index, because the vacuum takes them so.")
			m.passages[len(m.passages)-1].Label = "thinking"
		}, []string{"lock_order must be table before index"}, []string{"Last words: The lock_order"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			c.build(m)
			text := restore(t, m, compact.Request{Budget: 9500}).Text
			for _, w := range c.wanted {
				if !strings.Contains(text, w) {
					t.Errorf("%q is missing", w)
				}
			}
			for _, w := range c.nothing {
				if strings.Contains(text, w) {
					t.Errorf("%q is included", w)
				}
			}
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}

func TestRestoreWithInstructions(t *testing.T) {
	body := restore(t, shop(), compact.Request{Budget: 4000, Instructions: "  keep the \x1b[1mcitext\x1b[0m column\n"}).Text
	if !strings.Contains(body, "- /compact instructions: keep the citext column\n") {
		t.Errorf("the instructions are not first:\n%s", body)
	}
	if asked := strings.Index(body, "/compact instructions"); asked > strings.Index(body, "Latest request: ") {
		t.Errorf("the last request precedes them:\n%s", body)
	}
	if blank := restore(t, shop(), compact.Request{Budget: 4000, Instructions: " \n\t"}).Text; blank != restore(t, shop(), compact.Request{Budget: 4000}).Text {
		t.Error("blanks after /compact changed the text")
	}
	long := restore(t, shop(), compact.Request{Budget: 4000, Instructions: strings.Repeat("many words ", 1000)}).Text
	if n := text.Units(long); n > 4000 || !strings.Contains(long, "Latest request: Now the server side") || strings.Count(long, "many words") > 100 {
		t.Errorf("long instructions leave %d units:\n%s", n, long)
	}
}

// The time of a request only labels ages: a later request gives the same text.
func TestTimeOfARequestChangesNothing(t *testing.T) {
	now := restore(t, shop(), compact.Request{Budget: 3000, Now: start})
	later := restore(t, shop(), compact.Request{Budget: 3000, Now: start.Add(400 * 24 * time.Hour)})
	if now.Text != later.Text {
		t.Errorf("now\n%s\nlater\n%s", now.Text, later.Text)
	}
}

// The footer counts the entries that were left out.
func TestFooterCountsOmittedEntries(t *testing.T) {
	m := unusual()["one_giant_turn"]
	lasts := 1 << 30
	for _, budget := range []int{800, 2500, 9500} {
		b := restore(t, m, compact.Request{Budget: budget})
		if b.Left <= 0 || b.Left > lasts || !strings.Contains(b.Text, fmt.Sprintf("%d more items omitted.", b.Left)) {
			t.Errorf("budget %d: %d left, before it %d\n%s", budget, b.Left, lasts, b.Text)
		}
		lasts = b.Left
	}
	small := newMemory()
	small.prompt("Hello there, who calls applyDiscount?")
	if b := restore(t, small, compact.Request{Budget: 9500}); b.Left != 0 || strings.Contains(b.Text, "omitted") {
		t.Errorf("%d left of a session with one prompt:\n%s", b.Left, b.Text)
	}
}

func TestACancelledRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := compact.Restore(ctx, shop(), compact.Request{Session: sessionID, Budget: 9500}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestPreserveOrdersAndFilters(t *testing.T) {
	m := newMemory()
	m.prompt("Work.")
	m.task("1", "the first one", "pending")
	m.task("2", "the second one", "pending")
	m.task("2", "", "in_progress")
	m.task("3", "done already", "completed")
	m.edit("/home/ada/shop/a.go", "x", "y")
	m.edit("/home/ada/shop/b.go", "x", "y")
	m.edit("/home/ada/shop/a.go", "y", "z")
	m.edit("/home/ada/shop/refused.go", "x", "y")
	m.calls[len(m.calls)-1].Failed = true
	m.run("go test ./a", 1, "--- FAIL: TestA")
	m.run("go test ./a", 0, "ok")
	m.run("ls -la", 0, "total 0")
	m.reply("We keep the cache, because the gateway is slow. We keep the cache, because the gateway is slow.")
	m.reply("Let me look, because I must.")
	text := preserve(t, m, compact.Request{Budget: 9500})
	last := -1
	for _, want := range []string{
		"pending: the first one", "in progress: the second one", "We keep the cache, because the gateway is slow.", "a.go, changed 2 times", "b.go, changed once", "ran `go test ./a`, exit 0",
	} {
		at := strings.Index(text, want)
		if at < last || strings.Count(text, want) != 1 {
			t.Errorf("%q appears %d times, at %d, after %d", want, strings.Count(text, want), at, last)
		}
		last = at
	}
	for _, unwanted := range []string{"refused.go, changed", "TestA", "Let me look"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("%q is in it", unwanted)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestPreserveLimitsInstructions(t *testing.T) {
	body := preserve(t, shop(), compact.Request{Budget: 6000, Instructions: strings.Repeat("word ", 3000)})
	lead, rest, ok := strings.Cut(body, "\n\n")
	if n := text.Units(lead); !ok || n > 2000 || n < 1900 || !strings.HasSuffix(lead, "…") {
		t.Errorf("%d units of instructions end in %q", n, lead[max(0, len(lead)-20):])
	}
	if !strings.HasPrefix(rest, "Keep in the summary") || len(text.Records(rest)) != 1 {
		t.Errorf("after them:\n%s", rest)
	}
}

func TestPreserveReturnsErrors(t *testing.T) {
	m := shop()
	if _, err := compact.Preserve(t.Context(), m, compact.Request{Session: "other", Budget: 9500}); archive.ErrorCode(err) != archive.CodeNotFound {
		t.Errorf("unknown session: %v", err)
	}
	m.err = errors.New("disk on fire")
	if _, err := compact.Preserve(t.Context(), m, compact.Request{Session: sessionID, Budget: 9500}); !errors.Is(err, m.err) {
		t.Errorf("got %v", err)
	}
	if _, err := compact.Pointer(t.Context(), m, compact.PointerRequest{Projects: []string{"p"}}); !errors.Is(err, m.err) {
		t.Errorf("pointer: %v", err)
	}
}

func TestPointerGolden(t *testing.T) {
	m := newMemory()
	m.sessions = []archive.Session{{ID: sessionID, Title: "Add a discount code", Turns: 12, Last: start, Project: archive.Project{Name: "shop"}}}
	text, err := compact.Pointer(t.Context(), m, compact.PointerRequest{Projects: []string{"p"}, Now: start.Add(3 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "pointer", text)
}

func TestPointerSkipsEmptySessions(t *testing.T) {
	good := archive.Session{ID: sessionID, Title: "Real work", Turns: 3, Last: start}
	var empty []archive.Session
	for i := range 7 {
		empty = append(empty, archive.Session{ID: fmt.Sprintf("eeeeeee%d-1", i), Turns: i % 2, Last: start}) // no title, or no turn
	}
	for n, want := range map[int]bool{0: true, 3: true, 7: true} {
		m := newMemory()
		m.sessions = append(empty[:n:n], good)
		text, err := compact.Pointer(t.Context(), m, compact.PointerRequest{Projects: []string{"p"}, Now: start})
		if err != nil || strings.Contains(text, "Real work") != want {
			t.Errorf("after %d empty ones: %q, %v", n, text, err)
		}
	}
	long := good
	long.Title = strings.Repeat("a long title ", 50)
	m := newMemory()
	m.sessions = []archive.Session{long}
	text, err := compact.Pointer(t.Context(), m, compact.PointerRequest{Projects: []string{"p"}, Now: start})
	if err != nil || strings.Count(text, "a long title") > 10 || !strings.Contains(text, "…\", 3 turns") {
		t.Errorf("a long title: %q, %v", text, err)
	}
}
