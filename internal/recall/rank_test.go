package recall_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/recall"
)

// old returns a passage with the least confidence.
func old(session string, turn, step int, text string) archive.Passage {
	p := said(session, turn, step, text)
	p.Time = now.Add(-time.Duration(9000-turn) * time.Hour)
	return p
}

// Confidence ranks hits with equal words.
func TestConfidenceDecidesBetweenEquals(t *testing.T) {
	at := func(turn, step int, how string, ago time.Duration) archive.Access {
		return archive.Access{Ref: archive.Ref{Session: alpha, Turn: turn, Step: step}, Time: now.Add(-ago), How: how}
	}
	for _, test := range []struct {
		name  string
		given []archive.Access
		first string
		sure  string
	}{
		{"nothing was given: the newer one", nil, "aaaaaaaa/7.1", "0.10 0.10"},
		{"used an hour ago", []archive.Access{at(3, 1, archive.AccessUsed, time.Hour)}, "aaaaaaaa/3.1", "0.15 0.10"},
		{"its whole turn was", []archive.Access{at(3, -1, archive.AccessUsed, time.Hour)}, "aaaaaaaa/3.1", "0.15 0.10"},
		{"recalled counts less than used", []archive.Access{at(3, 1, archive.AccessRecalled, time.Hour), at(7, 1, archive.AccessUsed, time.Hour)}, "aaaaaaaa/7.1", "0.15 0.12"},
		{"another step was", []archive.Access{at(3, 2, archive.AccessUsed, time.Hour)}, "aaaaaaaa/7.1", "0.10 0.10"},
		{"another turn was", []archive.Access{at(4, 1, archive.AccessUsed, time.Hour)}, "aaaaaaaa/7.1", "0.10 0.10"},
		{"a month ago", []archive.Access{at(3, 1, archive.AccessUsed, 700*time.Hour)}, "aaaaaaaa/7.1", "0.10 0.10"},
	} {
		s := newStore(old(alpha, 3, 1, "the walrus sleeps"), old(alpha, 7, 1, "a walrus swims"))
		s.given = test.given
		res := mustSearch(t, s, parsed(t, "walrus"))
		if len(res.Hits) != 2 || res.Hits[0].Handle != test.first {
			t.Errorf("%s: %+v", test.name, res.Hits)
			continue
		}
		if have := fmt.Sprintf("%.2f %.2f", res.Hits[0].Why.Sure, res.Hits[1].Why.Sure); have != test.sure {
			t.Errorf("%s: sure %s, want %s", test.name, have, test.sure)
		}
		res.Explain()
		if line := res.Hits[0].Explanation.String(); strings.Contains(line, "sure") != (test.given != nil && !strings.HasPrefix(test.sure, "0.10")) {
			t.Errorf("%s: %s", test.name, line)
		}
	}
}

// A hit with more words stays above one with more confidence.
func TestConfidenceIsMild(t *testing.T) {
	res := mustSearch(t, newStore(old(alpha, 1, 0, "the walrus and the heron"), said(alpha, 99, 0, "a walrus")), parsed(t, "walrus heron"))
	if len(res.Hits) != 2 || res.Hits[0].Handle != "aaaaaaaa/1.0" || res.Hits[1].Why.Sure < 0.9 {
		t.Errorf("%+v", res.Hits)
	}
}

// Without decay all hits have equal confidence.
func TestWithoutDecay(t *testing.T) {
	s := newStore(old(alpha, 1, 0, "the walrus"), said(alpha, 99, 0, "a walrus"))
	r := recall.New(s, func() time.Time { return now }, nil)
	r.Confidence = recall.ConfidenceWithDecay(0)
	res, err := r.Search(t.Context(), parsed(t, "walrus"))
	if err != nil || len(res.Hits) != 2 || res.Hits[0].Why.Sure != 1 || res.Hits[1].Why.Sure != 1 {
		t.Errorf("%+v, %v", res.Hits, err)
	}
}

// Accesses are read once per session, and only for sessions whose hits can reach the
// result by them.
func TestAccessesAreReadWhereTheyCount(t *testing.T) {
	s := newStore(old(alpha, 1, 0, "walrus heron"), old(alpha, 2, 0, "walrus heron puffin"), old(beta, 1, 0, "walrus"))
	req := parsed(t, "walrus heron puffin")
	req.Limit = 1
	mustSearch(t, s, req)
	if !slices.Equal(s.looked, []string{alpha}) {
		t.Errorf("looked at %q", s.looked)
	}
	s.givenErr = errors.New("the index is gone")
	if _, err := recall.New(s, func() time.Time { return now }, nil).Search(t.Context(), req); !errors.Is(err, s.givenErr) {
		t.Errorf("got %v", err)
	}
}

// A session that fills the answer leaves room for others, and its other hits are counted.
func TestPerSession(t *testing.T) {
	var ps []archive.Passage
	for i := range 9 {
		ps = append(ps, old(alpha, i, 0, fmt.Sprintf("walrus number %d swims", i)))
	}
	s := newStore(append(ps, old(beta, 1, 0, "a walrus that is only mentioned among many other things"))...)
	req := parsed(t, "walrus")
	req.PerSession, req.Limit = 3, 4
	res := mustSearch(t, s, req)
	if len(res.Hits) != 4 || res.Hits[3].Session != beta || res.More[alpha] != 6 || res.More[beta] != 0 {
		t.Errorf("hits %+v, more %v", res.Hits, res.More)
	}
	req.Session = "aaaaaaaa"
	if res = mustSearch(t, s, req); len(res.Hits) != 4 || len(res.More) != 0 {
		t.Errorf("in one session: %d hits, more %v", len(res.Hits), res.More)
	}
}

// A hit names the places with the same text.
func TestCopiesHaveHandles(t *testing.T) {
	s := newStore(old(alpha, 1, 0, "the walrus sleeps"), old(beta, 5, 2, "The walrus sleeps."), old(alpha, 3, 1, "the walrus  sleeps"))
	hits := mustSearch(t, s, parsed(t, "walrus")).Hits
	if len(hits) != 1 || hits[0].Handle != "bbbbbbbb/5.2" || hits[0].Copies != 2 {
		t.Fatalf("%+v", hits)
	}
	slices.Sort(hits[0].CopyHandles)
	if want := []string{"aaaaaaaa/1.0", "aaaaaaaa/3.1"}; !slices.Equal(hits[0].CopyHandles, want) {
		t.Errorf("copies %v, want %v", hits[0].CopyHandles, want)
	}
}
