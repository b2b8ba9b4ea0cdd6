package compact

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// ReplaceRequest describes a conversation to replace by a shorter one.
type ReplaceRequest struct {
	// Session is the full ID of the session, "" if unknown. Without it the
	// messages are the only source.
	Session string
	// AtLine is as in Request.
	AtLine int
	// Messages is the conversation in the context.
	Messages []transcript.Message
	// Budget is the size of the replacement in tokens, see Budget.
	Budget int
	// Instructions is the text after /compact. It is printed first, verbatim.
	Instructions string
	// Redact removes secrets from the record; nil changes nothing.
	Redact func(string) string
	// Log is as in Request.
	Log func(ctx context.Context, session string, from, to int, most int64) ([]transcript.Message, error)
	// Elapsed returns the time since the compaction began, which the record states; nil
	// leaves it out.
	Elapsed func() time.Duration
}

// Replacement is the new conversation.
type Replacement struct {
	// Text is the fenced record of the conversation. It comes first, as a message
	// of the user.
	Text string
	// Keep lists the messages that follow verbatim, by index in the request,
	// ascending. Calls and their results stay together.
	Keep []int
	// Open is the index of the first response of an unfinished turn, the number of
	// messages if there is none. From there on responses must not change, because
	// the API requires their thinking.
	Open int
	// Handles are the places that the text names, each once.
	Handles []string
}

// replacementNotice describes the record to the model.
const replacementNotice = text.ReplacementOpening + `. strandline compacted it without a model, so nothing was summarized.
The last messages follow verbatim; continue from there. The user's requests are quoted; everything else can be read in full: strandline show HANDLE, strandline search "WORDS"`

// The shares of the parts of a replacement, in percent.
const (
	shareKept    = 35 // of the budget: messages kept verbatim
	shareLast    = 60 // of the budget: the last exchange, to be kept at all
	sharePinned  = 20 // of the budget: the current prompt, if it precedes those
	sharePrompts = 40 // of the record
)

// Replace returns a new conversation within the budget: a record of the old one and
// its last messages. src may be nil, or not have the session. A record of an earlier
// replacement among the messages is parsed and merged, so that records do not nest.
// The result depends on the request and the archive only. An empty conversation is
// an Error with CodeInvalid.
func Replace(ctx context.Context, src Source, req ReplaceRequest) (Replacement, error) {
	if len(req.Messages) == 0 {
		return Replacement{}, archive.Invalid("the conversation holds no messages", "")
	}
	if req.Redact == nil {
		req.Redact = func(s string) string { return s }
	}
	a, err := loadArchived(ctx, src, req)
	if err != nil {
		return Replacement{}, err
	}
	defer a.close()
	out := Replacement{Open: openTurn(req.Messages)}
	from, pinned := selectKept(req.Messages, a, req.Budget)
	if pinned >= 0 {
		out.Keep = append(out.Keep, pinned)
	}
	for i := from; i < len(req.Messages); i++ {
		out.Keep = append(out.Keep, i)
	}
	kept := 0
	for _, i := range out.Keep {
		kept += messageTokens(&req.Messages[i])
	}
	h := readHistory(req, a, out.Keep)
	title := "a conversation"
	if a.past != nil {
		title = fenceTitle(a.past)
	}
	budget := req.Budget - kept - text.Tokens(title) - text.Tokens(replacementNotice) - fenceTokens
	w := recordWriter{budget: max(budget, 0)}
	w.write(ctx, h, a, req, out.Keep)
	notice := replacementNotice
	if req.Session != "" {
		notice += " --session " + archive.ShortID(req.Session)
	}
	out.Text = text.Fence(title, sizes(req, kept+text.Tokens(w.String()))+notice+".\n"+w.String())
	out.Handles = w.handles
	return out, ctx.Err()
}

// sizes returns the line that informs a person: the estimated tokens of the
// conversation before and after, and the time that it took if that is known.
func sizes(req ReplaceRequest, after int) string {
	before := conversationTokens(req.Messages)
	took := ""
	if req.Elapsed != nil {
		took = fmt.Sprintf(" in %.1f s", req.Elapsed().Seconds())
	}
	return fmt.Sprintf("%s -> %s tokens by Strandline%s; strandline show HANDLE has the rest.\n", text.TokenCount(int64(before)), text.TokenCount(int64(after)), took)
}

const (
	// fenceTokens and rowTokens estimate the tokens of the fence, and of a message
	// beside its content.
	fenceTokens = 64
	rowTokens   = 6
	// overheadTokens estimates the client's own prompt and tools.
	overheadTokens = 25_000
	// maxScale limits, in percent, how far the client's count may exceed the
	// estimate of the messages.
	maxScale = 200
	// The limits of a replacement's size in tokens.
	minBudget    = 4_000
	usualBudget  = 20_000
	maxBudget    = 60_000
	usualContext = 200_000 // the context window if it is not known
)

// Budget returns the size of a replacement in tokens: a fifth of the context
// window, from 20,000 to 60,000, at most half of the messages but at least 4,000.
// used is the client's count of the context, 0 if unknown. If it exceeds the
// estimate of the messages, which happens with images and thinking, the budget is
// reduced in proportion.
func Budget(window, used int, ms []transcript.Message) int {
	if window <= 0 {
		window = usualContext
	}
	budget := min(max(window/5, usualBudget), maxBudget)
	estimate := conversationTokens(ms)
	if used > overheadTokens+estimate && estimate > 0 {
		budget = budget * 100 / min(100*(used-overheadTokens)/estimate, maxScale)
	}
	return max(min(budget, estimate/2), minBudget)
}

func conversationTokens(ms []transcript.Message) int {
	n := 0
	for i := range ms {
		n += messageTokens(&ms[i])
	}
	return n
}

// messageTokens estimates the tokens of a message.
func messageTokens(m *transcript.Message) int {
	n := rowTokens + text.Tokens(m.Text)
	for i := range m.Uses {
		n += rowTokens + text.Tokens(m.Uses[i].Name) + text.Tokens(string(m.Uses[i].Input))
	}
	for i := range m.Results {
		n += rowTokens + text.Tokens(m.Results[i].Text)
	}
	return n
}

// selectKept returns the index from which messages are kept verbatim, and the
// index of the prompt that they answer if it precedes them, else -1.
func selectKept(ms []transcript.Message, a *archived, budget int) (from, pinned int) {
	limit := budget * shareKept / 100
	spent := 0
	from = len(ms)
	open := map[string]bool{} // results whose call is not reached yet
	for i := len(ms) - 1; i >= 0; i-- {
		m := &ms[i]
		if m.Summary || m.Record != "" {
			break
		}
		spent += messageTokens(m)
		if from < len(ms) && spent > limit || from == len(ms) && spent > budget*shareLast/100 {
			break
		}
		for j := range m.Results {
			open[m.Results[j].ID] = true
		}
		for j := range m.Uses {
			delete(open, m.Uses[j].ID)
		}
		if len(open) == 0 && beginsExchange(ms, i, a) {
			from = i
		}
	}
	if slices.ContainsFunc(ms[from:], func(m transcript.Message) bool { return m.Prompt != "" }) {
		return from, -1
	}
	if i := lastPrompt(ms[:from]); i >= 0 && messageTokens(&ms[i]) <= budget*sharePinned/100 {
		return from, i
	}
	return from, -1
}

func isPrompt(m *transcript.Message) bool { return m.Prompt != "" && len(m.Results) == 0 }

// lastPrompt returns the index of the last prompt, or -1.
func lastPrompt(ms []transcript.Message) int {
	i := len(ms) - 1
	for i >= 0 && !isPrompt(&ms[i]) {
		i--
	}
	return i
}

// beginsExchange reports whether a message is a prompt, or a response to the
// results of the previous message. The client sends parallel calls of one response one
// by one; the archive knows that they belong together.
func beginsExchange(ms []transcript.Message, i int, a *archived) bool {
	m := &ms[i]
	if m.Role != "assistant" {
		return isPrompt(m)
	}
	if i == 0 {
		return true
	}
	before := &ms[i-1]
	if before.Role == "assistant" {
		return false
	}
	if len(before.Results) == 0 || len(m.Uses) == 0 {
		return true
	}
	x, known := a.steps[before.Results[0].ID]
	return !known || x != a.steps[m.Uses[0].ID]
}

// openTurn returns the index after the last prompt if the last message is a tool
// result, else the number of messages.
func openTurn(ms []transcript.Message) int {
	if n := len(ms); n == 0 || len(ms[n-1].Results) == 0 {
		return n
	}
	return lastPrompt(ms) + 1
}

// Print renders the new conversation as plain text, kept messages in full.
func (r Replacement) Print(req ReplaceRequest) string {
	return r.Text + "\n" + r.kept(req, func(m *transcript.Message) string { return m.Text })
}

// Summary renders the new conversation as the text of a summary. The kept messages
// have a fence of their own, so that both parts are recognized when the summary is
// read back. Of the user's messages it prints the prompt, because the client adds
// its own text again.
func (r Replacement) Summary(req ReplaceRequest) string {
	body := func(m *transcript.Message) string {
		if m.Role == "user" {
			return m.Prompt
		}
		return m.Text
	}
	return r.Text + "\n" + text.Fence("the last messages, verbatim", strings.TrimSpace(r.kept(req, body)))
}

// kept prints the kept messages with the given text of each.
func (r Replacement) kept(req ReplaceRequest, body func(*transcript.Message) string) string {
	var b strings.Builder
	for _, i := range r.Keep {
		m := &req.Messages[i]
		if s := body(m); s != "" {
			b.WriteString("\n" + m.Role + ": " + s + "\n")
		}
		for j := range m.Uses {
			b.WriteString("\ncall " + m.Uses[j].Name + " " + string(m.Uses[j].Input) + "\n")
		}
		for j := range m.Results {
			b.WriteString("\nresult: " + claude.ToolOutput(m.Results[j].Text) + "\n")
		}
	}
	return b.String()
}
