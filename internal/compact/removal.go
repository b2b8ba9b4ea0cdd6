package compact

import (
	"context"
	"math"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// RemovalSource reads the edits and outputs of a session.
type RemovalSource interface {
	Passages(ctx context.Context, s archive.PassageSpan) ([]archive.Passage, error)
	Calls(ctx context.Context, s archive.CallSpan) ([]archive.Call, error)
}

// FindRemoval returns the last edit after a statement that removed a name in it, nil if
// there is none. As in restored contexts, a name that a later edit or output shows again is
// not removed, and neither is one in a line that announces its removal.
func FindRemoval(ctx context.Context, from RemovalSource, at archive.Ref, line int, statement string) (*archive.Removal, error) {
	gone := map[string]*archive.Passage{} // by name; nil while it is not removed
	for l := range strings.Lines(statement) {
		if !removalPhrases().in(l) {
			text.Terms(l, func(name string) { gone[name] = nil })
		}
	}
	if len(gone) == 0 || line < 0 {
		return nil, nil
	}
	span := archive.Span{Session: at.Session, TurnFrom: at.Turn, TurnTo: math.MaxInt32}
	edits, err := from.Passages(ctx, archive.PassageSpan{Span: span, Kinds: []archive.PassageKind{archive.KindEdit}})
	if err != nil || len(edits) == 0 {
		return nil, err
	}
	failed, err := from.Calls(ctx, archive.CallSpan{Span: span, Kinds: []archive.CallKind{archive.CallEdit}, Failed: true})
	if err != nil {
		return nil, err
	}
	refused := map[int]bool{} // lines of edits that changed nothing
	for _, c := range failed {
		refused[c.LineUse] = true
	}
	var first *archive.Passage
	for i := range edits {
		x := &edits[i]
		if x.LineFrom <= line || refused[x.LineFrom] || !containsName(x.Text, gone) {
			continue
		}
		h := parseHunk(x.Text)
		eachName(h.removed, gone, x)
		eachName(h.added, gone, nil)
		if first == nil {
			first = x
		}
	}
	if first == nil {
		return nil, nil
	}
	span.TurnFrom = first.Turn
	outputs, err := from.Passages(ctx, archive.PassageSpan{Span: span, Kinds: []archive.PassageKind{archive.KindOutput}})
	for i := range outputs {
		for name, x := range gone {
			if x != nil && outputs[i].LineFrom > x.LineFrom && strings.Contains(outputs[i].Text, name) {
				gone[name] = nil
			}
		}
	}
	var last *archive.Passage
	var removed string
	for name, x := range gone {
		if x != nil && (last == nil || x.LineFrom > last.LineFrom || x == last && name < removed) {
			last, removed = x, name
		}
	}
	if last == nil {
		return nil, err
	}
	return &archive.Removal{Handle: archive.Ref{Session: last.Session, Turn: last.Turn, Step: last.Step}.Handle(), Name: removed}, err
}

// containsName reports whether a text contains one of the names.
func containsName(s string, names map[string]*archive.Passage) bool {
	for name := range names {
		if strings.Contains(s, name) {
			return true
		}
	}
	return false
}

// eachName sets the names that lines contain to x, if they are keys of names.
func eachName(lines []string, names map[string]*archive.Passage, x *archive.Passage) {
	for _, l := range lines {
		text.Terms(l, func(name string) {
			if _, known := names[name]; known {
				names[name] = x
			}
		})
	}
}
