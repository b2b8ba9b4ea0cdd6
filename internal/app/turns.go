package app

import (
	"context"
	"time"

	"strandline/internal/archive"
)

// TurnPage is a part of a session's turns.
type TurnPage struct {
	Session
	Total int           `json:"total"` // of turns, those that a compaction retold included
	From  int           `json:"from"`  // index of the first turn of the page
	Page  []TurnSummary `json:"page"`
	Files []string      `json:"files"` // names of the files that the client stores next to the transcript
}

// TurnSummary is a turn in a list, with its actions.
type TurnSummary struct {
	Handle      string               `json:"handle"`
	Title       string               `json:"title"`
	Start       time.Time            `json:"start"`
	Seconds     int                  `json:"seconds"`
	Steps       int                  `json:"steps"`
	Calls       int                  `json:"calls"`
	Failed      int                  `json:"failed"` // calls
	Added       int                  `json:"added"`  // lines, see Digest
	Removed     int                  `json:"removed"`
	Tokens      int64                `json:"tokens"` // in the context at its end, 0 if unknown
	Dead        bool                 `json:"dead,omitempty"`
	Compactions []TimelineCompaction `json:"compactions"`
}

// Turns returns limit turns of a session from a turn on, negative: the last ones.
func (a *App) Turns(ctx context.Context, session string, from, limit int) (TurnPage, error) {
	return readSession(ctx, a, session, func(x Archive, id string) (TurnPage, error) {
		info, err := x.Index.Session(ctx, id)
		if err != nil {
			return TurnPage{}, err
		}
		if from < 0 {
			from = max(info.Turns-limit, 0)
		}
		out := TurnPage{Session: newSession(info), Total: info.Turns, From: from, Page: []TurnSummary{}}
		span := archive.Span{Session: id, TurnFrom: from, TurnTo: from + limit}
		if out.Page, err = turnSummaries(ctx, x, span); err != nil {
			return out, err
		}
		files, err := x.Capture.SideFiles(id)
		out.Files = append([]string{}, files...)
		return out, err
	})
}

func turnSummaries(ctx context.Context, x Archive, span archive.Span) ([]TurnSummary, error) {
	turns, err := x.Index.Turns(ctx, span)
	if err != nil {
		return nil, err
	}
	compactions, err := x.Index.Compactions(ctx, span)
	if err != nil {
		return nil, err
	}
	r, err := readRows(ctx, x, span)
	out := make([]TurnSummary, len(turns))
	at := map[int]*TurnSummary{}
	for i, t := range turns {
		out[i] = TurnSummary{
			Handle: t.Ref().Handle(), Title: t.Title, Start: t.Start, Seconds: max(int(t.End.Sub(t.Start).Seconds()), 0), Steps: t.Steps, Dead: t.Dead,
			Compactions: []TimelineCompaction{},
		}
		at[t.Index] = &out[i]
	}
	for _, c := range compactions {
		if t := at[c.Turn]; t != nil {
			t.Compactions = append(t.Compactions, newTimelineCompaction(c))
		}
	}
	for _, s := range r.steps {
		if n := contextOf(s); at[s.Turn] != nil && n > 0 {
			at[s.Turn].Tokens = n
		}
	}
	for _, c := range r.calls {
		if t := at[c.Turn]; t != nil {
			t.Calls++
			if c.Failed {
				t.Failed++
			}
		}
	}
	for _, e := range r.edits {
		if t := at[e.Turn]; t != nil {
			_, added, removed := unified("", passageChanges(e.Text))
			t.Added, t.Removed = t.Added+added, t.Removed+removed
		}
	}
	return out, err
}

// Curve is the course of a session's context.
type Curve struct {
	Session     string               `json:"session"`
	Points      []CurvePoint         `json:"points"`
	Compactions []TimelineCompaction `json:"compactions"`
}

// CurvePoint is the context after a response.
type CurvePoint struct {
	Handle string    `json:"handle"` // of the step
	Time   time.Time `json:"time"`
	Tokens int64     `json:"tokens"`
}

// curvePoints is the maximal number of points of a curve.
const curvePoints = 1200

// Curve returns the course of a session's context, in at most curvePoints points.
func (a *App) Curve(ctx context.Context, session string) (Curve, error) {
	return readSession(ctx, a, session, func(x Archive, id string) (Curve, error) {
		steps, err := x.Index.Steps(ctx, archive.Span{Session: id})
		if err != nil {
			return Curve{}, err
		}
		compactions, err := x.Index.Compactions(ctx, archive.Span{Session: id})
		return Curve{id, append([]CurvePoint{}, sampled(curveOf(steps), curvePoints)...), archive.Convert(compactions, newTimelineCompaction)}, err
	})
}

// contextOf returns the tokens in the context after a step, 0 if it does not count.
func contextOf(s archive.Step) int64 {
	if s.Sidechain || s.APIError {
		return 0
	}
	if n := s.Usage.Context(); n > 0 {
		return n + s.Usage.Output
	}
	return 0
}

func curveOf(steps []archive.Step) (points []CurvePoint) {
	for _, s := range steps {
		if n := contextOf(s); n > 0 {
			points = append(points, CurvePoint{archive.Ref{Session: s.Session, Turn: s.Turn, Step: s.Index}.Handle(), s.Time, n})
		}
	}
	return points
}

// sampled returns at most most points: of each equal part the highest, and the last
// of all.
func sampled(points []CurvePoint, most int) []CurvePoint {
	if len(points) <= most {
		return points
	}
	out := make([]CurvePoint, 0, most)
	for i := range most - 1 {
		from, to := i*(len(points)-1)/(most-1), (i+1)*(len(points)-1)/(most-1)
		best := points[from]
		for _, p := range points[from:to] {
			if p.Tokens > best.Tokens {
				best = p
			}
		}
		out = append(out, best)
	}
	return append(out, points[len(points)-1])
}
