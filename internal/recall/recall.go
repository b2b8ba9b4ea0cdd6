// Package recall searches the archive. It parses a person's query, corrects typos,
// ranks passages by words, meaning and confidence, and folds copies of the same text.
// A deep search also reads the logs for texts that the index holds only in part.
//
// ForPrompt and Related are automatic recall: they find passages that a prompt or a
// compaction needs and that the context does not contain.
package recall

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/embed"
	"strandline/internal/index/terms"
	"strandline/internal/text"
)

// SearchStore is the part of a store that a search needs.
type SearchStore interface {
	// Search returns the passages that match best, best first.
	Search(ctx context.Context, q archive.Query) ([]archive.Hit, error)
	// Resolve returns the ID of the session with this prefix.
	Resolve(ctx context.Context, prefix string) (string, error)
	// WordCounts returns the number of passages with each word. It may stop counting
	// common words.
	WordCounts(ctx context.Context, words []string) ([]int, error)
	// WordsFrom returns at most limit indexed words with this prefix.
	WordsFrom(ctx context.Context, prefix string, limit int) ([]string, error)
	// Accesses returns when parts of a session were given to the model.
	Accesses(ctx context.Context, session string) ([]archive.Access, error)
}

// Recall answers queries over one store. It has no state between calls and is safe
// for concurrent use if its store is.
type Recall struct {
	// Vectors are searched as well; nil: find by words only.
	Vectors    Vectors
	Confidence Confidence

	store    SearchStore
	now      func() time.Time
	embedder embed.Vectorizer // nil: rank by words only
}

// New returns a Recall over store. The embedder compares the meaning of a query and
// its hits; with nil, hits are ranked by their words.
func New(store SearchStore, now func() time.Time, embedder embed.Vectorizer) *Recall {
	return &Recall{store: store, now: now, embedder: embedder, Confidence: DefaultConfidence()}
}

// The number of hits fetched from the store, relative to the limit: copies are
// folded, and phrases and files are checked here.
const (
	fetchFactor  = 2
	fetchChecked = 20 // with phrases, files or a handle
	fetchMin     = 120
	fetchLiteral = 48 // the least for a query of names, which is not ranked by meaning
)

// Search answers req. If nothing matches, it relaxes the query step by step, as
// Result.Relaxed says. Filters always apply.
func (r *Recall) Search(ctx context.Context, req Request) (Result, error) {
	start := r.now()
	res, s, err := r.byWords(ctx, req)
	if err == nil && req.When != nil && len(res.Hits) == 0 {
		req.Text, req.When = req.Text+" "+req.When.Words, nil // the words of the time as text
		res, s, err = r.byWords(ctx, req)
	}
	if err != nil {
		return Result{}, err
	}
	if len(res.Hits) == 0 {
		if res.Hits, err = s.related(ctx); err != nil {
			return Result{}, err
		}
	}
	res.More = s.more
	if s.matches != nil {
		res.Notes = s.matches.Notes
	}
	res.TookMS = float64(r.now().Sub(start)) / float64(time.Millisecond)
	return res, nil
}

// byWords returns the passages with the query's words.
func (r *Recall) byWords(ctx context.Context, req Request) (Result, *search, error) {
	s, err := r.prepare(ctx, req)
	if err != nil {
		return Result{}, nil, err
	}
	res := Result{Query: req.Query, When: req.When}
	for _, v := range s.variants() {
		res.Relaxed, res.Terms = v.name, v.query.Terms
		if v.query.Also, err = s.nearestPassages(ctx); err != nil {
			return Result{}, nil, err
		}
		if res.Hits, err = s.run(ctx, v); err != nil {
			return Result{}, nil, err
		}
		if v.name == "" && s.written != nil && len(res.Hits) > 0 && !contains(res.Hits[0], s.written) {
			res.Relaxed = RelaxedWritten
		}
		if err := s.correct(ctx, v, &res); err != nil {
			return Result{}, nil, err
		}
		if len(res.Hits) > 0 {
			break
		}
	}
	if len(res.Hits) == 0 {
		res.Relaxed, res.Hits, res.Corrected = "", []Hit{}, s.corrections
		if err := s.markFiltered(ctx, &res); err != nil {
			return Result{}, nil, err
		}
	}
	return res, s, nil
}

// search is the state of one request.
type search struct {
	*Recall
	req         Request
	query       archive.Query
	written     []string                // the words, if the query is searched as it is written
	turn, step  int                     // of the handle in session:, -1 for all
	corrections []Correction            // made in query
	matches     *embed.Matches          // by meaning; nil before the first use
	meanings    map[int64]embed.Meaning // of matches, by passage
	more        map[string]int          // see Result.More
}

// variant is one interpretation of a query.
type variant struct {
	name    Relaxed
	query   archive.Query
	phrases []string
}

// prepare resolves the session and makes the store's query.
func (r *Recall) prepare(ctx context.Context, req Request) (*search, error) {
	words := text.Prefix(req.Text, MaxQuery)
	s := &search{Recall: r, req: req, written: asWritten(words), turn: -1, step: -1}
	if w := req.When; w != nil && req.Since.IsZero() && req.Until.IsZero() {
		req.Since, req.Until = w.Since, w.Until
	}
	s.query = archive.Query{
		Terms: queryTerms(words), Projects: req.Projects, Kinds: req.Kinds,
		Branches: req.Branches, Clients: req.Clients, Failed: req.Failed, Since: req.Since, Until: req.Until, Agents: req.Agents, Dead: req.Dead, Answer: terms.AnswerType(words), Limit: min(cmp.Or(max(req.Limit, 0), DefaultLimit), MaxLimit),
	}
	matchStarts(s.query.Terms, s.written)
	terms.Widen(s.query.Terms)
	for _, f := range req.Files {
		s.query.Terms = append(s.query.Terms, fileTerm(f, len(req.Files) == 1)...)
	}
	if len(s.query.Terms) == 0 && req.Regex == nil {
		return nil, archive.Invalid("the query has no words", "give at least one word, e.g. strandline search \"retry policy\"")
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
	s.query.Sessions, s.query.Projects, s.query.Agents = []string{id}, nil, true
	s.turn, s.step = h.Turn, h.Step
	return s, nil
}

// fileWeight is the weight of the name in a file: filter, relative to a typed word.
const fileWeight = 0.3

// fileTerm returns the term for the last element of a path, with which the store
// selects passages; the path is checked afterwards. The only file is required.
func fileTerm(path string, only bool) []archive.Term {
	if at := strings.LastIndexAny(path, `/\`); at >= 0 && at+1 < len(path) {
		path = path[at+1:]
	}
	ts := terms.Query(path)
	if len(ts) == 0 {
		return nil
	}
	ts[0].Must, ts[0].Weight, ts[0].Prefix = only, fileWeight, true
	return ts[:1]
}

// minPrefix is the length in bytes of the shortest word used for a prefix search.
const minPrefix = 3

// variants returns the interpretations of the query, strictest first.
func (s *search) variants() []variant {
	all := []variant{{query: s.query, phrases: s.req.Phrases}}
	if len(s.req.Phrases) > 0 {
		all = append(all, variant{name: RelaxedPhrase, query: s.query})
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
		all = append(all, variant{name: RelaxedPrefix, query: loose})
	}
	return all
}

// run queries the store, and filters and ranks its hits.
func (s *search) run(ctx context.Context, v variant) ([]Hit, error) {
	q := v.query
	limit, factor, least := q.Limit, fetchFactor, fetchMin
	if len(v.phrases) > 0 || len(s.req.Files) > 0 || s.turn >= 0 || s.written != nil {
		factor = fetchChecked
	}
	if literal(s.req.Text) {
		least = fetchLiteral
	}
	q.Limit = max(limit*factor, least)
	found, err := s.store.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	phrases := archive.Convert(v.phrases, normalise)
	hits := make([]Hit, 0, len(found))
	for _, f := range found {
		if s.matchesFilters(f.Passage) && containsAll(f.Text, phrases) {
			hits = append(hits, newHit(f))
		}
	}
	if err := s.rank(ctx, hits, limit); err != nil {
		return nil, err
	}
	hits = withoutUnsure(spread(fold(hits)), q.Also)
	writtenFirst(hits, s.written)
	return s.choose(hits, limit), nil
}

// choose returns the first limit hits, at most req.PerSession of each session, and counts
// the others.
func (s *search) choose(hits []Hit, limit int) []Hit {
	most := s.req.PerSession
	if most <= 0 || s.req.Session != "" {
		return hits[:min(limit, len(hits))]
	}
	of := map[string]int{}
	var chosen []Hit
	for _, h := range hits {
		if of[h.Session]++; of[h.Session] <= most && len(chosen) < limit {
			chosen = append(chosen, h)
		}
	}
	for _, h := range chosen {
		of[h.Session]--
	}
	s.more = of
	return chosen
}

// matchesFilters applies the filters that the store does not have.
func (s *search) matchesFilters(p archive.Passage) bool {
	return (s.turn < 0 || p.Turn == s.turn) && (s.step < 0 || p.Step == s.step) && (len(s.req.Files) == 0 || touches(p, s.req.Files))
}

// touches reports whether one of a passage's paths contains one of the files.
func touches(p archive.Passage, files []string) bool {
	slashes := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), `\`, "/") }
	return slices.ContainsFunc(files, func(file string) bool {
		return slices.ContainsFunc(p.Paths, func(path string) bool { return strings.Contains(slashes(path), slashes(file)) })
	})
}

// containsAll reports whether text contains every normalised phrase.
func containsAll(text string, phrases []string) bool {
	if len(phrases) == 0 {
		return true
	}
	text = normalise(text)
	return !slices.ContainsFunc(phrases, func(p string) bool { return !strings.Contains(text, p) })
}

// normalise returns text in lower case with single blanks.
func normalise(s string) string { return strings.ToLower(text.OneLine(s)) }

// markFiltered reports hits that exist but are excluded by the query's filters.
func (s *search) markFiltered(ctx context.Context, res *Result) error {
	relaxed := func(limit int, relax func(*archive.Query)) ([]Hit, error) {
		v := variant{query: s.query, phrases: s.req.Phrases}
		v.query.Limit = limit
		relax(&v.query)
		return s.run(ctx, v)
	}
	if len(s.query.Projects) > 0 {
		hits, err := relaxed(maxOtherHits, func(q *archive.Query) { q.Projects = nil })
		if err != nil {
			return err
		}
		res.Elsewhere, res.Others = len(hits) > 0, countProjects(hits)
	}
	for _, f := range []struct {
		active bool
		found  *bool
		relax  func(*archive.Query)
	}{
		{!s.query.Agents, &res.InAgents, func(q *archive.Query) { q.Agents = true }},
		{!s.query.Dead, &res.Rewound, func(q *archive.Query) { q.Dead = true }},
	} {
		if !f.active {
			continue
		}
		hits, err := relaxed(1, f.relax)
		if err != nil {
			return err
		}
		*f.found = len(hits) > 0
	}
	return nil
}

// countProjects counts hits by project, the most first.
func countProjects(hits []Hit) []OtherProject {
	var all []OtherProject
	for _, h := range hits {
		i := slices.IndexFunc(all, func(o OtherProject) bool { return o.Project == h.Project })
		if i < 0 {
			i, all = len(all), append(all, OtherProject{Project: h.Project})
		}
		all[i].Hits++
	}
	slices.SortStableFunc(all, func(x, y OtherProject) int { return y.Hits - x.Hits })
	return all
}
