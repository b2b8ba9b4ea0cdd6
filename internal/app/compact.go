package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
	"strandline/internal/config"
	"strandline/internal/task"
	"strandline/internal/text"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
	"strandline/internal/usage"
)

// compactDeadline limits the use of the archive. Without it, the messages alone
// give a replacement.
const compactDeadline = 5 * time.Second

// Replacement is a replacement conversation.
type Replacement struct {
	compact.Replacement
	// Skip, unless "", is why the client should not compact now.
	Skip string
	// Warnings report steps that failed and were skipped.
	Warnings []error
	request  compact.ReplaceRequest
	summary  bool // see SummaryReply
}

// Conversation returns the replacement as the model reads it.
func (r Replacement) Conversation() string { return r.Print(r.request) }

// Replace compacts the conversation that the client's plugin sends. It captures the
// session first: omitted parts must be logged before the client
// drops it. budget is in tokens; 0 derives it from the context window.
func (a *App) Replace(ctx context.Context, data []byte, budget int) (out Replacement, err error) {
	started := a.Now()
	early, wait := parse(data)
	head := <-early
	if head.session == "" || head.trigger == precompute {
		if head, err = wait(); err != nil {
			return out, err
		}
	}
	if head.trigger == precompute {
		out.Skip = "strandline compacts in milliseconds: there is nothing to prepare"
		return out, nil
	}
	w, err := a.Workspace()
	if err != nil {
		return out, err
	}
	c := compaction{app: a, workspace: w, budget: budget, wait: wait, started: started}
	if head.session != "" && w.Config.Capture.Enabled {
		err = c.withArchive(ctx, head, &out)
	} else {
		err = c.withoutArchive(ctx, &out)
	}
	if _, perr := wait(); perr != nil {
		return out, perr
	}
	if err != nil && out.Skip == "" && !errors.Is(err, errAside) {
		out.Warnings = append(out.Warnings, fmt.Errorf("without the archive: %w", err))
		err = c.withoutArchive(ctx, &out)
	}
	return out, err
}

// errAside leaves a compaction to the client.
var errAside = archive.Invalid("more than 3 automatic compactions in 10 minutes: this one is left to the client", "/compact is answered as always")

// precompute is the trigger of a call that the client makes before it needs the
// result.
const precompute = "precompute"

// compaction is a call of Replace.
type compaction struct {
	app       *App
	workspace Workspace
	budget    int
	wait      func() (conversation, error)
	started   time.Time
}

func (c compaction) request(conv conversation) compact.ReplaceRequest {
	claude.MarkRecord(conv.messages, conv.id(), c.workspace.Capture.Records.Owns)
	req := compact.ReplaceRequest{
		Messages: conv.messages, Budget: c.budget, Instructions: conv.instructions, Redact: c.workspace.Redact,
		Elapsed: func() time.Duration { return c.app.Now().Sub(c.started) },
	}
	if req.Budget == 0 {
		req.Budget = compact.Budget(conv.effectiveWindow(c.app.Getenv), conv.tokens, conv.messages)
	}
	return req
}

func (c compaction) withoutArchive(ctx context.Context, out *Replacement) error {
	conv, err := c.wait()
	if err != nil {
		return err
	}
	out.request = c.request(conv)
	if out.Replacement, err = compact.Replace(ctx, nil, out.request); err == nil {
		c.finish(conv, out)
	}
	return err
}

// finish gives a replacement the form that its client takes, and signs it.
func (c compaction) finish(conv conversation, out *Replacement) {
	if conv.client != "" {
		out.summarize()
	}
	out.Text = c.workspace.Capture.Records.Sign(out.Text)
}

// withArchive captures the session while its messages are parsed.
func (c compaction) withArchive(ctx context.Context, head conversation, out *Replacement) error {
	ctx, cancel := context.WithTimeout(ctx, compactDeadline)
	defer cancel()
	w := c.workspace
	got, err := w.captureConversation(ctx, head)
	if err != nil {
		return err
	}
	var conv conversation
	err = c.app.useIndex(ctx, w, FastWrite, func(x Archive) (err error) {
		if conv, err = c.wait(); err != nil {
			return err
		}
		if conv.source() != head.source() { // more fields followed the messages
			if got, err = w.captureConversation(ctx, conv); err != nil {
				return err
			}
		}
		out.request = c.request(conv)
		out.request.Session, out.request.Log = conv.id(), w.Capture.Conversation
		if !w.Pending().Any() { // hooks capture pending sessions first
			if err := w.Capture.IndexAll(ctx, x.Index, got.Sessions); err != nil {
				return err
			}
			mode := w.Config.Compaction.BlockAuto
			if conv.client != "" {
				mode = config.BlockNever
			}
			g := usage.Blocker{Mode: mode, Dir: w.Config.Paths.Blocked(), Getenv: c.app.Getenv, Settings: w.Config.Paths.ClientSettings()}
			var berr error
			out.Skip, berr = g.Reason(ctx, x.Index, usage.Attempt{Session: conv.id(), Trigger: conv.trigger, Tokens: conv.tokens, Window: conv.window})
			if berr != nil {
				out.Warnings = append(out.Warnings, fmt.Errorf("not blocked: %w", berr))
			}
			if out.Skip != "" {
				return nil
			}
		}
		aside, perr := usage.Pace{Dir: w.Config.Paths.Pace()}.Begin(conv.id(), conv.trigger, c.app.Now())
		if perr != nil {
			out.Warnings = append(out.Warnings, perr)
		}
		if aside {
			return errAside
		}
		out.Replacement, err = compact.Replace(ctx, x.Index, out.request)
		return err
	})
	if err != nil || out.Skip != "" {
		return err
	}
	c.finish(conv, out)
	return w.recordReplacement(ctx, out.request, out.Replacement, out.Text, "session.compact/"+conv.trigger)
}

func (w Workspace) captureConversation(ctx context.Context, c conversation) (capture.Captured, error) {
	src, err := w.Capture.HookSource(c.client, c.transcript, c.session, "", c.cwd)
	if err != nil {
		return capture.Captured{}, err
	}
	return w.Capture.LogSession(ctx, src, c.agent != "")
}

// recordReplacement records that a session's context is replaced, for the next hook
// and in the journal. sent is the text that the client gets.
func (w Workspace) recordReplacement(ctx context.Context, req compact.ReplaceRequest, out compact.Replacement, sent, event string) error {
	return errors.Join(
		capture.OwnCompactions{Dir: w.Config.Paths.OwnCompactions()}.Note(req.Session),
		w.Journal.RecordAll(ctx,
			capture.Fact{Kind: archive.JournalInjected, Session: req.Session, Data: archive.InjectedFact{
				Event: event, Chars: text.Units(out.Text), Handles: out.Handles, Nonce: capture.SumOf(sent), Budget: req.Budget,
			}},
			capture.Fact{Kind: archive.JournalAccess, Session: req.Session, Data: archive.AccessFact{
				Refs: archive.RefsOf(req.Session, out.Handles), How: archive.AccessRestored,
			}}))
}

// ReplaceArchived compacts an archived session as of a line; 0 is its end. budget
// is in tokens; 0 means the default. The messages that it keeps are redacted unless
// exact is set.
func (a *App) ReplaceArchived(ctx context.Context, typed string, atLine, budget int, exact bool) (Replacement, error) {
	return readSession(ctx, a, typed, func(x Archive, id string) (Replacement, error) {
		out, err := replaceArchived(ctx, x, id, atLine, budget)
		if !exact && err == nil {
			for i := range out.request.Messages {
				out.request.Messages[i].EachText(x.Redact)
			}
		}
		return out, err
	})
}

func replaceArchived(ctx context.Context, x Archive, id string, atLine, budget int) (out Replacement, err error) {
	// The context begins after the previous compaction.
	previous, err := x.Index.Compactions(ctx, archive.Span{Session: id, BeforeLine: atLine, Limit: 1, Newest: true})
	if err != nil {
		return out, err
	}
	from := 0
	if len(previous) > 0 {
		from = previous[0].Line
	}
	raw, err := x.Raw(ctx, id, from, atLine)
	if err != nil {
		return out, err
	}
	common, err := x.Capture.Common(id)
	if err != nil {
		return out, err
	}
	out.request = compact.ReplaceRequest{Session: id, AtLine: atLine, Messages: claude.Conversation(common(raw), x.Capture.Records.Owns), Budget: budget, Redact: x.Redact, Log: x.Capture.Conversation}
	if budget == 0 {
		out.request.Budget = compact.Budget(0, 0, out.request.Messages)
	}
	out.Replacement, err = compact.Replace(ctx, x.Index, out.request)
	return out, err
}

// measureCompaction returns the outcome of a compaction.
func measureCompaction(ctx context.Context, x Archive, c archive.Compaction) (compact.Outcome, error) {
	return compact.Measure(ctx, x.Index, c, x.Config.Restore.Budget, rebuildArchived(x))
}

// rebuildArchived returns the function that writes a replacement conversation again.
func rebuildArchived(x Archive) compact.Rebuild {
	return func(ctx context.Context, c archive.Compaction, budget int) (string, error) {
		r, err := replaceArchived(ctx, x, c.Session, c.Line, budget)
		if err != nil {
			return "", err
		}
		return r.Conversation(), nil
	}
}

// Summarized is a conversation of which a client of the gateway requests a
// summary.
type Summarized struct {
	Session, Model, Instructions string
	Messages                     []transcript.Message
}

// Summarize returns a replacement conversation as a summary.
func (a *App) Summarize(ctx context.Context, c Summarized) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, compactDeadline)
	defer cancel()
	w, err := a.Workspace()
	if err != nil {
		return "", err
	}
	if len(c.Messages) == 0 {
		return "", archive.Invalid("the request contains no conversation", "")
	}
	claude.MarkRecord(c.Messages, c.Session, w.Capture.Records.Owns)
	req := compact.ReplaceRequest{
		Messages: c.Messages, Budget: compact.Budget(usage.ModelWindow(c.Model), 0, c.Messages),
		Instructions: c.Instructions, Redact: w.Redact,
	}
	var ids []string
	for _, m := range c.Messages {
		for _, u := range m.Uses {
			ids = append(ids, u.ID)
		}
	}
	var out compact.Replacement
	err = a.ifIndexed(ctx, w, func(x Archive) error {
		_, owner, err := findCalls(ctx, x.Index, c.Session, ids)
		if err != nil {
			return err
		}
		if owner == "" { // no call is left in it, or none is indexed yet
			owner = capture.PendingCompactions{Dir: w.Config.Paths.PendingCompactions()}.Subject(c.Session, a.Now())
		}
		req.Session = owner
		out, err = compact.Replace(ctx, x.Index, req)
		return err
	})
	if err != nil {
		w.Logger().Error("compact without the archive", "error", err.Error())
	}
	if err != nil || out.Text == "" {
		req.Session = ""
		if out, err = compact.Replace(ctx, nil, req); err != nil {
			return "", err
		}
	}
	// The client ends the summary at this tag, so it must not be in the signed text.
	sent := strings.ReplaceAll(out.Summary(req), "</summary>", "< /summary>")
	if req.Session != "" {
		err = w.recordReplacement(ctx, req, out, sent, "session.compact/gateway")
	}
	return w.Capture.Records.Sign(sent), err
}

// CallHandles returns the handles of those tool calls, of a session or its
// sub-agents, whose results are archived. If some are not, it captures the session first;
// an error beside handles says why it cannot.
func (a *App) CallHandles(ctx context.Context, session string, ids []string) (handles map[string]string, err error) {
	w, err := a.Workspace()
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	find := func() error {
		handles = map[string]string{}
		return a.ifIndexed(ctx, w, func(x Archive) error {
			handles, _, err = findCalls(ctx, x.Index, session, ids)
			return err
		})
	}
	if err := find(); err != nil || len(handles) == len(ids) {
		return handles, err
	}
	if err := a.captureNow(ctx, w, session); err != nil {
		return handles, fmt.Errorf("capture session %s: %w", archive.ShortID(session), err)
	}
	return handles, find()
}

// captureWait is how long captureNow waits. The first capture of a resumed session can take
// longer; it then continues.
const captureWait = 2 * time.Second

// captureNow captures a session that the client may still write.
func (a *App) captureNow(ctx context.Context, w Workspace, session string) error {
	if !w.Config.Capture.Enabled {
		return archive.Invalid("capture.enabled is false", "run: strandline config set capture.enabled true")
	}
	work, ok := w.transcriptOf(session)
	if !ok {
		return archive.NotFound("the client has no transcript of it in "+w.clientProjects(), "")
	}
	if err := w.Pending().Add(work); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- a.catchUp(context.WithoutCancel(ctx), w) }()
	wait := time.NewTimer(captureWait)
	defer wait.Stop()
	select {
	case err := <-done:
		return err
	case <-wait.C:
	case <-ctx.Done():
	}
	return nil
}

// clientProjects is the client's folder of transcripts.
func (w Workspace) clientProjects() string { return filepath.Join(w.Config.ClientDir, "projects") }

// transcriptOf finds the client's transcript of a session.
func (w Workspace) transcriptOf(session string) (work capture.PendingWork, ok bool) {
	folders, _ := os.ReadDir(w.clientProjects()) // a missing folder has no transcripts
	for _, f := range folders {
		path := filepath.Join(w.clientProjects(), f.Name(), session+capture.TranscriptExt)
		if work, _, ok := capture.WorkOf(path); ok && exists(path) {
			return work, true
		}
	}
	return work, false
}

// findCalls finds tool calls by the client's IDs, in a session and then in its
// sub-agents until all are found. owner is the session of the last one, "" for
// none.
func findCalls(ctx context.Context, index *Index, session string, ids []string) (handles map[string]string, owner string, err error) {
	missing := make(map[string]bool, len(ids))
	for _, id := range ids {
		missing[id] = true
	}
	handles = map[string]string{}
	find := func(session string) error {
		calls, err := index.Calls(ctx, archive.CallSpan{Span: archive.Span{Session: session}})
		for i := range calls {
			if c := &calls[i]; missing[c.ToolID] && c.LineResult >= 0 {
				handles[c.ToolID] = archive.Ref{Session: c.Session, Turn: c.Turn, Step: c.Step}.Handle()
				owner = session
			}
		}
		return err
	}
	if err := find(session); archive.ErrorCode(err) == archive.CodeNotFound {
		return handles, "", nil
	} else if err != nil {
		return handles, "", err
	}
	if len(handles) == len(missing) {
		return handles, owner, nil
	}
	agents, err := index.Sessions(ctx, archive.SessionFilter{Parent: session, Agents: true})
	for i := 0; err == nil && i < len(agents) && len(handles) < len(missing); i++ {
		err = find(agents[i].ID)
	}
	return handles, owner, err
}

// Context is a text for a compaction: the restored context or the steering text.
type Context struct {
	Session string   `json:"session"`
	Chars   int      `json:"chars"`
	Text    string   `json:"text"`
	Handles []string `json:"handles"`
	LeftOut int      `json:"left_out"`
}

// ContextQuery selects a text for a compaction.
type ContextQuery struct {
	Session string // handle or ID
	Role    string // "": no role
	AtLine  int    // as if the session had ended before this line; 0: its end
	Budget  *int   // characters; nil: the setting
}

// Restore returns the context that a compaction of a session would get back.
func (a *App) Restore(ctx context.Context, q ContextQuery) (Context, error) {
	return a.contextText(ctx, q, func(x Archive, req compact.Request) (b compact.Output, err error) {
		if q.Role != "" {
			if req.Role, err = compact.ParseRole(q.Role); err != nil {
				return b, err
			}
		}
		if q.Budget == nil {
			req.Budget = x.Config.Restore.Budget
		}
		if err := a.learnedWeights(ctx, x, &req); err != nil {
			return b, err
		}
		return compact.Restore(ctx, x.Index, req)
	})
}

// Preserve returns the steering text for the client's summarizer.
func (a *App) Preserve(ctx context.Context, q ContextQuery) (Context, error) {
	return a.contextText(ctx, q, func(x Archive, req compact.Request) (b compact.Output, err error) {
		if q.Budget == nil {
			req.Budget = x.Config.Compaction.InstructionBudget
		}
		if _, err = a.describeSession(ctx, x, &req); err != nil {
			return b, err
		}
		if req.Summaries, err = a.segmentSummaries(ctx, x, req); err != nil {
			return b, err
		}
		b.Text, err = compact.Preserve(ctx, x.Index, req)
		return b, err
	})
}

// describeSession sets the function in req that returns the changes of the session's work
// tree, whose state is known for now only, and returns the session.
func (a *App) describeSession(ctx context.Context, x Archive, req *compact.Request) (archive.Session, error) {
	s, err := x.Index.Session(ctx, req.Session)
	if err == nil && req.AtLine == 0 && a.Changes != nil {
		req.Changes = func(ctx context.Context) string { return a.Changes(x.Config)(ctx, s.Cwd) }
	}
	return s, err
}

func (a *App) contextText(ctx context.Context, q ContextQuery, build func(Archive, compact.Request) (compact.Output, error)) (Context, error) {
	return readSession(ctx, a, q.Session, func(x Archive, id string) (Context, error) {
		req := compact.Request{Session: id, AtLine: q.AtLine, Now: a.Now(), Log: x.Capture.Conversation, Redact: x.Redact}
		if q.Budget != nil {
			req.Budget = *q.Budget
		}
		b, err := build(x, req)
		return Context{Session: id, Chars: text.Units(b.Text), Text: b.Text, Handles: append([]string{}, b.Handles...), LeftOut: b.Left}, err
	})
}

// segmentSummaries returns the summaries that the hook passes to a compaction. With
// AtLine they are extracted again from what precedes that line.
func (a *App) segmentSummaries(ctx context.Context, x Archive, req compact.Request) ([]compact.Summary, error) {
	if x.Config.Segments.Disabled {
		return nil, nil
	}
	state, err := task.LoadState(ctx, x.Index, req.Session)
	if err != nil {
		return nil, err
	}
	now := math.MaxInt
	if req.AtLine > 0 {
		h, err := task.Load(ctx, x.Index, req.Session, req.AtLine)
		if err != nil {
			return nil, err
		}
		now = len(h.Steps)
		state = task.StateOf(h.Check(&task.State{}, summarizeAll, x.SegmentOptions(), req.Now), req.Now)
	}
	return archive.Convert(state.Kept(now), func(e task.Entry) compact.Summary {
		return compact.Summary{Handle: archive.Ref{Session: e.Session, Turn: e.StartTurn, Step: -1}.Handle(), Text: e.Content}
	}), nil
}

// learnedWeights puts the learned weights of token shapes into req. With AtLine they
// are those that were known at that line.
func (a *App) learnedWeights(ctx context.Context, x Archive, req *compact.Request) (err error) {
	tallies, _ := Learned(x.Config.Paths.Learned()).Read()
	if req.AtLine > 0 {
		now := req.Now
		before, err := x.Index.Steps(ctx, archive.Span{Session: req.Session, BeforeLine: req.AtLine, Newest: true, Limit: 1})
		if err != nil {
			return err
		}
		if len(before) > 0 {
			now = before[0].Time
		}
		if tallies, err = TalliesAt(ctx, x.Journal, now); err != nil {
			return err
		}
	}
	l := compact.Learner{How: x.Config.Restore.Learn, Tallies: func() map[string]archive.Tally { return tallies }}
	req.Weights = l.Weights()
	return nil
}
