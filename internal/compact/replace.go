package compact

import (
	"context"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
	"strandline/internal/transcript"
)

// ReplaceRequest is a conversation to be replaced by a shorter one.
type ReplaceRequest struct {
	// Session is the full id of the session; empty when it is not known. The
	// messages are then all there is to work from.
	Session string
	// AtLine is as in Request.
	AtLine int
	// Messages is the conversation as it stands in the context.
	Messages []transcript.Message
	// Budget is the size of the new conversation in tokens, see Budget.
	Budget int
	// Instructions is the text behind /compact; it stands first, verbatim.
	Instructions string
	// Redact removes secrets from what is said anew.
	Redact func(string) string
}

// Replacement is the new conversation.
type Replacement struct {
	// Text is the record that stands first, fenced, in the user's name.
	Text string
	// Keep lists the messages that stand behind it word for word, by their place
	// in the request, ascending. Calls of tools and their results are never
	// parted.
	Keep []int
	// Open is the place of the first response of a turn that is still going on:
	// from there on the model's thinking is needed and responses have to stand
	// untouched. It is the number of messages when no turn is going on.
	Open int
	// Handles are the places that the text names, each once.
	Handles []string
}

// How the record tells what it is. The model reads it first.
const ownNotice = text.ReplacementOpening + `, which strandline compacted without a model: nothing was summarized.
The messages behind it are the last ones, word for word; go on from there. What the user asked is quoted, file contents are as last seen,
and what is only named here is a command away: strandline show HANDLE, strandline search "WORDS"`

// Shares of the room, in percent, at a budget of fullShares tokens or more. What
// a part leaves over goes to those behind it. In a smaller record they shrink, so
// that more of it is chosen by what it is worth, which takes the archive; the
// figures are a compromise over fifteen real compactions at five sizes: no one
// setting was best at all of them, and none was tried on sessions left out.
const (
	shareTail    = 55 // of the budget: messages that stand as they are
	shareAsk     = 20 // of the budget: the prompt that is being worked on, if it is before those
	sharePrompts = 40
	shareFiles   = 30
	shareReplies = 10
	shareDone    = 10
	fullShares   = 28_000
	leastPart    = 400
	leastShares  = 10 // percent of the shares that even the smallest budget has
)

// shareOf is the share of n that a part gets. From leastBudget on every part has
// at least leastPart tokens if its full share is as much.
func (x *index) shareOf(n, share, budget int) int {
	full := n * share / 100
	if x.past == nil {
		return full
	}
	part := full * min(max(100*budget/fullShares, leastShares), 100) / 100
	if budget >= leastBudget {
		part = max(part, min(full, leastPart))
	}
	return part
}

// Replace returns a new conversation within the budget: a record of what was
// said and done, and the last exchanges as they stand. src may be nil, or know
// nothing of the session. A record of an earlier compaction among the messages
// is taken apart and told anew, so that records do not nest. The same request
// on the same archive gives the same answer. An empty conversation is an Error
// with CodeInvalid.
func Replace(ctx context.Context, src Source, req ReplaceRequest) (Replacement, error) {
	if len(req.Messages) == 0 {
		return Replacement{}, archive.Invalid("the conversation holds no messages", "")
	}
	if req.Redact == nil {
		req.Redact = func(s string) string { return s }
	}
	index, err := openPast(ctx, src, req)
	if err != nil {
		return Replacement{}, err
	}
	defer index.close()
	out := Replacement{}
	from, pinned := chooseTail(req.Messages, index, req.Budget)
	room := req.Budget
	if pinned >= 0 {
		out.Keep = append(out.Keep, pinned)
		room -= messageTokens(&req.Messages[pinned])
	}
	for i := from; i < len(req.Messages); i++ {
		out.Keep = append(out.Keep, i)
		room -= messageTokens(&req.Messages[i])
	}
	out.Open = openTurn(req.Messages)
	st := readStory(req, index, from)
	st.dropKept(req, out.Keep)
	title := "a conversation"
	if index.past != nil {
		title = blockTitle(index.past)
	}
	room -= tokens(title) + tokens(ownNotice) + fenceTokens
	w := recordWriter{room: max(room, 0)}
	w.write(ctx, st, index, req, out.Keep)
	var body strings.Builder
	body.WriteString(ownNotice)
	if req.Session != "" {
		body.WriteString(" --session " + archive.ShortID(req.Session))
	}
	body.WriteString(".\n" + w.text.String())
	out.Text = text.Fence(title, body.String())
	out.Handles = w.handles
	return out, ctx.Err()
}

// fenceTokens is what the marks around a record take.
const fenceTokens = 64

// The bounds of a replacement's size in tokens, and the window that is assumed
// where none is known.
const (
	minBudget     = 20_000
	maxBudget     = 60_000
	leastBudget   = 4_000
	defaultWindow = 200_000
)

// Budget returns the size of a replacement in tokens: a fifth of the window, but
// from 20,000 to 60,000, and at most half of what it replaces, though never below
// 4,000. used is what the
// client counts in its context, 0 if that is not known: where it is more than
// the messages look like, they are taken to weigh more than they look.
func Budget(window, used int, ms []transcript.Message) int {
	if window <= 0 {
		window = defaultWindow
	}
	budget := min(max(window/5, minBudget), maxBudget)
	seen := 0
	for i := range ms {
		seen += messageTokens(&ms[i])
	}
	if used > overheadTokens+seen && seen > 0 {
		// Pictures, thinking and numbers weigh more than their characters.
		budget = budget * 100 / min(100*(used-overheadTokens)/seen, maxWeight)
	}
	return max(min(budget, seen/2), leastBudget)
}

const (
	// overheadTokens is about what the client's own prompt and tools take.
	overheadTokens = 25_000
	// maxWeight bounds, in percent, how much more than estimated messages may
	// weigh.
	maxWeight = 200
)
