package browse

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/index/terms"
	"strandline/internal/recall"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

const session = "7f3a12cd-0000-4000-8000-000000000001"

// fake is an archive with fixed answers.
type fake struct {
	hits     []recall.Hit
	blocks   []app.Block
	more     recall.Result // other fields of the result
	err      error
	readErr  error
	searched []string
	read     []string
	ctx      context.Context
}

func (f *fake) Search(ctx context.Context, q app.SearchQuery) (recall.Result, error) {
	search := q.Text
	if q.All {
		search += " all"
	}
	if !q.Since.IsZero() {
		search += " " + noon().Sub(q.Since).String()
	}
	f.searched, f.ctx = append(f.searched, search), ctx
	r := f.more
	r.Query, r.Hits, r.Terms = q.Text, f.hits, terms.Query(q.Text)
	return r, f.err
}

func (f *fake) Place(_ context.Context, at archive.Handle) (app.Place, error) {
	f.read = append(f.read, archive.Ref(at).Handle())
	return app.Place{Blocks: f.blocks}, f.readErr
}

// withHits returns an archive with a few hits and a turn to read.
func withHits() *fake {
	f := &fake{}
	for i, h := range []recall.Hit{
		{Kind: archive.KindPrompt, Text: "Make the payment retry wait longer, the gateway bans clients that retry within a second"},
		{Kind: archive.KindCommand, Text: "go test ./pay -run TestRetryPolicy -count=300\nok\tpay\t2.1s"},
		{Kind: archive.KindOutput, Text: "支払いの再試行を倍にする 😀 retry policy " + strings.Repeat("長い", 60)},
		{Kind: archive.KindReply, Text: strings.Repeat("x", 300) + " retry " + strings.Repeat("y", 300)},
		{Kind: archive.KindSummary, Text: "Authentication failures are logged\x1b]0;owned\x07.", Related: true, LineFrom: -1},
	} {
		h.Ref = archive.Ref{Session: session, Turn: i + 8, Step: i - 1}
		h.Handle, h.Session, h.Project = h.Ref.Handle(), session, "shop"
		h.Time = noon().Add(-time.Duration(i*i*i) * 13 * time.Hour)
		if h.LineFrom == 0 {
			h.LineFrom, h.LineTo = 4, 6
		}
		f.hits = append(f.hits, h)
	}
	f.blocks = []app.Block{
		{Line: 1, Kind: "prompt", Text: "Now look at the retry of payments."},
		{Line: 2, Kind: "attachment", Text: "an attachment"},
		{Line: 3, Kind: "reply", Text: strings.Repeat("I look at one file after the other, and at the tests beside it. ", 40)},
		{Line: 4, Kind: "tool_use", Name: "Bash", Text: "command: go test ./pay -run TestRetryPolicy -count=300"},
		{Line: 5, Kind: "tool_result", Name: "Bash", Error: true, Text: "--- FAIL: TestRetryPolicy\n\tretry_test.go:41: waited \x1b[31m0s\x1b[0m\x1b[2J\n支払いの再試行を倍にする 😀" + strings.Repeat("長い", 80) + "\n" + strings.Repeat("z", 250)},
		{Line: 6, Kind: "reply", Text: "The retry doubles now."},
	}
	return f
}

// screenOf returns a browser of a size, with the results of a query.
func screenOf(t *testing.T, f *fake, width, height int, query string) *Model {
	t.Helper()
	m := New(t.Context(), Options{Archive: f, Project: "shop", Sessions: 12, Now: noon})
	run(m, m.Init())
	send(m, tea.WindowSizeMsg{Width: width, Height: height})
	if query != "" {
		typeIn(m, query)
	}
	return m
}

// send passes a message to the model and runs the resulting commands.
func send(m *Model, msg tea.Msg) {
	_, cmd := m.Update(msg)
	run(m, cmd)
}

func run(m *Model, cmd tea.Cmd) {
	if cmd != nil {
		send(m, cmd())
	}
}

// typeIn types a text and starts its search.
func typeIn(m *Model, text string) {
	for _, r := range text {
		m.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	send(m, paused{m.searchSeq})
}

// press passes keys to the model by their names.
func press(m *Model, names ...string) (last tea.Cmd) {
	for _, name := range names {
		_, last = m.Update(keyNamed(name))
		if name == "y" || name == "ctrl+y" || name == "q" {
			continue // these commands are the framework's
		}
		run(m, last)
	}
	return last
}

func keyNamed(name string) tea.KeyPressMsg {
	codes := map[string]rune{
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "enter": tea.KeyEnter, "esc": tea.KeyEscape,
		"tab": tea.KeyTab, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd,
		"backspace": tea.KeyBackspace, "delete": tea.KeyDelete,
	}
	if code, ok := codes[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if letter, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: []rune(letter)[0], Mod: tea.ModCtrl}
	}
	if name == "space" {
		return tea.KeyPressMsg{Code: ' ', Text: " "}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// shown returns the screen without colours and checks that it fits.
func shown(t *testing.T, m *Model) string {
	t.Helper()
	content := m.View().Content
	lines := strings.Split(content, "\n")
	if len(lines) > m.height {
		t.Errorf("%d lines on a screen of %d", len(lines), m.height)
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); w > m.width {
			t.Errorf("line %d takes %d cells of %d: %q", i, w, m.width, line)
		}
		if plain := ansi.Strip(line); strings.ContainsAny(plain, "\x1b\x07\t") {
			t.Errorf("line %d holds control characters: %q", i, plain)
		}
		lines[i] = strings.TrimRight(ansi.Strip(line), " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// golden compares got with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o700), os.WriteFile(path, []byte(got), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; -update rewrites it:\n%s", path, got)
	}
}

func wantShown(t *testing.T, m *Model, texts ...string) {
	t.Helper()
	got := shown(t, m)
	for _, text := range texts {
		if !strings.Contains(got, text) {
			t.Errorf("the screen does not show %q:\n%s", text, got)
		}
	}
}

func wantSearched(t *testing.T, f *fake, want ...string) {
	t.Helper()
	if fmt.Sprint(f.searched) != fmt.Sprint(want) {
		t.Errorf("searched %q, want %q", f.searched, want)
	}
}
