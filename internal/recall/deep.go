package recall

import (
	"context"
	"fmt"
	"strings"
	"time"

	"strandline/internal/archive"
)

// DeepStore is what a deep search reads beside the hits: which sessions there are
// and which of their passages the index holds only in part.
type DeepStore interface {
	Session(ctx context.Context, id string) (archive.Session, error)
	Sessions(ctx context.Context, f archive.SessionFilter) ([]archive.Session, error)
	Passages(ctx context.Context, s archive.PassageSpan) ([]archive.Passage, error)
}

// LogScanner reads the texts of a session's log.
type LogScanner interface {
	// ScanLines calls fn with every text of the lines [from, to) of a session's
	// log, redacted and in full, with the 0-based line that it stands in. text
	// is valid during the call. An error of fn ends the scan and is returned.
	ScanLines(ctx context.Context, session string, from, to int, fn func(line int, text string) error) error
}

// turnsAtOnce bounds how many turns' passages a deep search holds in memory.
const turnsAtOnce = 64

// Deep answers req like Search and then reads, in the logs, the texts of which
// the index holds only a part: long outputs and prompts. A text there matches
// where a piece of at most archive.MaxPassage bytes holds every word and phrase
// of the query, without regard to case. Those hits follow the ones of the index.
// Memory stays bounded by the longest line; ctx ends the scan.
func (r *Recall) Deep(ctx context.Context, idx DeepStore, logs LogScanner, req Request) (Result, error) {
	start := r.now()
	s, err := r.prepare(ctx, req)
	if err != nil {
		return Result{}, err
	}
	res, err := r.Search(ctx, req)
	if err != nil {
		return Result{}, err
	}
	d := deep{search: s, logs: logs, limit: req.limit(), needles: needles(req), seen: map[uint64]bool{}}
	for _, h := range res.Hits {
		d.seen[fingerprint(h.Text)] = true
	}
	d.score = 1
	if n := len(res.Hits); n > 0 {
		d.score = res.Hits[n-1].Score
	}
	if len(d.needles) > 0 {
		err = d.sessions(ctx, idx)
	}
	if err != nil {
		return Result{}, err
	}
	res.Hits = append(res.Hits, d.hits...)
	res.TookMS = float64(r.now().Sub(start)) / float64(time.Millisecond)
	return res, nil
}

// deep is one scan of the logs.
type deep struct {
	*search
	logs    LogScanner
	limit   int
	needles []string
	seen    map[uint64]bool
	score   float64
	hits    []Hit
}

// needles are the words and phrases of a query as a deep search looks for them.
func needles(req Request) []string {
	out := make([]string, 0, 8)
	rest := req.Text
	for _, p := range req.Phrases {
		rest = strings.Replace(rest, `"`+p+`"`, " ", 1)
		if p = normalise(p); p != "" {
			out = append(out, p)
		}
	}
	for w := range strings.FieldsSeq(strings.ToLower(rest)) {
		if w = strings.Trim(w, `"*.,;:!?()`); len(w) > 1 {
			out = append(out, w)
		}
	}
	return out
}

// sessions scans the sessions that the request allows, newest first, until there
// are enough hits.
func (d *deep) sessions(ctx context.Context, idx DeepStore) error {
	if ids := d.query.Sessions; len(ids) > 0 {
		for _, id := range ids {
			s, err := idx.Session(ctx, id)
			if err != nil {
				return err
			}
			if err := d.session(ctx, idx, s); err != nil {
				return err
			}
		}
		return nil
	}
	all, err := idx.Sessions(ctx, archive.SessionFilter{Projects: d.query.Projects, Agents: d.query.Agents, Since: d.query.Since})
	if err != nil {
		return err
	}
	for _, s := range all {
		if len(d.hits) >= d.limit {
			break
		}
		if err := d.session(ctx, idx, s); err != nil {
			return fmt.Errorf("read the log of session %s: %w", archive.ShortID(s.ID), err)
		}
	}
	return nil
}

// session scans one session some turns at a time.
func (d *deep) session(ctx context.Context, idx DeepStore, s archive.Session) error {
	for from := 0; from < s.Turns && len(d.hits) < d.limit; from += turnsAtOnce {
		if err := ctx.Err(); err != nil {
			return err
		}
		ps, err := idx.Passages(ctx, archive.PassageSpan{
			Span: archive.Span{Session: s.ID, TurnFrom: from, TurnTo: from + turnsAtOnce}, Kinds: d.query.Kinds,
		})
		if err != nil {
			return err
		}
		for _, p := range ps {
			if !p.Partial || p.LineFrom < 0 || !d.fits(p) || !d.inTime(p.Time) || len(d.hits) >= d.limit {
				continue
			}
			if err := d.passage(ctx, p, s.Project); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *deep) inTime(t time.Time) bool {
	return (d.query.Since.IsZero() || !t.Before(d.query.Since)) && (d.query.Until.IsZero() || !t.After(d.query.Until))
}

// passage reads the whole text of a passage and adds the pieces that match.
func (d *deep) passage(ctx context.Context, p archive.Passage, project archive.Project) error {
	return d.logs.ScanLines(ctx, p.Session, p.LineFrom, p.LineTo, func(line int, text string) error {
		for piece := range pieces(text) {
			if len(d.hits) >= d.limit {
				return nil
			}
			if !holds(piece, d.needles) || strings.Contains(p.Text, piece) {
				continue
			}
			key := fingerprint(piece)
			if d.seen[key] {
				continue
			}
			d.seen[key] = true
			d.score *= 0.99 // below every hit before it
			q := p
			q.Text, q.LineFrom, q.LineTo = strings.Clone(piece), line, line+1
			h := newHit(archive.Hit{Passage: q, Project: project, Score: d.score})
			h.Deep = true
			d.hits = append(d.hits, h)
		}
		return ctx.Err()
	})
}
