package recall

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// DeepStore is the part of a store that a deep search needs besides SearchStore.
type DeepStore interface {
	Session(ctx context.Context, id string) (archive.Session, error)
	Sessions(ctx context.Context, f archive.SessionFilter) ([]archive.Session, error)
	Passages(ctx context.Context, s archive.PassageSpan) ([]archive.Passage, error)
}

// LogScanner reads the texts of a session's log.
type LogScanner interface {
	// ScanLines calls fn with every text in the lines [from, to) of a session's log,
	// redacted and whole, with its 0-based line. text is valid during the call. An error
	// of fn ends the scan and is returned.
	ScanLines(ctx context.Context, session string, from, to int, fn func(line int, text string) error) error
}

// deepTurns is the number of turns whose passages are in memory at a time.
const deepTurns = 64

// Deep answers req like Search and then searches the logs for long texts that the
// index holds only in part. A text matches where a chunk of at most archive.MaxPassage
// bytes contains every word and phrase of the query, ignoring case. These hits follow
// those of the index. Memory is limited by the longest line.
func (r *Recall) Deep(ctx context.Context, idx DeepStore, logs LogScanner, req Request) (Result, error) {
	start := r.now()
	req.AsTyped = true // the logs may contain what the index lacks
	s, err := r.prepare(ctx, req)
	if err != nil {
		return Result{}, err
	}
	res, err := r.Search(ctx, req)
	if err != nil {
		return Result{}, err
	}
	d := deepSearch{search: s, idx: idx, logs: logs, needles: needles(req), seen: map[uint64]bool{}, score: 1}
	for _, h := range res.Hits {
		d.seen[fingerprint(h.Text)] = true
		d.score = h.Score
	}
	if err := d.run(ctx); err != nil {
		return Result{}, err
	}
	res.Hits = append(res.Hits, d.hits...)
	res.TookMS = float64(r.now().Sub(start)) / float64(time.Millisecond)
	return res, nil
}

// deepSearch is one search of the logs.
type deepSearch struct {
	*search
	idx     DeepStore
	logs    LogScanner
	needles []string
	seen    map[uint64]bool // fingerprints of hits
	score   float64         // of the last hit
	hits    []Hit
}

// needles returns the words and phrases of a query as they are searched in the logs.
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

// run searches the sessions that the request allows, newest first, until there are
// limit hits.
func (d *deepSearch) run(ctx context.Context) (err error) {
	if len(d.needles) == 0 {
		return nil
	}
	sessions := make([]archive.Session, len(d.query.Sessions)) // at most one
	for i, id := range d.query.Sessions {
		if sessions[i], err = d.idx.Session(ctx, id); err != nil {
			return err
		}
	}
	if len(sessions) == 0 {
		sessions, err = d.idx.Sessions(ctx, archive.SessionFilter{Projects: d.query.Projects, Agents: d.query.Agents, Since: d.query.Since})
		if err != nil {
			return err
		}
	}
	for _, s := range sessions {
		if err := d.session(ctx, s); err != nil {
			return fmt.Errorf("read the log of session %s: %w", archive.ShortID(s.ID), err)
		}
	}
	return nil
}

func (d *deepSearch) done() bool { return len(d.hits) >= d.query.Limit }

// session searches one session, some turns at a time.
func (d *deepSearch) session(ctx context.Context, s archive.Session) error {
	for from := 0; from < s.Turns && !d.done(); from += deepTurns {
		if err := ctx.Err(); err != nil {
			return err
		}
		ps, err := d.idx.Passages(ctx, archive.PassageSpan{
			Span: archive.Span{Session: s.ID, TurnFrom: from, TurnTo: from + deepTurns}, Kinds: d.query.Kinds,
		})
		if err != nil {
			return err
		}
		for _, p := range ps {
			if p.Partial && p.LineFrom >= 0 && d.matchesFilters(p) && d.inTime(p.Time) && !d.done() {
				if err := d.passage(ctx, p, s.Project); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (d *deepSearch) inTime(t time.Time) bool {
	return (d.query.Since.IsZero() || !t.Before(d.query.Since)) && (d.query.Until.IsZero() || !t.After(d.query.Until))
}

// passage reads the whole text of a passage and adds the chunks that match.
func (d *deepSearch) passage(ctx context.Context, p archive.Passage, project archive.Project) error {
	return d.logs.ScanLines(ctx, p.Session, p.LineFrom, p.LineTo, func(line int, text string) error {
		for chunk := range chunks(text) {
			if d.done() {
				return nil
			}
			if !containsAll(chunk, d.needles) || strings.Contains(p.Text, chunk) {
				continue
			}
			key := fingerprint(chunk)
			if d.seen[key] {
				continue
			}
			d.seen[key] = true
			d.score *= 0.99 // below every earlier hit
			q := p
			q.Text, q.LineFrom, q.LineTo = strings.Clone(chunk), line, line+1
			h := newHit(archive.Hit{Passage: q, Project: project, Score: d.score})
			h.Deep = true
			d.hits = append(d.hits, h)
		}
		return ctx.Err()
	})
}

// chunkOverlap is the part of a chunk that the next one repeats, so that words near
// each other are together in one of them.
const chunkOverlap = archive.MaxPassage / 4

// chunks splits text into overlapping chunks of at most archive.MaxPassage bytes, at
// line ends if possible.
func chunks(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > archive.MaxPassage {
			end := splitBefore(text, archive.MaxPassage)
			if !yield(text[:end]) {
				return
			}
			text = text[splitBefore(text, end-chunkOverlap):]
		}
		if strings.TrimSpace(text) != "" {
			yield(text)
		}
	}
}

// splitBefore returns where to split s at or before n: after the last line end in the
// second half of s[:n], or else between two characters.
func splitBefore(s string, n int) int {
	if at := strings.LastIndexByte(s[:n], '\n'); at >= n/2 {
		return at + 1
	}
	if at := len(text.Prefix(s, n)); at > n-utf8.UTFMax {
		return at
	}
	return n // not UTF-8 here
}
