package app

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/usage"
)

// StatsQuery selects what Stats counts.
type StatsQuery struct {
	Scope
	Session string    // only this session and its sub-agents' runs; overrides Scope
	Since   time.Time // only what happened since
}

// Stats counts the events in an archive, a project or a session. What a fork or a
// compaction copied counts once.
type Stats struct {
	Session string `json:"session,omitempty"`
	archive.Totals
	// CacheShare is the share of the input that was read from the cache; nil without input.
	CacheShare *float64 `json:"cache_share"`
	// EstimatedUSD is the part of cost_usd that follows from list prices, for sessions in
	// which the client wrote no cost. PricesDate is the date of the built-in prices.
	EstimatedUSD float64 `json:"cost_estimated_usd"`
	PricesDate   string  `json:"prices_date"`
	// Unpriced lists the models without a price; their tokens cost nothing here.
	Unpriced []string     `json:"unpriced_models"`
	Days     []DayStats   `json:"days"`     // days with activity, oldest first
	Models   []NamedStats `json:"models"`   // the most expensive first
	Projects []NamedStats `json:"projects"` // as models
	Tools    []ToolStats  `json:"tools"`    // the one that failed most first
}

// Sum is a part of Stats. Turns and compactions have no model: those of models are 0.
type Sum struct {
	Turns       int `json:"turns"`
	Steps       int `json:"steps"`
	Compactions int `json:"compactions"`
	archive.Usage
	CostUSD float64 `json:"cost_usd"`
}

// DayStats is the activity of a day in the zone of the clock, by model and by project. Day
// is empty for rows without a time.
type DayStats struct {
	Day string `json:"day"` // "2026-11-21"
	Sum
	Models   map[string]Sum `json:"models"`
	Projects map[string]Sum `json:"projects"` // by NamedStats.Name
}

// NamedStats is the activity with a model or in a project.
type NamedStats struct {
	Name string `json:"name"`
	Sum
}

// ToolStats counts the calls of a tool. Failed calls do not include those that were not run.
type ToolStats struct {
	Name   string `json:"name"`
	Calls  int    `json:"calls"`
	Failed int    `json:"failed"`
	NotRun int    `json:"not_run"` // refused, or cancelled because another call failed
	// Error is the most frequent error and Times its number.
	Error string `json:"error,omitempty"`
	Times int    `json:"times,omitempty"`
}

// add adds what happened in a slot, at a cost.
func (s *Sum) add(x archive.Activity, usd float64) {
	s.Turns += x.Turns
	s.Steps += x.Steps
	s.Compactions += x.Compactions
	s.Usage = s.Usage.Add(x.Usage)
	s.CostUSD += usd
}

// Stats counts what happened in a scope.
func (a *App) Stats(ctx context.Context, q StatsQuery) (Stats, error) {
	return read(ctx, a, func(x Archive) (_ Stats, err error) {
		f := archive.SessionFilter{Agents: true, Clients: q.Clients, Since: q.Since}
		if q.Session != "" {
			s, err := a.session(ctx, x, q.Session)
			if err != nil {
				return Stats{}, err
			}
			runs, err := x.Index.Sessions(ctx, archive.SessionFilter{Agents: true, Parent: s.ID})
			if err != nil {
				return Stats{}, err
			}
			q.Session, f.IDs = s.ID, []string{s.ID}
			for _, r := range runs {
				if r.Relation == archive.RelationAgent {
					f.IDs = append(f.IDs, r.ID)
				}
			}
		} else if f.Projects, err = a.keys(ctx, x, q.Scope); err != nil {
			return Stats{}, err
		}
		return a.stats(ctx, x, q, f)
	})
}

func (a *App) stats(ctx context.Context, x Archive, q StatsQuery, f archive.SessionFilter) (Stats, error) {
	sessions, err := x.Index.Sessions(ctx, f)
	if err != nil {
		return Stats{}, err
	}
	rows, err := x.Index.Activity(ctx, f)
	if err != nil {
		return Stats{}, err
	}
	calls, err := x.Index.ToolCalls(ctx, f)
	if err != nil {
		return Stats{}, err
	}
	t := newTally(usage.NewPrices(x.Config.Stats.Prices), sessions, rows, a.Now().Location())
	t.out.Session = q.Session
	for _, row := range rows {
		if !row.Time.Before(q.Since) {
			t.add(row)
		}
	}
	out := t.finish()
	out.countSessions(sessions, q.Since)
	out.countCalls(calls)
	return out, nil
}

// tally adds up Stats.
type tally struct {
	out      Stats
	costs    costs
	zone     *time.Location
	project  map[string]string // name by session, without the work tree
	days     map[string]*DayStats
	models   map[string]*Sum
	projects map[string]*Sum
	unpriced map[string]bool
}

func newTally(prices usage.Prices, sessions []archive.Session, rows []archive.Activity, zone *time.Location) *tally {
	t := &tally{
		zone: zone, costs: newCosts(prices, sessions, rows), project: map[string]string{},
		days: map[string]*DayStats{}, models: map[string]*Sum{}, projects: map[string]*Sum{}, unpriced: map[string]bool{},
	}
	for _, s := range sessions {
		t.project[s.ID] = cmp.Or(s.Project.Name, s.Project.Key, "unknown")
	}
	return t
}

// entry returns the value of a key and adds one if there is none.
func entry[K comparable, V any](m map[K]*V, key K) *V {
	if m[key] == nil {
		m[key] = new(V)
	}
	return m[key]
}

func (t *tally) add(x archive.Activity) {
	usd, client, known := t.costs.of(x)
	if !client {
		t.out.EstimatedUSD += usd
	}
	if !known {
		t.unpriced[x.Model] = true
	}
	var all Sum
	all.add(x, usd)
	t.out.Turns, t.out.Steps, t.out.Compactions = t.out.Turns+all.Turns, t.out.Steps+all.Steps, t.out.Compactions+all.Compactions
	t.out.Usage, t.out.CostUSD = t.out.Usage.Add(all.Usage), t.out.CostUSD+usd
	name, day := t.project[x.Session], ""
	if !x.Time.IsZero() {
		day = x.Time.In(t.zone).Format(time.DateOnly)
	}
	d := entry(t.days, day)
	if d.Models == nil {
		d.Models, d.Projects = map[string]Sum{}, map[string]Sum{}
	}
	d.add(x, usd)
	part := d.Projects[name]
	part.add(x, usd)
	d.Projects[name] = part
	entry(t.projects, name).add(x, usd)
	if !x.Usage.IsZero() { // not the client's placeholder for a failed request
		part = d.Models[x.Model]
		part.add(x, usd)
		d.Models[x.Model] = part
		entry(t.models, x.Model).add(x, usd)
	}
}

func (t *tally) finish() Stats {
	out := &t.out
	if in := out.Usage.Context(); in > 0 {
		out.CacheShare = rounded(float64(out.CacheRead) / float64(in))
	}
	out.PricesDate = usage.PricesDate
	out.Unpriced = append([]string{}, slices.Sorted(maps.Keys(t.unpriced))...)
	out.Days = []DayStats{}
	for _, day := range slices.Sorted(maps.Keys(t.days)) {
		d := *t.days[day]
		d.Day = day
		out.Days = append(out.Days, d)
	}
	out.Models, out.Projects = named(t.models), named(t.projects)
	return *out
}

func named(sums map[string]*Sum) []NamedStats {
	out := []NamedStats{}
	for name, s := range sums {
		out = append(out, NamedStats{name, *s})
	}
	slices.SortFunc(out, func(a, b NamedStats) int {
		return cmp.Or(cmp.Compare(b.CostUSD, a.CostUSD), cmp.Compare(b.Usage.Context(), a.Usage.Context()), cmp.Compare(b.Turns, a.Turns), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// countSessions adds the sessions and the bytes of their transcripts.
func (s *Stats) countSessions(list []archive.Session, since time.Time) {
	for _, x := range list {
		switch {
		case strings.Contains(x.ID, "@"): // an earlier generation
		case x.Relation == archive.RelationAgent:
			s.Agents++
		default:
			s.Sessions++
		}
		s.Bytes += x.Bytes
		if s.First.IsZero() || !x.First.IsZero() && x.First.Before(s.First) {
			s.First = x.First
		}
		if x.Last.After(s.Last) {
			s.Last = x.Last
		}
	}
	if s.First.Before(since) {
		s.First = since
	}
}

// countCalls adds the tools.
func (s *Stats) countCalls(list []archive.ToolCalls) {
	tools := map[string]*ToolStats{}
	for _, x := range list { // the most frequent error comes first
		t := entry(tools, x.Name)
		t.Name = x.Name
		t.Calls += x.Calls
		s.Calls += x.Calls
		switch {
		case !x.Failed:
		case archive.Call{Failed: true, Error: x.Error}.NotRun():
			t.NotRun += x.Calls
		default:
			t.Failed += x.Calls
			if t.Error == "" {
				t.Error, t.Times = x.Error, x.Calls
			}
		}
	}
	s.Tools = []ToolStats{}
	for _, t := range tools {
		s.Tools = append(s.Tools, *t)
	}
	slices.SortFunc(s.Tools, func(a, b ToolStats) int {
		return cmp.Or(b.Failed-a.Failed, b.Calls-a.Calls, cmp.Compare(a.Name, b.Name))
	})
}

// costs distributes the costs that the client wrote for its sessions. A session and its
// sub-agents' runs share one total, in proportion to their list prices.
type costs struct {
	prices usage.Prices
	root   map[string]string  // the session whose total includes a session
	client map[string]float64 // the client's total by root, if there is one
	weight map[string]float64 // sum of the weights of a root's rows
}

func newCosts(prices usage.Prices, sessions []archive.Session, rows []archive.Activity) costs {
	c := costs{prices: prices, root: map[string]string{}, client: map[string]float64{}, weight: map[string]float64{}}
	for _, s := range sessions {
		root := s.ID
		if s.Relation == archive.RelationAgent && s.Parent != "" {
			root = s.Parent
		}
		root, _, _ = strings.Cut(root, "@") // the client's total continues over generations
		c.root[s.ID] = root
		if s.Cost.USD > 0 {
			c.client[root] = max(c.client[root], s.Cost.USD)
		}
	}
	for _, x := range rows {
		c.weight[c.root[x.Session]] += c.weigh(x)
	}
	return c
}

// weigh returns the list price of a row. Tokens of an unknown model weigh as those of a
// model of 1 USD per million.
func (c costs) weigh(x archive.Activity) float64 {
	if usd, ok := c.prices.USD(x.Model, x.Long, x.Usage); ok {
		return usd
	}
	return float64(x.Usage.Context()+x.Usage.Output) / 1e6
}

// of returns what a row cost; client reports whether that is the client's figure, known
// whether the cost is known.
func (c costs) of(x archive.Activity) (usd float64, client, known bool) {
	root := c.root[x.Session]
	if total := c.client[root]; total > 0 && c.weight[root] > 0 {
		return total * c.weigh(x) / c.weight[root], true, true
	}
	usd, known = c.prices.USD(x.Model, x.Long, x.Usage)
	return usd, false, known
}
