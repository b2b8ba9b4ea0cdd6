package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
	"strandline/internal/text"
	"strandline/internal/usage"
)

// Limits of the command as the client's plugin calls it.
const (
	maxConversation = 64 << 20 // bytes of stdin
	// usualConversation is the room that is made for one before it is read.
	usualConversation = 1 << 20
	maxAnswer         = 7 << 19         // bytes of stdout; the client takes 4 MiB
	compactDeadline   = 5 * time.Second // for the archive; the answer needs no more than stdin
)

// compactFlags are those of the compact command.
type compactFlags struct {
	session string
	atLine  int
	budget  int
	format  string
}

func (a *commands) compactCommand() *cobra.Command {
	var f compactFlags
	cmd := &cobra.Command{
		Use:   "compact",
		Short: "Print the conversation that takes a compacted one's place",
		Long: `Print a new conversation within a token budget: a record of what was asked, seen,
said and done, and the last exchanges as they stand. No model is called.

Without --session the conversation is read from stdin, as the client's plugin sends
it: {"messages":[{"role","text","toolUses","toolResults"}…]} and, where they are known,
"session", "transcript", "agentId", "trigger", "instructions", "tokens" and "window".
The answer is {"messages":[{"role","text"}|{"keep":INDEX}…]}, where keep is a message of
stdin, verbatim; or {"skip":"reason"}. It exits with another status than 0 whenever the
client had better compact by itself. With --session the conversation is taken from the
archive and everything is printed in full.`,
		Args: arguments(),
	}
	fl := cmd.Flags()
	fl.StringVar(&f.session, "session", "", "an archived session, or a handle of it, instead of stdin")
	fl.IntVar(&f.atLine, "at-line", 0, "as if the session had ended before this line of its transcript (0-based, exclusive; 0: its end)")
	fl.IntVar(&f.budget, "budget-tokens", 0, "size of the new conversation (default: a fifth of the window, from 20000 to 60000)")
	fl.StringVar(&f.format, "format", "json", "json, or text: what the model would read")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case f.format != "json" && f.format != "text":
			return wrongUsage(strconv.Quote(f.format)+" is no format", "--format takes json or text")
		case f.atLine < 0 || f.budget < 0:
			return wrongUsage("--at-line and --budget-tokens take numbers from 0 up", "write 0 for the default")
		case f.session != "":
			return a.compactArchived(cmd.Context(), f)
		}
		return a.compactStdin(cmd.Context(), f)
	}
	return cmd
}

// compactStdin answers the client's plugin.
func (a *commands) compactStdin(ctx context.Context, f compactFlags) error {
	data := bytes.NewBuffer(make([]byte, 0, usualConversation))
	if _, err := data.ReadFrom(io.LimitReader(a.env.Stdin, maxConversation+1)); err != nil {
		return fmt.Errorf("read stdin: %w", err)
	}
	if data.Len() > maxConversation {
		return archive.Invalid(fmt.Sprintf("the conversation is larger than %d bytes", maxConversation), "")
	}
	p := parse(data.Bytes())
	head := <-p.head
	if head.session == "" || head.trigger == "precompute" {
		var err error
		if head, err = p.wait(); err != nil {
			return err
		}
	}
	if head.trigger == "precompute" {
		return a.writeJSON(map[string]string{"skip": "strandline compacts in milliseconds: there is nothing to prepare"})
	}
	r, err := a.app.Workspace()
	if err != nil {
		return err
	}
	out, skip, err := a.replaceKnown(ctx, r, f, head, p)
	conv, wrong := p.wait()
	if wrong != nil {
		return wrong
	}
	if skip != "" {
		return a.writeJSON(map[string]string{"skip": skip})
	}
	req := a.replaceRequest(r, f, conv)
	if err != nil {
		// The archive is an aid; the messages alone give an answer, too.
		fmt.Fprintf(a.env.Stderr, "strandline: without the archive: %v\n", err)
		if out, err = compact.Replace(ctx, nil, req); err != nil {
			return err
		}
	}
	if f.format == "text" {
		return a.printExact(out.Print(req))
	}
	return a.writeJSON(answerOf(out, req))
}

// replaceRequest asks for what takes a conversation's place.
func (a *commands) replaceRequest(r app.Workspace, f compactFlags, conv conversation) compact.ReplaceRequest {
	req := compact.ReplaceRequest{
		Messages: conv.messages, Budget: f.budget, Instructions: conv.instructions, Redact: r.Redact,
	}
	if req.Budget == 0 {
		req.Budget = compact.Budget(conv.effectiveWindow(a.app.Getenv), conv.tokens, conv.messages)
	}
	return req
}

// replaceKnown captures the session first, if it is known: what the answer
// leaves out must be on record before the client drops it. A compaction that is
// blocked has no answer but the reason. head is what is known of the conversation
// while it is parsed.
func (a *commands) replaceKnown(ctx context.Context, r app.Workspace, f compactFlags, head conversation, p *arriving) (out compact.Replacement, blocked string, err error) {
	if head.session == "" || !r.Config.Capture.Enabled {
		conv, err := p.wait()
		if err == nil {
			out, err = compact.Replace(ctx, nil, a.replaceRequest(r, f, conv))
		}
		return out, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, compactDeadline)
	defer cancel()
	got, err := captureOf(ctx, r, head)
	if err != nil {
		return out, "", err
	}
	var conv conversation
	var req compact.ReplaceRequest
	err = a.app.WithIndex(ctx, r, app.FastWrite, func(x app.Archive) (err error) {
		if conv, err = p.wait(); err != nil {
			return err
		}
		if conv.source() != head.source() { // more of it stood behind the messages
			if got, err = captureOf(ctx, r, conv); err != nil {
				return err
			}
		}
		req = a.replaceRequest(r, f, conv)
		req.Session = conv.subject()
		if !r.Pending().Any() { // sessions that wait go first; the hooks see to them
			if err := r.Capture.IndexAll(ctx, x.Index, got.Sessions); err != nil {
				return err
			}
			if blocked = a.block(ctx, r, x, conv); blocked != "" {
				return nil
			}
		}
		out, err = compact.Replace(ctx, x.Index, req)
		return err
	})
	if err != nil || blocked != "" {
		return compact.Replacement{}, blocked, err
	}
	return out, "", a.noteReplaced(ctx, r, req, out, "session.compact/"+conv.trigger)
}

// noteReplaced notes that a session's context is replaced, by what event, for the
// hook that comes next and for the journal.
func (a *commands) noteReplaced(ctx context.Context, r app.Workspace, req compact.ReplaceRequest, out compact.Replacement, event string) error {
	return errors.Join(
		capture.OwnCompactions{Dir: r.Config.Paths.Answered()}.Note(req.Session),
		r.Journal.RecordAll(ctx,
			capture.Fact{Kind: archive.JournalInjected, Session: req.Session, Data: archive.InjectedFact{
				Event: event, Chars: text.Units(out.Text), Handles: out.Handles, Budget: req.Budget,
			}},
			capture.Fact{Kind: archive.JournalAccess, Session: req.Session, Data: archive.AccessFact{
				Refs: archive.RefsOf(req.Session, out.Handles), How: archive.AccessRestored,
			}}))
}

// captureOf captures what a conversation was written to.
func captureOf(ctx context.Context, r app.Workspace, c conversation) (capture.Captured, error) {
	src, err := capture.TranscriptSource(c.transcript, c.session, c.cwd)
	if err != nil {
		return capture.Captured{}, err
	}
	return r.Capture.LogSession(ctx, src, c.agent != "")
}

// block says why an automatic compaction is put off, "" when it is not.
func (a *commands) block(ctx context.Context, r app.Workspace, x app.Archive, conv conversation) string {
	g := usage.Blocker{Mode: r.Config.Compaction.BlockAuto, Dir: r.Config.Paths.Blocked(), Getenv: a.app.Getenv}
	reason, err := g.Reason(ctx, x.Index, usage.Attempt{Session: conv.subject(), Trigger: conv.trigger, Tokens: conv.tokens, Window: conv.window})
	if err != nil {
		fmt.Fprintf(a.env.Stderr, "strandline: not blocked: %v\n", err)
	}
	return reason
}

// compactArchived prints what would have taken an archived conversation's place.
func (a *commands) compactArchived(ctx context.Context, f compactFlags) error {
	return a.app.WithArchive(ctx, app.ReadOnly, func(x app.Archive) error {
		_, id, err := app.ResolveSession(ctx, x.Index, f.session)
		if err != nil {
			return err
		}
		out, req, err := a.app.ReplaceArchived(ctx, x, id, f.atLine, f.budget)
		if err != nil {
			return err
		}
		if f.format == "text" {
			return a.printExact(out.Print(req))
		}
		return a.printJSON(wholeAnswer(out, req))
	})
}

// writeJSON writes an answer for the plugin on one line, or nothing at all.
func (a *commands) writeJSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return cannotPrint(err)
	}
	if b.Len() > maxAnswer {
		return archive.Invalid(fmt.Sprintf("the answer of %d bytes is more than the client takes", b.Len()), "lower --budget-tokens")
	}
	return a.printExact(b.String())
}

// printExact writes a text as it is, also to a terminal.
func (a *commands) printExact(text string) error {
	if _, err := io.WriteString(a.env.Stdout, text); err != nil {
		return cannotPrint(err)
	}
	return nil
}
