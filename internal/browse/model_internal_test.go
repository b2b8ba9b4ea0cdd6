package browse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"strandline/internal/app"
	"strandline/internal/recall"
)

func windowOf(width, height int) tea.WindowSizeMsg {
	return tea.WindowSizeMsg{Width: width, Height: height}
}

func TestSearchStartsAfterAPause(t *testing.T) {
	f := withHits()
	m := screenOf(t, f, 80, 24, "")
	m.Update(keyNamed("r"))
	early := paused{m.searchSeq}
	m.Update(keyNamed("e"))
	wantShown(t, m, "searching…")
	send(m, early) // more was typed since
	wantSearched(t, f)
	send(m, paused{m.searchSeq})
	wantSearched(t, f, "re")
	wantShown(t, m, "1 of 5 hits")
}

func TestOutdatedResultsAreDropped(t *testing.T) {
	f := withHits()
	m := screenOf(t, f, 80, 24, "")
	m.Update(keyNamed("r"))
	_, slow := m.Update(paused{m.searchSeq})
	stale := slow()
	typeIn(m, "etry")
	f.hits = nil
	f.blocks = nil
	m.Update(stale) // a search of "r" that took long
	if len(m.result.Hits) != 5 || m.result.Query != "retry" {
		t.Errorf("shown are the hits of %q", m.result.Query)
	}
	// A read of a hit that is no longer selected.
	m.Update(read{m.readSeq - 1, nil, errors.New("stale")})
	if m.reader.err != nil {
		t.Error("an outdated read is shown")
	}
}

func TestTypingCancelsTheRunningSearch(t *testing.T) {
	f := withHits()
	m := screenOf(t, f, 80, 24, "")
	m.Update(keyNamed("r"))
	var during error
	m.opt.Archive = callback{f, func(ctx context.Context) {
		m.Update(keyNamed("e"))
		during = ctx.Err()
	}}
	_, cmd := m.Update(paused{m.searchSeq})
	cmd()
	if !errors.Is(during, context.Canceled) {
		t.Errorf("the search was not cancelled: %v", during)
	}
}

// callback calls then during a search.
type callback struct {
	*fake
	then func(ctx context.Context)
}

func (w callback) Search(ctx context.Context, _ app.SearchQuery) (recall.Result, error) {
	w.then(ctx)
	return recall.Result{}, ctx.Err()
}

func TestFilters(t *testing.T) {
	f := withHits()
	m := screenOf(t, f, 80, 24, "retry")
	wantShown(t, m, "shop · any time")
	press(m, "ctrl+t")
	wantShown(t, m, "shop · 24 hours")
	press(m, "tab", "t", "p")
	wantShown(t, m, "all projects · 7 days")
	press(m, "t", "t", "p")
	wantShown(t, m, "shop · any time")
	wantSearched(t, f, "retry", "retry 24h0m0s", "retry 168h0m0s", "retry all 168h0m0s", "retry all 720h0m0s", "retry all", "retry")
}

func TestSelectingReadsTheText(t *testing.T) {
	f := withHits()
	m := screenOf(t, f, 80, 24, "retry")
	press(m, "down", "ctrl+n", "up", "tab", "j", "k", "G", "g")
	if got, want := f.read, []string{"7f3a12cd/8", "7f3a12cd/9.0", "7f3a12cd/10.1", "7f3a12cd/9.0", "7f3a12cd/10.1", "7f3a12cd/9.0", "7f3a12cd/8"}; !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
	press(m, "k", "up")
	if m.selected != 0 {
		t.Errorf("hit %d is selected", m.selected)
	}
}

func TestOpening(t *testing.T) {
	f := withHits()
	m := screenOf(t, f, 80, 24, "retry")
	press(m, "down", "enter")
	wantShown(t, m, "7f3a12cd/9.0  shop", "enter full turn")
	press(m, "enter")
	wantShown(t, m, "7f3a12cd/9  shop")
	if f.read[len(f.read)-1] != "7f3a12cd/9" {
		t.Errorf("read %q", f.read)
	}
	press(m, "home")
	wantShown(t, m, "Now look at the retry of payments.")
	press(m, "n")
	top := m.reader.top
	press(m, "n", "N", "N")
	if m.reader.top > top {
		t.Errorf("the match before row %d is at %d", top, m.reader.top)
	}
	press(m, "G")
	wantShown(t, m, "The retry doubles now.")
	end := m.reader.top
	press(m, "down", "space")
	if m.reader.top != end {
		t.Error("scrolled past the end")
	}
	press(m, "up", "pgup", "ctrl+t")
	if m.reader.top >= end || m.age != 0 {
		t.Errorf("row %d of %d, filter %d", m.reader.top, end, m.age)
	}
	press(m, "esc")
	wantShown(t, m, "search › retry", "── 7f3a12cd/9.0")
}

func TestCopying(t *testing.T) {
	m := screenOf(t, withHits(), 80, 24, "retry")
	for _, keys := range [][]string{{"ctrl+y"}, {"tab", "y"}, {"enter", "y"}} {
		cmd := press(m, keys...)
		if cmd == nil || fmt.Sprint(cmd()) != fmt.Sprint(tea.SetClipboard("7f3a12cd/8")()) {
			t.Errorf("%v copies nothing", keys)
		}
		wantShown(t, m, "copied 7f3a12cd/8")
	}
	m = screenOf(t, &fake{}, 80, 24, "retry")
	if press(m, "ctrl+y") != nil {
		t.Error("copied without hits")
	}
	press(m, "enter")
	if m.opened {
		t.Error("opened without hits")
	}
}

func TestLeaving(t *testing.T) {
	for name, c := range map[string]struct {
		query string
		keys  []string
		quits bool
	}{
		"esc clears the query":     {"retry", []string{"esc"}, false},
		"esc quits if it is empty": {"", []string{"esc"}, true},
		"q edits the query":        {"retry", []string{"q"}, false},
		"q quits in the list":      {"retry", []string{"tab", "q"}, true},
		"q closes the text":        {"retry", []string{"enter", "q"}, false},
		"ctrl+c quits":             {"retry", []string{"enter", "ctrl+c"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := screenOf(t, withHits(), 80, 24, c.query)
			for _, k := range c.keys[:len(c.keys)-1] {
				press(m, k)
			}
			_, cmd := m.Update(keyNamed(c.keys[len(c.keys)-1]))
			if quits := isQuit(cmd); quits != c.quits {
				t.Errorf("quits: %t", quits)
			}
		})
	}
	m := screenOf(t, withHits(), 80, 24, "retry")
	press(m, "esc")
	if m.query.String() != "" || len(m.result.Hits) > 0 {
		t.Errorf("%q is left with %d hits", m.query.String(), len(m.result.Hits))
	}
}

func isQuit(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	msg := make(chan tea.Msg, 1) // a tick blocks
	go func() { msg <- cmd() }()
	_, quit := (<-msg).(tea.QuitMsg)
	return quit
}

func TestPasting(t *testing.T) {
	f := withHits()
	m := screenOf(t, f, 80, 24, "")
	m.Update(tea.PasteMsg{Content: "panic:\n\x1b[2Jgoroutine\t1\u202e"})
	if got := m.query.String(); got != "panic: [2Jgoroutine 1" {
		t.Errorf("pasted %q", got)
	}
}

func TestInitialQuery(t *testing.T) {
	f := withHits()
	m := New(t.Context(), Options{Archive: f, Project: "shop", All: true, Query: "retry", Sessions: 12, Now: noon})
	if m.View().Content != "" {
		t.Error("rendered before the size is known")
	}
	send(m, windowOf(80, 24))
	run(m, m.Init())
	wantSearched(t, f, "retry all")
	wantShown(t, m, "search › retry", "all projects", "1 of 5 hits")
	if c := m.View().Cursor; c == nil || c.X != len("search x retry") {
		t.Errorf("the cursor is at %+v", c)
	}
}

func TestOwnAndEmptyBlocksAreHidden(t *testing.T) {
	var p reader
	p.fill([]app.Block{{Kind: "reply", Text: "ours", Own: true}, {Kind: "reply", Text: " \n"}}, nil)
	if len(p.blocks) != 0 {
		t.Errorf("%+v", p.blocks)
	}
}
