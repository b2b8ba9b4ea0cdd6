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

// PromptStore is the part of a store that automatic recall needs.
type PromptStore interface {
	Search(ctx context.Context, q archive.Query) ([]archive.Hit, error)
	// Counts returns how common the query's terms are. It is much faster than Search.
	Counts(ctx context.Context, q archive.Query) (archive.Counts, error)
	Compactions(ctx context.Context, s archive.Span) ([]archive.Compaction, error)
	Injected(ctx context.Context, session string) ([]archive.Injection, error)
	Passages(ctx context.Context, s archive.PassageSpan) ([]archive.Passage, error)
	// PassageCount returns the number of passages in all projects.
	PassageCount(ctx context.Context) (int, error)
}

// PromptRequest asks for passages that a session needs.
type PromptRequest struct {
	Session string // of the prompt
	Project string // its project's key; "" finds nothing
	Prompt  string // not redacted; it is searched for and never returned
	Now     time.Time
	// Until, if set, excludes newer passages, for evaluations.
	Until time.Time
	// BeforeLine, if positive, is the prompt's line in the transcript, for evaluations.
	BeforeLine int
	Units      int // the largest size of the text in UTF-16 units, fence included
}

// The largest size of the text at a prompt and after a compaction, in UTF-16 units.
const (
	MaxPromptUnits  = 1200
	MaxRelatedUnits = 800
)

// Recalled is the text to inject, with the places of its passages. It is empty if there
// is nothing worth injecting.
type Recalled struct {
	Text    string
	Handles []string
	Refs    []archive.Ref
}

// candidate is a passage that the session may need.
type candidate struct {
	archive.Hit
	matched  int     // names in the passage
	names    int     // names of the prompt
	coverage float64 // share of the query's weight in the passage
	rarity   float64 // score relative to a term in one passage only
	excerpt  string  // the part to print; "": the start of the text
	units    int     // its largest size in UTF-16 units; 0: excerptUnits
	changed  string  // handle of a later turn that replaces a value in it
}

const (
	fetchCandidates = 30  // passages that are read
	maxTurns        = 3   // turns in the text
	excerptUnits    = 260 // UTF-16 units of a passage
	minExcerpt      = 80  // units of the shortest excerpt that is useful
	maxPromptWords  = 250 // a longer prompt contains its context
	maxNames        = 12  // names that are searched for
	readPrompts     = 2   // latest prompts for Related
	readEdits       = 8   // latest edits for Related
	maxPromptBytes  = 16 << 10
)

// MayRecall decides from the prompt alone whether ForPrompt can find anything. It takes
// microseconds and opens nothing.
func MayRecall(prompt string) bool {
	if len(prompt) > maxPromptBytes || strings.HasPrefix(prompt, "/") || strings.HasPrefix(prompt, "<") {
		return false
	}
	p := ReadPrompt(prompt)
	return p.Words <= maxPromptWords && (len(p.Names) > 0 || len(readQuestion(prompt).terms) > 0)
}

// ForPrompt returns passages that the prompt needs and the context does not contain:
// from before the last compaction, or from other sessions of the project.
func ForPrompt(ctx context.Context, idx PromptStore, r PromptRequest) (Recalled, error) {
	if !MayRecall(r.Prompt) || r.Project == "" {
		return Recalled{}, nil
	}
	const title = "from earlier work in this project that is not in this context; the recall tool or `strandline show HANDLE` gives one whole"
	seen, err := loadContext(ctx, idx, r)
	if err != nil {
		return Recalled{}, err
	}
	list, err := promptCandidates(ctx, idx, r, seen)
	if err != nil {
		return Recalled{}, err
	}
	if !defaultThreshold().accepts(list) {
		if list, err = answers(ctx, idx, r, seen); err != nil {
			return Recalled{}, err
		}
	}
	return format(title, list, min(r.Units, MaxPromptUnits), r.Now), nil
}

// Related returns passages of other sessions about a session's current work: its latest
// prompts and the files of its latest edits. The request's prompt is ignored.
func Related(ctx context.Context, idx PromptStore, r PromptRequest) (Recalled, error) {
	const title = "other sessions on the same work; `strandline show HANDLE` gives one whole"
	list, err := relatedCandidates(ctx, idx, r)
	if !defaultThreshold().accepts(list) {
		list = nil
	}
	return format(title, list, min(r.Units, MaxRelatedUnits), r.Now), err
}

// promptCandidates returns the passages outside the context that contain most of the
// prompt's names, one per turn, best first.
func promptCandidates(ctx context.Context, idx PromptStore, r PromptRequest, seen inContext) ([]candidate, error) {
	same := withoutSpace(r.Prompt)
	return candidates(ctx, idx, r, ReadPrompt(r.Prompt).Names, func(p archive.Passage) bool {
		return seen.contains(p) || p.Kind == archive.KindPrompt && withoutSpace(p.Text) == same
	})
}

// withoutSpace returns s in lower case without white space, for comparison.
func withoutSpace(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), "")) }

// relatedCandidates returns the passages of other sessions that contain most of the
// names in the session's current work, one per turn, best first.
func relatedCandidates(ctx context.Context, idx PromptStore, r PromptRequest) ([]candidate, error) {
	if r.Project == "" {
		return nil, nil
	}
	names, err := currentNames(ctx, idx, r)
	if err != nil {
		return nil, err
	}
	main := func(session string) string { id, _, _ := strings.Cut(session, "~"); return id }
	return candidates(ctx, idx, r, names, func(p archive.Passage) bool { return main(p.Session) == main(r.Session) })
}

// currentNames returns the files of a session's latest edits and the names in its
// latest prompts.
func currentNames(ctx context.Context, idx PromptStore, r PromptRequest) ([]string, error) {
	var names []string
	for _, kind := range []archive.PassageKind{archive.KindEdit, archive.KindPrompt} {
		span := archive.Span{Session: r.Session, BeforeLine: r.BeforeLine, Newest: true, Limit: readEdits}
		if kind == archive.KindPrompt {
			span.Limit = readPrompts
		}
		latest, err := idx.Passages(ctx, archive.PassageSpan{Span: span, Kinds: []archive.PassageKind{kind}})
		if err != nil {
			return nil, err
		}
		for _, p := range latest {
			var found []string
			if kind == archive.KindEdit {
				found = archive.Convert(p.Paths, func(path string) string { return pathEnd(strings.ReplaceAll(path, `\`, "/")) })
			} else if w := ReadPrompt(p.Text); w.Words <= maxPromptWords {
				found = w.Names
			}
			for _, n := range found {
				if !slices.Contains(names, n) {
					names = append(names, n)
				}
			}
		}
	}
	return names, nil
}

// candidates returns the passages of the project that contain most of the names and
// are not excluded, one per turn, best first.
func candidates(ctx context.Context, idx PromptStore, r PromptRequest, names []string, excluded func(archive.Passage) bool) ([]candidate, error) {
	if len(names) == 0 {
		return nil, nil
	}
	names = names[:min(len(names), maxNames)]
	q := archive.Query{
		Terms:    terms.Query(strings.ReplaceAll(strings.Join(names, " "), `"`, " ")),
		Projects: []string{r.Project}, Until: r.Until, Limit: fetchCandidates,
	}
	hits, err := idx.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	n, err := idx.PassageCount(ctx)
	if err != nil {
		return nil, err
	}
	unique := math.Log1p(float64(n)) // BM25's weight of a term in one of n passages
	var list []candidate
	for _, h := range hits {
		if !excluded(h.Passage) && h.Label != archive.LabelArchived {
			list = append(list, candidate{
				Hit: h, matched: countNames(h.Passage, names), names: len(names),
				coverage: coverage(h.Passage, q.Terms), rarity: h.Evidence.BM25 / max(unique, 1),
			})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.matched, a.matched), cmp.Compare(b.Evidence.BM25, a.Evidence.BM25))
	})
	var kept []candidate
	for _, c := range list {
		sameTurn := func(k candidate) bool { return k.Passage.Session == c.Passage.Session && k.Turn == c.Turn }
		if len(kept) < maxTurns && !slices.ContainsFunc(kept, sameTurn) {
			kept = append(kept, c)
		}
	}
	return kept, nil
}

// threshold is the least coverage and rarity of the best candidate. The values are fitted on one half
// of real sessions; see TestEvalThreshold.
type threshold struct{ coverage, rarity float64 }

func defaultThreshold() threshold { return threshold{coverage: 0.5, rarity: 1} }

// accepts reports whether candidates, best first, are worth injecting. One of several
// names is not enough: such a passage is often about something else.
func (t threshold) accepts(list []candidate) bool {
	if len(list) == 0 {
		return false
	}
	best := list[0]
	return (best.matched > 1 || best.matched == 1 && best.names == 1) && best.coverage >= t.coverage && best.rarity >= t.rarity
}

// countNames counts the names in a passage. A file among the passage's paths counts
// twice: the passage worked on it.
func countNames(p archive.Passage, names []string) (n int) {
	body, paths := strings.ToLower(p.Text), strings.ToLower(strings.Join(p.Paths, "\n"))
	for _, name := range names {
		name = strings.ToLower(pathEnd(name))
		if strings.Contains(body, name) {
			n++
		}
		if isFileName(name) && strings.Contains(paths, name) {
			n++
		}
	}
	return n
}

// pathEnd returns the last two elements of a path, because working trees differ in the
// others.
func pathEnd(name string) string {
	parts := strings.Split(name, "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// coverage returns the share of a query's weight in a passage.
func coverage(p archive.Passage, ts []archive.Term) float64 {
	contained := map[string]bool{}
	for _, s := range append(slices.Clip(p.Paths), p.Text) {
		addWords(contained, s)
	}
	found, all := 0.0, 0.0
	for _, t := range ts {
		all += t.Weight
		if contained[t.Text] {
			found += t.Weight
		}
	}
	return found / cmp.Or(all, 1)
}

// format writes the text: a title, and a line for as many passages as fit. It is empty
// if there are none.
func format(title string, list []candidate, units int, now time.Time) (out Recalled) {
	if len(list) == 0 {
		return out
	}
	left := units - text.FenceOverhead - text.Units(title)
	var body strings.Builder
	for _, c := range list {
		ref := passageRef(c.Passage)
		head := fmt.Sprintf("%s (%s, %s%s) ", ref.Handle(), c.Kind, formatAge(now.Sub(c.Time)), c.changed)
		size := min(cmp.Or(c.units, excerptUnits), left-text.Units(head)-len("\n"))
		if size < minExcerpt {
			break
		}
		line := head + text.Truncate(text.OneLine(cmp.Or(c.excerpt, c.Text)), size) + "\n"
		left -= text.Units(line)
		body.WriteString(line)
		out.Handles, out.Refs = append(out.Handles, ref.Handle()), append(out.Refs, ref)
	}
	out.Text = text.Fence(title, body.String())
	return out
}

// formatAge formats how long ago something was.
func formatAge(d time.Duration) string {
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
