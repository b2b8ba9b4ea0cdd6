// Package recall finds what was said and done: it turns a person's query into
// a store's query, folds what is the same text twice, and gives ranked passages
// with their place. For what the index holds only in part it reads the logs.
package recall

import (
	"context"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/embed"
	"strandline/internal/index/terms"
)

// SearchStore is what recall needs of a store.
type SearchStore interface {
	// Search returns the passages that match best, best first.
	Search(ctx context.Context, q archive.Query) ([]archive.Hit, error)
	// Resolve returns the id of the session that prefix stands for.
	Resolve(ctx context.Context, prefix string) (string, error)
	// WordCounts returns how many passages hold each of words; it need not count
	// beyond what is common.
	WordCounts(ctx context.Context, words []string) ([]int, error)
	// WordsFrom returns the words that any passage holds and that begin with
	// prefix, at most limit of them.
	WordsFrom(ctx context.Context, prefix string, limit int) ([]string, error)
	// Accesses returns when places of a session were given to the model.
	Accesses(ctx context.Context, session string) ([]archive.Access, error)
}

// Recall answers queries over one store. It holds no state between calls and
// may be used by several goroutines if its Searcher may.
type Recall struct {
	store    SearchStore
	now      func() time.Time
	embedder Embedder
	vectors  Vectors // nil: passages are found by words alone
	rule     Confidence
}

// New returns a Recall over store; now is the clock that says how old
// a hit is and how long a search took. The embedder judges what texts mean; with nil they are ranked by
// their words alone.
func New(store SearchStore, now func() time.Time, embedder Embedder) *Recall {
	return &Recall{store: store, now: now, embedder: embedder, rule: DefaultConfidence()}
}

// How many more hits than asked for are fetched: near-duplicates are folded,
// and phrases and files are checked here.
const (
	fetchFactor = 2
	fetchChecks = 20
	fetchMin    = 80
	fetchNames  = 48 // of names: there is nothing to weigh against each other
)

// Search answers req. When nothing matches, the query is read more loosely step
// by step, as Relaxed says; filters always hold.
func (r *Recall) Search(ctx context.Context, req Request) (Result, error) {
	start := r.now()
	res, s, err := r.byWords(ctx, req)
	if err == nil && req.When != nil && len(res.Hits) == 0 {
		res, s, err = r.byWords(ctx, req.anyTime())
	}
	if err != nil {
		return Result{}, err
	}
	if res.Hits, err = s.related(ctx, res.Hits); err != nil {
		return Result{}, err
	}
	if s.asked != nil {
		res.Notes = s.asked.Notes
	}
	res.TookMS = float64(r.now().Sub(start)) / float64(time.Millisecond)
	return res, nil
}

// byWords answers with what holds the query's words.
func (r *Recall) byWords(ctx context.Context, req Request) (Result, *search, error) {
	s, err := r.prepare(ctx, req)
	if err != nil {
		return Result{}, nil, err
	}
	res := Result{Query: req.Query, When: req.When}
	for _, reading := range s.readings() {
		res.Relaxed, res.Terms = reading.name, reading.query.Terms
		if res.Hits, err = s.run(ctx, reading); err != nil {
			return Result{}, nil, err
		}
		if err := s.respell(ctx, reading, &res); err != nil {
			return Result{}, nil, err
		}
		if len(res.Hits) > 0 {
			break
		}
	}
	if len(res.Hits) == 0 {
		res.Relaxed, res.Hits, res.Corrected = "", []Hit{}, s.made
		if err := s.lookAside(ctx, &res); err != nil {
			return Result{}, nil, err
		}
	}
	return res, s, nil
}

// search is one request on its way through the store.
type search struct {
	*Recall
	req   Request
	query archive.Query
	turn  int // with step: what a handle in session: narrows the search to; -1: nothing
	step  int
	made  []Correction // what query was corrected by
	asked *embed.Matches
}

// reading is one way to read a query.
type reading struct {
	name    Relaxed
	query   archive.Query
	phrases []string
}

// prepare resolves the session and makes the store's query.
func (r *Recall) prepare(ctx context.Context, req Request) (*search, error) {
	s := &search{Recall: r, req: req, turn: -1, step: -1}
	text := req.Text
	if len(text) > MaxQuery {
		text = strings.ToValidUTF8(text[:MaxQuery], "")
	}
	if w := req.When; w != nil && req.Since.IsZero() && req.Until.IsZero() {
		req.Since, req.Until = w.Since, w.Until
	}
	s.query = archive.Query{
		Terms: terms.Query(text), Projects: req.Projects, Kinds: req.Kinds,
		Since: req.Since, Until: req.Until, Agents: req.Agents, Dead: req.Dead, Answer: terms.AnswerType(text), Limit: req.limit(),
	}
	terms.Widen(s.query.Terms)
	for _, f := range req.Files {
		s.query.Terms = append(s.query.Terms, fileTerm(f, len(req.Files) == 1)...)
	}
	if len(s.query.Terms) == 0 {
		return nil, archive.Invalid("there is nothing to look for", "give at least one word, e.g. strandline search \"retry policy\"")
	}
	if req.Session == "" {
		return s, nil
	}
	h, err := archive.ParseHandle(req.Session)
	if err != nil {
		return nil, err
	}
	id, err := r.store.Resolve(ctx, h.Session)
	if err != nil {
		return nil, err
	}
	s.query.Sessions, s.query.Projects = []string{id}, nil
	s.query.Agents = true
	s.turn, s.step = h.Turn, h.Step
	return s, nil
}

// fileWeight is what the name in a file: filter counts beside a typed word.
const fileWeight = 0.3

// fileTerm returns the word that stands for a path, so that the store does the
// selecting; which path it was is checked afterwards. The only file of a request
// has to be there.
func fileTerm(path string, only bool) []archive.Term {
	if at := strings.LastIndexAny(path, `/\`); at >= 0 && at+1 < len(path) {
		path = path[at+1:]
	}
	ts := terms.Query(path)
	if len(ts) == 0 {
		return nil
	}
	ts = ts[:1]
	ts[0].Must, ts[0].Weight, ts[0].Prefix = only, fileWeight, true
	return ts
}

// readings lists the ways to read the query, strictest first.
func (s *search) readings() []reading {
	all := []reading{{query: s.query, phrases: s.req.Phrases}}
	if len(s.req.Phrases) > 0 {
		apart := s.query
		apart.Terms = slices.Clone(apart.Terms)
		all = append(all, reading{name: RelaxedPhrase, query: apart})
	}
	loose := s.query
	loose.Terms = slices.Clone(loose.Terms)
	changed := false
	for i := range loose.Terms {
		if t := &loose.Terms[i]; !t.Prefix && len(t.Text) >= minPrefix {
			t.Prefix, t.Forms, changed = true, "", true
		}
	}
	if changed {
		all = append(all, reading{name: RelaxedPrefix, query: loose})
	}
	return all
}

// minPrefix is the shortest word in bytes that is taken as a beginning; shorter
// ones begin too many.
const minPrefix = 3

// run asks the store and makes hits of what passes the checks.
func (s *search) run(ctx context.Context, rd reading) ([]Hit, error) {
	q := rd.query
	limit := q.Limit
	factor := fetchFactor
	if len(rd.phrases) > 0 || len(s.req.Files) > 0 || s.turn >= 0 {
		factor = fetchChecks
	}
	least := fetchMin
	if literal(s.req.Text) {
		least = fetchNames
	}
	q.Limit = max(limit*factor, least)
	found, err := s.store.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	phrases := normalised(rd.phrases)
	hits := make([]Hit, 0, len(found))
	for _, f := range found {
		if s.fits(f.Passage) && holds(f.Text, phrases) {
			hits = append(hits, newHit(f))
		}
	}
	if err := addMeaning(ctx, s.embedder, s.req.Text, hits); err != nil {
		return nil, err
	}
	if err := s.byModel(ctx, hits); err != nil {
		return nil, err
	}
	weigh(hits)
	if err := s.addConfidence(ctx, hits, limit); err != nil {
		return nil, err
	}
	hits = spread(fold(hits))
	return hits[:min(limit, len(hits))], nil
}

// fits applies the filters that the store does not know.
func (s *search) fits(p archive.Passage) bool {
	if s.turn >= 0 && p.Turn != s.turn || s.step >= 0 && p.Step != s.step {
		return false
	}
	return len(s.req.Files) == 0 || touches(p, s.req.Files)
}

// touches reports whether a passage's paths hold one of the given parts.
func touches(p archive.Passage, files []string) bool {
	for _, want := range files {
		want = slashes(want)
		for _, path := range p.Paths {
			if strings.Contains(slashes(path), want) {
				return true
			}
		}
	}
	return false
}

func slashes(s string) string { return strings.ReplaceAll(strings.ToLower(s), `\`, "/") }

// holds reports whether text holds every phrase; both are compared without case
// and with runs of white space as one blank.
func holds(text string, phrases []string) bool {
	if len(phrases) == 0 {
		return true
	}
	text = normalise(text)
	for _, p := range phrases {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}

func normalise(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// lookAside tells of what the query's filters keep out, so that nobody takes
// "not here" for "not kept".
func (s *search) lookAside(ctx context.Context, res *Result) (err error) {
	if len(s.query.Projects) > 0 {
		if res.Elsewhere, err = s.would(ctx, func(q *archive.Query) { q.Projects = nil }); err != nil {
			return err
		}
	}
	if !s.query.Agents {
		if res.InAgents, err = s.would(ctx, func(q *archive.Query) { q.Agents = true }); err != nil {
			return err
		}
	}
	if !s.query.Dead {
		res.Rewound, err = s.would(ctx, func(q *archive.Query) { q.Dead = true })
	}
	return err
}

// would reports whether the query matches anything once widen has changed it.
func (s *search) would(ctx context.Context, widen func(*archive.Query)) (bool, error) {
	q := s.query
	q.Limit = 1
	widen(&q)
	hits, err := s.run(ctx, reading{query: q, phrases: s.req.Phrases})
	return len(hits) > 0, err
}
