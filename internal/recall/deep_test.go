package recall_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/recall"
)

// longOutput is a passage whose first line only is in the index.
func longOutput(session string, turn int, lines ...string) (archive.Passage, *logs) {
	p := said(session, turn, 0, lines[0])
	p.Kind, p.Partial = archive.KindOutput, true
	p.LineFrom, p.LineTo = 1, 2
	return p, &logs{lines: map[string][]string{session: {"", strings.Join(lines, "\n"), "the needle of another line"}}}
}

func filler(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("line %d of a long output without the terms", i)
	}
	return out
}

func TestDeepFindsUnindexedText(t *testing.T) {
	text := append(filler(500), "ERROR E4711: the Needle is\tblunt")
	p, l := longOutput(alpha, 4, append(text, filler(500)...)...)
	s := newStore(p)
	res, err := newRecall(s).Deep(context.Background(), s, l, parsed(t, `e4711 "needle is blunt"`))
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Hits) == 0 {
		t.Fatal("no hit")
	}
	h := res.Hits[0]
	if h.Handle != "aaaaaaaa/4.0" || h.LineFrom != 1 || h.LineTo != 2 || !h.Deep || !strings.Contains(h.Text, "E4711") || len(h.Text) > archive.MaxPassage {
		t.Errorf("got %+v", h)
	}
	if l.scanned != 1 {
		t.Errorf("scanned %d lines, want the one that is indexed in part", l.scanned)
	}
}

func TestDeepSkipsIndexedText(t *testing.T) {
	p, l := longOutput(alpha, 4, "head", "the needle")
	p.Partial = false
	s := newStore(p)
	res, err := newRecall(s).Deep(context.Background(), s, l, recall.Request{Text: "needle"})
	if err != nil || len(res.Hits) != 0 || l.scanned != 0 {
		t.Errorf("hits %v, error %v, %d lines scanned", res.Hits, err, l.scanned)
	}
}

func TestDeepPutsIndexHitsFirst(t *testing.T) {
	p, l := longOutput(alpha, 4, append(filler(300), "a needle in the log")...)
	s := newStore(p, said(alpha, 5, 0, "a needle in the index"))
	res, err := newRecall(s).Deep(context.Background(), s, l, recall.Request{Text: "needle"})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Hits) < 2 || res.Hits[0].Deep || !res.Hits[1].Deep || res.Hits[1].Score >= res.Hits[0].Score {
		t.Errorf("got %+v", res.Hits)
	}
}

func TestDeepAppliesFilters(t *testing.T) {
	p, l := longOutput(beta, 4, append(filler(300), "the needle")...)
	s := newStore(p)
	for _, req := range []recall.Request{
		{Text: "needle", Projects: []string{"dir:/p"}},
		{Text: "needle", Since: now},
		{Text: "needle", Session: "bbbb/3"},
		{Text: "needle", Files: []string{"a.go"}},
		{Text: "needle thread"},
	} {
		if res, err := newRecall(s).Deep(context.Background(), s, l, req); err != nil || len(res.Hits) != 0 {
			t.Errorf("%+v: %v, %v", req, res.Hits, err)
		}
	}
	res, err := newRecall(s).Deep(context.Background(), s, l, recall.Request{Text: "needle", Session: "bbbb/4.0"})
	if err != nil || len(res.Hits) != 1 {
		t.Errorf("in its own step: %v, %v", res.Hits, err)
	}
}

func TestDeepStopsAtItsLimit(t *testing.T) {
	var lines []string
	for i := range 4000 {
		lines = append(lines, fmt.Sprintf("needle number %d", i))
	}
	p, l := longOutput(alpha, 4, lines...)
	s := newStore(p)
	s.passages[0].Text = "head"
	res, err := newRecall(s).Deep(context.Background(), s, l, recall.Request{Text: "needle", Limit: 3})
	if err != nil || len(res.Hits) != 3 {
		t.Errorf("%d hits, %v", len(res.Hits), err)
	}
}

func TestDeepCanBeCancelled(t *testing.T) {
	p, l := longOutput(alpha, 4, "head", "needle")
	s := newStore(p)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := newRecall(s).Deep(ctx, s, l, recall.Request{Text: "needle"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestDeepReadsTextsWithoutLineEnds(t *testing.T) {
	for _, fill := range []string{"x", "é", "日", "🙂", "\xff"} {
		p, l := longOutput(alpha, 4, strings.Repeat(fill, 9000)+" needle "+strings.Repeat(fill, 9000))
		s := newStore(p)
		s.passages[0].Text = "head"
		res, err := newRecall(s).Deep(context.Background(), s, l, recall.Request{Text: "needle"})
		if err != nil || len(res.Hits) == 0 {
			t.Errorf("between %q: %d hits, %v", fill, len(res.Hits), err)
		}
		for _, h := range res.Hits {
			if len(h.Text) > archive.MaxPassage {
				t.Errorf("a hit of %d bytes", len(h.Text))
			}
		}
	}
}

// A word that only the part outside the index contains is found there, not corrected.
func TestWordsOfTheLogsAreNotCorrected(t *testing.T) {
	p, l := longOutput(alpha, 4, append(filler(300), "the strandlin number")...)
	s := newStore(p, said(alpha, 5, 0, "the strandline number"))
	res, err := newRecall(s).Briefly(t.Context(), s, l, parsed(t, "strandlin number"))
	if err != nil || len(res.Hits) != 1 || !res.Hits[0].Deep || res.Relaxed != recall.RelaxedLogs || len(res.Corrected) > 0 {
		t.Errorf("%+v, %v", res, err)
	}
	res, err = newRecall(s).Briefly(t.Context(), s, l, parsed(t, "strandlime number"))
	if err != nil || len(res.Hits) == 0 || res.Hits[0].Deep || len(res.Corrected) != 1 {
		t.Errorf("a word of no log: %+v, %v", res, err)
	}
	scanned := l.scanned
	if _, err = newRecall(s).Briefly(t.Context(), s, l, parsed(t, "strandline number")); err != nil || l.scanned != scanned {
		t.Errorf("%d lines read for words of the index, %v", l.scanned-scanned, err)
	}
}

func TestRegex(t *testing.T) {
	p, l := longOutput(alpha, 4, append(filler(300), "\tfunc parseError(s string)", "the end")...)
	s := newStore(p, said(beta, 5, 0, "call lexError( here\nfunc runError(1)"), said(beta, 6, 0, "func runError(2)"))
	for _, test := range []struct {
		expr string
		req  recall.Request
		want []string
	}{
		{`func.*Error\(`, recall.Request{}, []string{"aaaaaaaa/4.0 true", "bbbbbbbb/5.0 false", "bbbbbbbb/6.0 false"}},
		{`^func \w+Error`, recall.Request{}, []string{"bbbbbbbb/5.0 false", "bbbbbbbb/6.0 false"}},
		{`(?i)PARSEERROR`, recall.Request{}, []string{"aaaaaaaa/4.0 true"}},
		{`PARSEERROR`, recall.Request{}, nil},
		{`Error`, recall.Request{Kinds: []archive.PassageKind{archive.KindOutput}}, []string{"aaaaaaaa/4.0 true"}},
		{`Error`, recall.Request{Text: "call"}, []string{"bbbbbbbb/5.0 false"}},
		{`Error`, recall.Request{Limit: 1}, []string{"aaaaaaaa/4.0 true"}},
		{`Error`, recall.Request{PerSession: 1}, []string{"aaaaaaaa/4.0 true", "bbbbbbbb/5.0 false"}},
	} {
		re, err := recall.Pattern(test.expr)
		if err != nil {
			t.Fatal(err)
		}
		test.req.Regex = re
		res, err := newRecall(s).Regex(t.Context(), s, l, test.req)
		var have []string
		for _, h := range res.Hits {
			have = append(have, fmt.Sprint(h.Handle, " ", h.Deep))
			if len(res.Marks(h.Text)) == 0 {
				t.Errorf("%s: no mark in %q", test.expr, h.Text)
			}
		}
		if err != nil || !slices.Equal(have, test.want) {
			t.Errorf("%s: %q, %v, want %q", test.expr, have, err, test.want)
		}
		if test.req.PerSession > 0 && res.More[beta] != 1 {
			t.Errorf("more %v", res.More)
		}
	}
}
