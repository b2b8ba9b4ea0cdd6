// Package unasked knows when a prompt needs something that is no longer in view,
// and what: passages from before the last compaction, or from other sessions of
// the project. Silence is the rule; what it says is short and names its sources.
package recall

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
	"strandline/internal/text"
)

// PromptStore is what this package reads of a store.
type PromptStore interface {
	Search(ctx context.Context, q archive.Query) ([]archive.Hit, error)
	Compactions(ctx context.Context, s archive.Span) ([]archive.Compaction, error)
	Injected(ctx context.Context, session string) ([]archive.Injection, error)
	Passages(ctx context.Context, s archive.PassageSpan) ([]archive.Passage, error)
	// PassageCount is how many passages there are in all projects.
	PassageCount(ctx context.Context) (int, error)
}

// PromptRequest asks for what a prompt needs.
type PromptRequest struct {
	Session string // the conversation that the prompt is said in
	Project string // its project's key; "" finds nothing
	Prompt  string // not redacted: it is looked up, never given out
	Now     time.Time
	// Until, if not zero, hides what is newer: an evaluation looks at the past.
	Until time.Time
	// BeforeLine, if positive, is the line of the transcript that the prompt
	// stands in, for an evaluation.
	BeforeLine int
	Units      int // at most so many UTF-16 units, fence included
}

// MaxPromptUnits is the most that is ever said unasked.
const MaxPromptUnits = 1200

// Recalled is what is said; an empty one says nothing.
type Recalled struct {
	Text    string
	Handles []string
	Refs    []archive.Ref
}

// found is a passage that may be needed.
type found struct {
	archive.Hit
	held  int     // names of the prompt that it holds
	names int     // that the prompt has
	share float64 // of the query's words, by weight
	rare  float64 // its score, in units of what a word that stands once is worth
}

const (
	fetched = 30  // passages that are looked at
	given   = 3   // turns that are told of
	excerpt = 260 // characters of each
	// excerptLeast is what says too little to be worth its line.
	excerptLeast = 80
	wordsMost    = 250 // a longer prompt brings its own context along
	namesMost    = 12  // names that are looked up
)

// recallTitle says in a model's context where the passages come from.
const recallTitle = "from earlier work in this project that is not in this context; the recall tool or `strandline show HANDLE` gives one whole"

// MayRecall decides from the prompt alone whether anything is looked up: it costs
// microseconds and opens nothing.
func MayRecall(prompt string) bool {
	if len(prompt) > 16<<10 || strings.HasPrefix(prompt, "/") || strings.HasPrefix(prompt, "<") {
		return false
	}
	c := ReadPrompt(prompt)
	return len(c.Names) > 0 && c.Words <= wordsMost
}

// ForPrompt returns what the prompt needs and the context does not hold.
func ForPrompt(ctx context.Context, idx PromptStore, r PromptRequest) (Recalled, error) {
	if !MayRecall(r.Prompt) || r.Project == "" {
		return Recalled{}, nil
	}
	list, err := candidates(ctx, idx, r)
	if err != nil || !fitted().speaks(list) {
		return Recalled{}, err
	}
	return tell(recallTitle, list, min(r.Units, MaxPromptUnits), r.Now), nil
}

// candidates are the passages out of view that hold most of the prompt's names,
// one for each turn, best first.
func candidates(ctx context.Context, idx PromptStore, r PromptRequest) ([]found, error) {
	seen, err := view(ctx, idx, r)
	if err != nil {
		return nil, err
	}
	same := plain(r.Prompt) // the question asked before is no answer
	return named(ctx, idx, r, ReadPrompt(r.Prompt).Names, func(p archive.Passage) bool {
		return seen.hides(p) || p.Kind == archive.KindPrompt && plain(p.Text) == same
	})
}

// named are the passages of the project that hold most of the names and are not
// hidden, one for each turn, best first.
func named(ctx context.Context, idx PromptStore, r PromptRequest, names []string, hidden func(archive.Passage) bool) ([]found, error) {
	names = names[:min(len(names), namesMost)]
	q := archive.Query{
		Terms: terms.Query(strings.ReplaceAll(strings.Join(names, " "), `"`, " ")), Projects: []string{r.Project}, Until: r.Until, Limit: fetched,
	}
	hits, err := idx.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	n, err := idx.PassageCount(ctx)
	if err != nil {
		return nil, err
	}
	once := math.Log1p(float64(n)) // BM25's weight of a word that one of n passages holds
	var list []found
	for _, h := range hits {
		if !hidden(h.Passage) && h.Label != archive.LabelArchived { // put aside until somebody asks
			list = append(list, found{
				Hit: h, held: held(h.Passage, names), names: len(names), share: share(h.Passage, q.Terms), rare: h.Evidence.BM25 / max(once, 1),
			})
		}
	}
	slices.SortStableFunc(list, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.held, a.held), cmp.Compare(b.Evidence.BM25, a.Evidence.BM25))
	})
	return oneATurn(list), nil
}

// plain is a text without case and white space, to be compared.
func plain(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), "")) }

// oneATurn keeps the best passage of each of the first turns.
func oneATurn(list []found) []found {
	var kept []found
	for _, f := range list {
		if len(kept) == given {
			break
		}
		if !slices.ContainsFunc(kept, func(k found) bool { return k.Passage.Session == f.Passage.Session && k.Turn == f.Turn }) {
			kept = append(kept, f)
		}
	}
	return kept
}

// held counts the names that a passage holds. One that is the passage's own file
// counts twice: the file was worked on, not only spoken of.
func held(p archive.Passage, names []string) int {
	text, paths := strings.ToLower(p.Text), strings.ToLower(strings.Join(p.Paths, "\n"))
	n := 0
	for _, name := range names {
		name = strings.ToLower(tailOf(name))
		if strings.Contains(text, name) {
			n++
		}
		if isFile(name) && strings.Contains(paths, name) {
			n++
		}
	}
	return n
}

// tailOf is the last two elements of a path: work trees begin in other folders.
func tailOf(name string) string {
	parts := strings.Split(name, "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// share is how much of a query's weight a passage holds.
func share(p archive.Passage, ts []archive.Term) float64 {
	words := terms.AppendTo(nil, p.Text)
	for _, path := range p.Paths {
		words = terms.AppendTo(append(words, ' '), path)
	}
	have := map[string]bool{}
	for w := range strings.FieldsSeq(string(words)) {
		have[w] = true
	}
	n, all := 0.0, 0.0
	for _, t := range ts {
		all += t.Weight
		if have[t.Text] {
			n += t.Weight
		}
	}
	if all == 0 {
		return 0
	}
	return n / all
}

// tell writes the block: a line of origin, and a line for each passage, as many
// as there is room for.
func tell(title string, list []found, units int, now time.Time) Recalled {
	room := units - text.FenceOverhead - text.Units(title)
	var b Recalled
	var body strings.Builder
	for _, f := range list {
		ref := archive.Ref{Session: f.Passage.Session, Turn: f.Turn, Step: f.Step}
		head := fmt.Sprintf("%s (%s, %s) ", ref.Handle(), f.Kind, ageText(now.Sub(f.Time)))
		fits := min(excerpt, room-text.Units(head)-len("\n"))
		if fits < excerptLeast {
			break
		}
		item := head + text.Truncate(strings.Join(strings.Fields(f.Text), " "), fits) + "\n"
		room -= text.Units(item)
		body.WriteString(item)
		b.Handles, b.Refs = append(b.Handles, ref.Handle()), append(b.Refs, ref)
	}
	b.Text = text.Fence(title, body.String())
	return b
}

// ageText says how long ago something was.
func ageText(d time.Duration) string {
	switch {
	case d < 0:
		return "just now"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}
