package app

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/text"
	"strandline/internal/transcript/claude"
)

func newTouch(t archive.Touch) Touch {
	return Touch{
		Handle: archive.Ref{Session: t.Session, Turn: t.Turn, Step: t.Step}.Handle(), Session: t.Session, Time: t.Time,
		Kind: string(t.Kind), Tool: t.Tool, Path: t.Path, Command: t.Command, Failed: t.Failed, Line: t.Line,
	}
}

// describeTouches completes out, the touches of list in the same order: each session and
// each part of its log is read once.
func describeTouches(ctx context.Context, x Archive, list []archive.Touch, out []Touch, texts bool) error {
	bySession := map[string][]int{}
	for i, t := range list {
		bySession[t.Session] = append(bySession[t.Session], i)
	}
	for id, at := range bySession {
		info, err := x.Index.Session(ctx, id)
		if err != nil {
			return err
		}
		if err := describeChanges(ctx, x, id, at, out); err != nil {
			return err
		}
		replies := map[int][]archive.Passage{} // by turn, with the edits
		for _, i := range at {
			t, touch := list[i], &out[i]
			touch.Title, touch.Project = newSession(info).Title, info.Project.Title()
			if touch.Text = cmp.Or(t.Command, t.Path); t.Kind != archive.CallEdit {
				continue
			}
			passages, known := replies[t.Turn]
			if !known {
				span := archive.Span{Session: id, TurnFrom: t.Turn, TurnTo: t.Turn + 1}
				passages, err = x.Index.Passages(ctx, archive.PassageSpan{Span: span, Kinds: []archive.PassageKind{archive.KindReply, archive.KindEdit}})
				if err != nil {
					return err
				}
				replies[t.Turn] = passages
			}
			touch.Why = reason(passages, t.Step)
			if texts {
				touch.Text = changeText(passages, t)
			}
		}
	}
	return nil
}

// describeChanges sets the size and the functions of a session's changes, those of out at
// the given places. A log that is damaged or missing leaves them out.
func describeChanges(ctx context.Context, x Archive, session string, at []int, out []Touch) error {
	changed := map[int][]int{} // by line
	for _, i := range at {
		if t := out[i]; t.Kind == string(archive.CallEdit) && !t.Failed {
			changed[t.Line] = append(changed[t.Line], i)
		}
	}
	common, err := x.Capture.Common(session)
	describe := func(line int, b []byte) {
		for _, block := range (&claude.BlockReader{}).Blocks(common(b), line) {
			if len(block.Changes) == 0 || len(changed[line]) == 0 {
				continue
			}
			block = x.redacted(block)
			touch := &out[changed[line][0]] // a line holds the calls in their order
			changed[line] = changed[line][1:]
			touch.Added, touch.Removed, touch.Functions = block.Added, block.Removed, changedFunctions(block.Diff)
		}
	}
	if err == nil {
		err = x.Lines(ctx, session, slices.Sorted(maps.Keys(changed)), describe)
	}
	if ctx.Err() != nil {
		return err
	}
	return nil
}

// reasonSteps is the number of steps before an edit in which its reason is looked for.
const reasonSteps = 4

// reason returns the model's announcement before an edit in a step, else its last sentence
// in that step; "" for none. passages are those of the turn.
func reason(passages []archive.Passage, step int) string {
	for at := step; at >= max(step-reasonSteps, 0); at-- {
		said, thought, statement := "", "", ""
		for _, p := range passages {
			if p.Step != at || p.Kind != archive.KindReply {
				continue
			}
			announced, last := announcement(p.Text)
			if p.Label == archive.LabelThinking {
				thought = cmp.Or(announced, thought)
				continue
			}
			if said = cmp.Or(announced, said); at == step {
				statement = cmp.Or(last, statement)
			}
		}
		if why := cmp.Or(said, statement, thought); why != "" {
			return why
		}
	}
	return ""
}

// vagueWords is the most words of an announcement that names nothing: "fix this". The
// sentence before it says what.
const vagueWords = 3

// announcement returns the last announcement in a Markdown text, and its last sentence.
func announcement(body string) (announced, last string) {
	text.ProseLines(body, func(line string, code bool) {
		if code {
			return
		}
		text.Sentences(text.TrimMarkdown(text.CleanLine(line)), func(s string) {
			purpose := compact.Purpose(s)
			if s = strings.TrimRight(s, ":. "); purpose != "" {
				announced = purpose
				if len(strings.Fields(purpose)) <= vagueWords {
					announced = cmp.Or(compact.Purpose(last), last, purpose)
				}
			}
			last = cmp.Or(s, last)
		})
	})
	return announced, last
}

// changeText returns the change of a touch as the index holds it, or else the path.
func changeText(passages []archive.Passage, t archive.Touch) string {
	for _, p := range passages {
		if p.Kind == archive.KindEdit && p.Step == t.Step && slices.Contains(p.Paths, t.Path) {
			if head, change, ok := strings.Cut(p.Text, "\n"); ok && strings.HasSuffix(head, t.Path) {
				return change
			}
			return p.Text
		}
	}
	return t.Path
}
