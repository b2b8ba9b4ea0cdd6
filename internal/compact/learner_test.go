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
	"strandline/internal/config"
	"strandline/internal/recall"
)

type accesses struct {
	list []archive.Access
	err  error
}

func (a accesses) Accesses(context.Context, string) ([]archive.Access, error) { return a.list, a.err }

func TestLearner(t *testing.T) {
	taught := func() map[string]archive.Tally {
		return map[string]archive.Tally{"hash": {Expected: 500, Needed: 10}, "path": {Expected: 500, Needed: 400}}
	}
	given := accesses{list: []archive.Access{{Ref: archive.Ref{Turn: 2, Step: 1}, Time: start, How: archive.AccessRestored}}}
	place := func(turn int) archive.Handle { return archive.Handle{Turn: turn, Step: 1} }
	for how, check := range map[config.Learn]func(r compact.Request) bool{
		config.LearnNames: func(r compact.Request) bool {
			return r.Confidence == nil && r.Weights["hash"] < 1 && r.Weights["path"] > 1
		},
		config.LearnConfidence: func(r compact.Request) bool {
			long := start.Add(-100 * time.Hour)
			return r.Weights == nil && r.Confidence(place(2), long) > r.Confidence(place(3), long)
		},
		config.LearnOff: func(r compact.Request) bool { return r.Weights == nil && r.Confidence == nil },
		"":              func(r compact.Request) bool { return r.Weights == nil && r.Confidence == nil },
	} {
		var req compact.Request
		l := compact.Learner{How: how, Taught: taught, Rule: recall.Default()}
		if err := l.Into(t.Context(), &req, given, start); err != nil || !check(req) {
			t.Errorf("%q: %+v, %v", how, req.Weights, err)
		}
	}
	broken := errors.New("no index")
	l := compact.Learner{How: config.LearnConfidence}
	if err := l.Into(t.Context(), new(compact.Request), accesses{err: broken}, start); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// history is a session whose later half names some of what the first half knew.
func history() *memory {
	m := newMemory()
	for i := range 30 {
		m.prompt(fmt.Sprintf("look at file_%02d.go and commit a1b2c3d4%02d", i%15, i%15))
		if i < 15 {
			m.reply(fmt.Sprintf("I see that parse_row_%02d is wrong and internal/web/page_%02d needs it", i, i))
		} else {
			m.reply(fmt.Sprintf("Now parse_row_%02d works as it should", i-15))
		}
	}
	return m
}

func TestTeach(t *testing.T) {
	m := history()
	cut, ok, err := compact.MadeUp(t.Context(), m, m.session.ID)
	if err != nil || !ok || cut.Line <= 0 || cut.Turn != 12 {
		t.Fatalf("%+v, %v, %v", cut, ok, err)
	}
	got, err := compact.Teach(t.Context(), m, cut, compact.Request{})
	if err != nil || got["code file"].Needed <= 0 || got["snake_case"].Needed <= 0 {
		t.Fatalf("%v, %v", got, err)
	}
	again, err := compact.Teach(t.Context(), m, cut, compact.Request{})
	if err != nil || fmt.Sprint(again) != fmt.Sprint(got) {
		t.Errorf("%v and %v, %v", got, again, err)
	}
	cut.Line = m.line
	cut.Turn = 30
	if got, err := compact.Teach(t.Context(), m, cut, compact.Request{}); got != nil || err != nil {
		t.Errorf("nothing came behind it: %v, %v", got, err)
	}
	short := newMemory()
	short.prompt("make retry wait")
	if _, ok, err := compact.MadeUp(t.Context(), short, short.session.ID); ok || err != nil {
		t.Errorf("a short session has a cut: %v", err)
	}
}

// With the documented formula what was given before stands out.
func TestConfidenceWeighsPlaces(t *testing.T) {
	m := history()
	req := compact.Request{Session: m.session.ID, Budget: 1200}
	req.Confidence = func(h archive.Handle, _ time.Time) float64 {
		if h.Turn == 5 {
			return 50
		}
		return 0.01
	}
	b, err := compact.RestoreTaught(t.Context(), m, req, compact.Lesson{Confidence: req.Confidence})
	if err != nil || !strings.Contains(b.Text, "parse_row_05") {
		t.Errorf("%v\n%s", err, b.Text)
	}
}
