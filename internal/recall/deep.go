package recall

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
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
	// ScanLines calls fn with the texts in the lines [from, to) of a session's log that
	// want accepts, redacted and whole, with their 0-based line. want sees them before they
	// are redacted. A text is valid during the call. An error of fn ends the scan and is
	// returned.
	ScanLines(ctx context.Context, session string, from, to int, want func(text string) bool, fn func(line int, text string) error) error
}

const (
	// deepTurns is the number of turns whose passages are in memory at a time.
	deepTurns = 64
	// regexTime is how long a search by regular expression reads, brieflyTime how long a
	// search does whose words no indexed passage contains.
	regexTime   = 10 * time.Second
	brieflyTime = 500 * time.Millisecond
)

// Deep answers req like Search and then searches the logs for long texts that the
// index holds only in part. A text matches where a chunk of at most archive.MaxPassage
// bytes contains every word and phrase of the query, ignoring case. These hits follow
// those of the index. Memory is limited by the longest line.
func (r *Recall) Deep(ctx context.Context, idx DeepStore, logs LogScanner, req Request) (Result, error) {
	req.AsTyped = true // the logs may contain what the index lacks
	res, err := r.Search(ctx, req)
	if err != nil {
		return Result{}, err
	}
	return r.readLogs(ctx, idx, logs, req, res, 0)
}

// Briefly answers req like Search. If no indexed passage contains the words as typed, it
// first looks for some time into the logs, because the index holds long outputs in part;
// Result.Relaxed is then RelaxedLogs.
func (r *Recall) Briefly(ctx context.Context, idx DeepStore, logs LogScanner, req Request) (Result, error) {
	res, err := r.Search(ctx, req)
	misspelt := slices.ContainsFunc(res.Corrected, func(c Correction) bool { return !c.Kin })
	if err != nil || len(res.Hits) > 0 && !misspelt && !res.Hits[0].Related {
		return res, err
	}
	req.AsTyped = true
	found, err := r.readLogs(ctx, idx, logs, req, Result{Query: req.Query, When: req.When, Relaxed: RelaxedLogs, Hits: []Hit{}}, brieflyTime)
	if err != nil || len(found.Hits) == 0 {
		return res, err
	}
	return found, nil
}

// Regex searches the logs for texts that match req.Regex, in the newest sessions first,
// and stops after regexTime.
func (r *Recall) Regex(ctx context.Context, idx DeepStore, logs LogScanner, req Request) (Result, error) {
	return r.readLogs(ctx, idx, logs, req, Result{Query: req.Query, Hits: []Hit{}, pattern: req.Regex}, regexTime)
}

// Pattern compiles a regular expression in RE2 syntax. ^ and $ match at line ends. It
// rejects expressions that match the empty text.
func Pattern(expr string) (*regexp.Regexp, error) {
	expr = text.Prefix(expr, MaxQuery)
	if _, err := regexp.Compile(expr); err != nil {
		return nil, &archive.Error{
			Code: archive.CodeInvalid, Err: err, Hint: "the syntax is RE2, as in Go: https://github.com/google/re2/wiki/Syntax",
			Msg: fmt.Sprintf("%q is not a regular expression", archive.Clip(expr, 60)),
		}
	}
	re, err := regexp.Compile("(?m)" + expr)
	if err == nil && re.MatchString("") {
		return nil, archive.Invalid(fmt.Sprintf("%q matches the empty text", archive.Clip(expr, 60)), `write what has to be there, e.g. 'func.*Error\('`)
	}
	return re, archive.Wrap("compile a regular expression", err)
}

// readLogs adds hits from the logs to a result. A positive limit is how long it reads.
func (r *Recall) readLogs(ctx context.Context, idx DeepStore, logs LogScanner, req Request, res Result, limit time.Duration) (Result, error) {
	start := r.now()
	s, err := r.prepare(ctx, req)
	if err != nil {
		return Result{}, err
	}
	d := deepSearch{search: s, idx: idx, logs: logs, needles: needles(req), seen: map[uint64]int{}, of: map[string]int{}, score: 1}
	for _, h := range res.Hits {
		d.seen[fingerprint(h.Text)] = -1
		d.of[h.Session]++
		d.score = h.Score
	}
	within := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	if err = d.run(within); err != nil && within.Err() != nil && ctx.Err() == nil {
		res.Incomplete, err = true, nil
		res.Notes = append(res.Notes, fmt.Sprintf("Reading the logs stopped after %s: %d of %d sessions are read, newest first.", limit, d.read, d.all))
	}
	if err != nil {
		return Result{}, err
	}
	if res.Terms == nil {
		res.Terms = s.query.Terms
	}
	if res.More == nil {
		res.More = map[string]int{}
	}
	maps.Copy(res.More, d.more)
	res.Hits = append(res.Hits, d.hits...)
	res.TookMS += float64(r.now().Sub(start)) / float64(time.Millisecond)
	return res, nil
}

// deepSearch is one search of the logs.
type deepSearch struct {
	*search
	idx       DeepStore
	logs      LogScanner
	needles   []string
	seen      map[uint64]int // the place in hits of a text by its fingerprint, or -1
	of        map[string]int // hits of each session
	score     float64        // of the last hit
	hits      []Hit
	read, all int // sessions
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
	if len(d.needles) == 0 && d.req.Regex == nil {
		return nil
	}
	sessions := make([]archive.Session, len(d.query.Sessions)) // at most one
	for i, id := range d.query.Sessions {
		if sessions[i], err = d.idx.Session(ctx, id); err != nil {
			return err
		}
	}
	if len(sessions) == 0 {
		sessions, err = d.idx.Sessions(ctx, archive.SessionFilter{Projects: d.query.Projects, Branches: d.query.Branches, Clients: d.query.Clients, Agents: d.query.Agents, Since: d.query.Since})
		if err != nil {
			return err
		}
	}
	d.all = len(sessions)
	for _, s := range sessions {
		if err := d.session(ctx, s); err != nil {
			return fmt.Errorf("read the log of session %s: %w", archive.ShortID(s.ID), err)
		}
		d.read++
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
			if !d.matchesFilters(p) || !d.inTime(p.Time) || d.done() {
				continue
			}
			switch {
			case p.Partial && p.LineFrom >= 0:
				if err := d.passage(ctx, p, s); err != nil {
					return err
				}
			case d.req.Regex != nil && d.matches(p.Text): // the index holds the text whole
				d.add(p, s)
			}
		}
	}
	return nil
}

// matches reports whether a text matches the search.
func (d *deepSearch) matches(text string) bool {
	return (d.req.Regex == nil || d.req.Regex.MatchString(text)) && containsAll(text, d.needles)
}

// add adds a passage as a hit, unless one with its text is known or its session has enough.
func (d *deepSearch) add(p archive.Passage, s archive.Session) {
	key := fingerprint(p.Text)
	if i, known := d.seen[key]; known {
		if handle := passageRef(p).Handle(); i >= 0 && d.hits[i].Handle != handle {
			d.hits[i].CopyHandles = append(d.hits[i].CopyHandles, handle)
			d.hits[i].Copies++
		}
		return
	}
	d.seen[key] = -1
	if most := d.req.PerSession; most > 0 && d.req.Session == "" && d.of[s.ID] >= most {
		if d.more == nil {
			d.more = map[string]int{}
		}
		d.more[s.ID]++
		return
	}
	d.of[s.ID]++
	d.seen[key] = len(d.hits)
	d.score *= 0.99 // below every earlier hit
	d.hits = append(d.hits, newHit(archive.Hit{Passage: p, Project: s.Project, Title: s.Title, Client: s.Client, Score: d.score}))
}

func (d *deepSearch) inTime(t time.Time) bool {
	return (d.query.Since.IsZero() || !t.Before(d.query.Since)) && (d.query.Until.IsZero() || !t.After(d.query.Until))
}

// passage reads the whole text of a passage and adds the chunks that match.
func (d *deepSearch) passage(ctx context.Context, p archive.Passage, s archive.Session) error {
	head, _, _ := strings.Cut(p.Text, "\n")
	return d.logs.ScanLines(ctx, p.Session, p.LineFrom, p.LineTo, d.matches, func(line int, text string) error {
		for chunk := range chunks(text) {
			if d.done() {
				return nil
			}
			if !d.matches(chunk) || d.req.Regex == nil && strings.Contains(p.Text, chunk) {
				continue
			}
			q, found := p, len(d.hits)
			q.Text, q.LineFrom, q.LineTo = strings.Clone(chunk), line, line+1
			if d.add(q, s); len(d.hits) > found {
				d.hits[found].Deep, d.hits[found].Head = true, head
			}
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
