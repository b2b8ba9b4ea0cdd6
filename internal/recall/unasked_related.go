package recall

import (
	"context"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// MaxRelatedUnits is the most that is said beside the block after a compaction.
const MaxRelatedUnits = 800

const relatedTitle = "other sessions on the same work; `strandline show HANDLE` gives one whole"

// What the work in hand is read from.
const (
	promptsRead = 2 // of the newest
	editsRead   = 8
)

// Related returns passages of other sessions about the work that a session has in
// hand: its last prompts and the files that it changed last. The request's prompt
// is not used.
func Related(ctx context.Context, idx PromptStore, r PromptRequest) (Recalled, error) {
	list, err := relatedTo(ctx, idx, r)
	if err != nil || !fitted().speaks(list) {
		return Recalled{}, err
	}
	return tell(relatedTitle, list, min(r.Units, MaxRelatedUnits), r.Now), nil
}

// relatedTo are those passages, best first.
func relatedTo(ctx context.Context, idx PromptStore, r PromptRequest) ([]found, error) {
	if r.Project == "" {
		return nil, nil
	}
	names, err := inHand(ctx, idx, r)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	parent, _, _ := strings.Cut(r.Session, "~")
	return named(ctx, idx, r, names, func(p archive.Passage) bool {
		session, _, _ := strings.Cut(p.Session, "~")
		return session == parent
	})
}

// inHand are the names in a session's last prompts, and the files of its last
// changes.
func inHand(ctx context.Context, idx PromptStore, r PromptRequest) ([]string, error) {
	span := archive.Span{Session: r.Session, BeforeLine: r.BeforeLine, Newest: true, Limit: promptsRead}
	prompts, err := idx.Passages(ctx, archive.PassageSpan{Span: span, Kinds: []archive.PassageKind{archive.KindPrompt}})
	if err != nil {
		return nil, err
	}
	span.Limit = editsRead
	edits, err := idx.Passages(ctx, archive.PassageSpan{Span: span, Kinds: []archive.PassageKind{archive.KindEdit}})
	if err != nil {
		return nil, err
	}
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, e := range edits {
		for _, path := range e.Paths {
			add(tailOf(strings.ReplaceAll(path, `\`, "/")))
		}
	}
	for _, p := range prompts {
		if c := ReadPrompt(p.Text); c.Words <= wordsMost {
			for _, n := range c.Names {
				add(n)
			}
		}
	}
	return names, nil
}
