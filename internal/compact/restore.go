package compact

import (
	"context"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
	"strandline/internal/transcript"
)

// Source is the part of a store that this package reads. Every query is bounded.
type Source interface {
	Session(ctx context.Context, id string) (archive.Session, error)
	Turns(ctx context.Context, s archive.Span) ([]archive.Turn, error)
	// Rewound returns the dead turns of a span that are followed by a live turn.
	Rewound(ctx context.Context, s archive.Span) ([]int, error)
	Steps(ctx context.Context, s archive.Span) ([]archive.Step, error)
	Calls(ctx context.Context, s archive.CallSpan) ([]archive.Call, error)
	Passages(ctx context.Context, s archive.PassageSpan) ([]archive.Passage, error)
	Tasks(ctx context.Context, s archive.Span) ([]archive.TaskEvent, error)
	Compactions(ctx context.Context, s archive.Span) ([]archive.Compaction, error)
	HookSummaries(ctx context.Context, session string) ([]archive.HookSummary, error)
	// Facts returns the journal's entries of a kind for a session, oldest first.
	Facts(ctx context.Context, session string, kind archive.JournalKind) ([]archive.JournalEntry, error)
	// Notes returns the user's notes, newest first.
	Notes(ctx context.Context) ([]archive.Note, error)
}

// Summary is the redacted summary of a finished segment.
type Summary struct {
	Handle string // of the segment's first turn
	Text   string
}

// Request describes a text to produce for a session.
type Request struct {
	Session string // full session ID
	// AtLine treats the session as if it had ended before this line (0-based,
	// exclusive); 0 means the whole session.
	AtLine int
	// Budget is the size of the text in UTF-16 units, fence included.
	Budget int
	// Instructions is the text after /compact. It is printed first, verbatim, and
	// raises the value of lines that match it.
	Instructions string
	// From is the title of the session's client if the text is for a reader that has nothing
	// of the session in its context: another client that continues the work. It is "" for
	// a context that holds the session's summary.
	From string
	// Prompted reports that the prompts stay in the client's context. They are left out.
	Prompted bool
	// Brief asks Preserve for a shorter text, which a user sees.
	Brief bool
	// Role orders and weights the sections.
	Role Role
	// Changes returns the uncommitted changes of the session's work tree, redacted
	// and bounded; nil or "" adds nothing.
	Changes func(ctx context.Context) string
	// Summaries are those of finished segments, most relevant first. Preserve
	// includes them verbatim.
	Summaries []Summary
	// Log returns the messages in lines [from, to) of a session's transcript; to 0
	// means its end. If they exceed most bytes it returns the newest of them. It
	// supplies the full text of passages that the index truncates; nil leaves them
	// truncated.
	Log func(ctx context.Context, session string, from, to int, most int64) ([]transcript.Message, error)
	// Redact removes secrets from what Log returns; nil changes nothing.
	Redact func(string) string
	// Weights maps a term shape to a value multiplier, see Tallies.Weights. Nil
	// means 1.
	Weights map[string]float64
	// Now is the time of the request. It labels ages, and hides snapshots older than
	// archive.PostedAge.
	Now time.Time
}

// Output is a text to inject.
type Output struct {
	Text    string   // fenced; empty if there is nothing useful to restore
	Handles []string // the places quoted, in order, each once
	Left    int      // entries that did not fit
}

// Restore returns the context to restore after a compaction. The result depends
// on the archive and the request only.
func Restore(ctx context.Context, src Source, req Request) (Output, error) {
	p, err := load(ctx, src, req.Session, req.AtLine, req.Budget)
	if err != nil {
		return Output{}, err
	}
	if err := p.complete(ctx, req); err != nil {
		return Output{}, err
	}
	if req.handsOver() {
		p.forgetSummary()
	}
	return restorePast(ctx, p, req)
}

// restorePast is Restore for a loaded session.
func restorePast(ctx context.Context, p *past, req Request) (Output, error) {
	role := req.Role.resolve(p)
	title := fenceTitle(p)
	if role != RoleNone {
		title += ", for the " + string(role)
	}
	intro, end, order := "", footer, role.layout()
	if req.handsOver() {
		title, intro, end, order = "hand-over of "+title, p.introduction(req), omitted, handoffLayout()
	}
	budget := req.Budget - text.FenceOverhead - text.Units(title) - text.Units(intro) - text.Units(end(req.Session, 9999)) - 1
	if budget < minLine || len(p.passages)+len(p.prompts) == 0 {
		return Output{}, nil
	}
	v := newView(p, req)
	entries := v.collect(func() { v.score(p.summary) }) // collecting does not read the values
	entries = append(entries, v.workTree(ctx)...)
	if req.handsOver() { // names help to spell what was read; this reader has not
		entries = slices.DeleteFunc(entries, func(e *entry) bool { return e.section == secNames })
	}
	body, handles, left := newSelector(v, order, budget).pick(entries)
	if body == "" || len(handles) == 0 && req.Instructions == "" { // a list of changed files alone
		return Output{}, nil
	}
	body = intro + body + end(req.Session, left)
	return Output{Text: text.Fence(title, body), Handles: handles, Left: left}, ctx.Err()
}

// fenceTitle returns the provenance of a text about the session.
func fenceTitle(p *past) string {
	parts := []string{"session " + archive.ShortID(p.session.ID)}
	if in := p.session.Project; in.Name != "" {
		parts = append(parts, "project "+text.CleanLine(in.Title()))
	}
	if !p.end.IsZero() {
		parts = append(parts, p.end.UTC().Format("2006-01-02"))
	}
	return strings.Join(parts, ", ")
}
