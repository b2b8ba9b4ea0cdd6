package compact

import (
	"context"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
	"strandline/internal/transcript"
)

// Summary is what a finished piece of work left behind, redacted.
type Summary struct {
	Handle string // where the work began
	Text   string
}

// Request says which session to restore and how much room there is.
type Request struct {
	Session string // full session id
	// AtLine restores as if the session had ended before this line (0-based,
	// exclusive); 0 means the whole session.
	AtLine int
	// Budget is the size of the block in UTF-16 units, its fence included.
	Budget int
	// Instructions is the text that followed /compact: it stands first,
	// verbatim, and steers the selection.
	Instructions string
	// Role shapes the block by a template. Without one it is made of what is worth
	// most; see docs/compaction.md for what either is worth.
	Role Role
	// Changes returns what is not committed in the session's work tree, redacted
	// and bounded, for Preserve; nil, or "" from it, adds nothing.
	Changes func(ctx context.Context) string
	// Summaries are those of finished work, most wanted first: Preserve passes them
	// on word for word.
	Summaries []Summary
	// Log returns the conversation that the lines [from, to) of a session's
	// transcript hold, to 0 meaning its end, or the newest part of it in so many
	// bytes. A block that is large, or has little to choose from, asks it for
	// what the index holds only in part; nil leaves it at that.
	Log func(ctx context.Context, session string, from, to int, most int64) ([]transcript.Message, error)
	// Redact removes secrets from what Log returns; nil changes nothing.
	Redact func(string) string
	// Weights are by what factor a name of a shape is worth more, or less: what
	// Taught.Weights learned. Nil changes nothing.
	Weights map[string]float64
	// Now is the time of the request; it labels ages and selects nothing.
	Now time.Time
}

// Block is the text to inject.
type Block struct {
	Text    string   // fenced; empty when there is nothing useful to say
	Handles []string // the places the text was taken from, in order, each once
	Left    int      // items that had some worth and did not fit
}

// Restore returns the block that puts back what a compaction took away. The
// same archive and request give the same block.
func Restore(ctx context.Context, src Source, req Request) (Block, error) {
	p, err := load(ctx, src, req.Session, req.AtLine, req.Budget)
	if err != nil {
		return Block{}, err
	}
	if err := p.fill(ctx, req); err != nil {
		return Block{}, err
	}
	return restorePast(ctx, p, req)
}

// restorePast makes the block of a past that was read.
func restorePast(ctx context.Context, p *past, req Request) (Block, error) {
	role := req.Role.resolve(p)
	title := blockTitle(p)
	if role != RoleNone {
		title += ", for the " + string(role)
	}
	room := req.Budget - text.FenceOverhead - text.Units(title) - text.Units(footer(req.Session, 9999)) - 1
	if room < minLine || len(p.passages)+len(p.prompts) == 0 {
		return Block{}, nil
	}
	c := learnPast(p, req)
	items := c.gather(func() { c.settle(p.known) }) // gathering does not need what it is worth
	layout := role.layout()
	layout.apply(items)
	body, handles, left := newChooser(c.voc, sectionTitles(), room).pick(items)
	if body == "" {
		return Block{}, nil
	}
	body += footer(req.Session, left)
	return Block{Text: text.Fence(title, body), Handles: handles, Left: left}, ctx.Err()
}

// blockTitle says what the block is a record of.
func blockTitle(p *past) string {
	parts := []string{"session " + archive.ShortID(p.session.ID)}
	if n := p.session.Project.Name; n != "" {
		parts = append(parts, "project "+oneLine(n))
	}
	if !p.end.IsZero() {
		parts = append(parts, p.end.UTC().Format("2006-01-02"))
	}
	return strings.Join(parts, ", ")
}
