package compact_test

import (
	"fmt"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/config"
)

func TestLearner(t *testing.T) {
	taught := func() map[string]archive.Tally {
		return map[string]archive.Tally{"hash": {Expected: 500, Needed: 10}, "path": {Expected: 500, Needed: 400}}
	}
	if w := (compact.Learner{How: config.LearnNames, Tallies: taught}).Weights(); w["hash"] >= 1 || w["path"] <= 1 {
		t.Errorf("names: %v", w)
	}
	for _, how := range []config.Learn{config.LearnOff, ""} {
		if w := (compact.Learner{How: how, Tallies: taught}).Weights(); w != nil {
			t.Errorf("%q: %v", how, w)
		}
	}
}

// history returns a session whose second half names some terms of the first half.
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

func TestLearn(t *testing.T) {
	m := history()
	cut, ok, err := compact.SyntheticCompaction(t.Context(), m, m.session.ID)
	if err != nil || !ok || cut.Line <= 0 || cut.Turn != 12 {
		t.Fatalf("%+v, %v, %v", cut, ok, err)
	}
	got, err := compact.Learn(t.Context(), m, cut, compact.Request{})
	if err != nil || got["code file"].Needed <= 0 || got["snake_case"].Needed <= 0 {
		t.Fatalf("%v, %v", got, err)
	}
	again, err := compact.Learn(t.Context(), m, cut, compact.Request{})
	if err != nil || fmt.Sprint(again) != fmt.Sprint(got) {
		t.Errorf("%v and %v, %v", got, again, err)
	}
	cut.Line = m.line
	cut.Turn = 30
	if got, err := compact.Learn(t.Context(), m, cut, compact.Request{}); got != nil || err != nil {
		t.Errorf("nothing follows it: %v, %v", got, err)
	}
	short := newMemory()
	short.prompt("make retry wait")
	if _, ok, err := compact.SyntheticCompaction(t.Context(), short, short.session.ID); ok || err != nil {
		t.Errorf("a short session has a synthetic compaction: %v", err)
	}
}
