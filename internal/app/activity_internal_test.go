package app

import (
	"math"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/usage"
)

// The client's total of a session includes its sub-agents' runs; other sessions cost what
// the price table says.
func TestStatsCost(t *testing.T) {
	million := archive.Usage{Input: 1e6}
	day := func(n int) time.Time { return time.Date(2026, 11, n, 23, 45, 0, 0, time.UTC) }
	sessions := []archive.Session{
		{ID: "a", Cost: archive.Cost{USD: 30}, Project: archive.Project{Name: "tide"}},
		{ID: "a~1", Parent: "a", Relation: archive.RelationAgent, Project: archive.Project{Name: "tide"}},
		{ID: "b"},
	}
	rows := []archive.Activity{
		{Session: "a", Time: day(1), Turns: 2},
		{Session: "a", Time: day(1), Model: "claude-opus-5", Steps: 3, Usage: million},                             // 5 USD
		{Session: "a~1", Time: day(2), Model: "claude-opus-5-5", Steps: 1, Usage: archive.Usage{Input: 2_500_000}}, // 10 USD
		{Session: "b", Time: day(2), Model: "claude-opus-5", Steps: 1, Usage: million},
		{Session: "b", Time: day(2), Model: "other", Steps: 1, Usage: million},
		{Session: "b", Time: day(2), Model: "<synthetic>", Steps: 1},
	}
	tally := newTally(usage.NewPrices(nil), sessions, rows, time.FixedZone("", 3600))
	for _, x := range rows {
		tally.add(x)
	}
	out := tally.finish()
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("all", out.CostUSD, 35)
	near("estimated", out.EstimatedUSD, 5)
	near("the session's model", out.Days[0].Models["claude-opus-5"].CostUSD, 10)
	near("the sub-agent's model", out.Days[1].Models["claude-opus-5-5"].CostUSD, 20)
	near("the project", out.Projects[0].CostUSD, 30)
	if len(out.Models) != 3 || len(out.Unpriced) != 1 || out.Unpriced[0] != "other" || out.Turns != 2 {
		t.Errorf("%+v", out)
	}
	if len(out.Days) != 2 || out.Days[0].Day != "2026-11-02" { // midnight has passed in the zone of the clock
		t.Errorf("days %+v", out.Days)
	}
}
