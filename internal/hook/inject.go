package hook

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/text"
)

// Injector adds text to the context at UserPromptSubmit, PostToolUse, Stop and
// SessionStart. The hook's own text and all injections share one limit; they are
// written in the order of Env.Injectors. An injector's error is logged, and its
// text dropped.
type Injector struct {
	Name string // in the journal: "recall"
	// Inject returns the text to add; an Injection without text adds none. It is
	// called at every prompt and opens the index only if it probably has a text.
	Inject func(ctx context.Context, e Event) (Injection, error)
}

// Event is the event that an injector is called for.
type Event struct {
	Name    string // "UserPromptSubmit"
	Session string // the archive's id: "<parent>~<agent>" inside a sub-agent
	Cwd     string
	// Transcript is the path of the client's file, validated.
	Transcript string
	Prompt     string // UserPromptSubmit: the prompt as typed, not redacted
	Source     string // SessionStart: startup, resume, clear, compact, fork
	Tool       string // PostToolUse: the tool's name
	Now        time.Time
	// Budget is the number of UTF-16 units that are left. A longer text is
	// dropped.
	Budget int
	// Index returns the index, opened once per hook and closed by the hook.
	// Opening it doubles the time of a hook that has no response.
	Index func(ctx context.Context) (*Index, error)
}

// Injection is a text to add to the context.
type Injection struct {
	// Text is redacted and starts with Strandline's marker. Text from the archive
	// is fenced.
	Text string
	// Handles are the places that the text names, for the journal.
	Handles []string
	// Refs are the places whose content is in the text. Each counts as one access
	// of the kind How: "recalled".
	Refs []archive.Ref
	How  string
	// Done, if not nil, is called after the response is written.
	Done func(ctx context.Context) error
}

// paragraph separates the texts of a response.
const paragraph = "\n\n"

// named is an injection with the event's name in the journal.
type named struct {
	Injection
	event string
}

// collect returns own and the injections that fit, in order.
func (r *run) collect(ctx context.Context, own named) []named {
	var out []named
	left := maxInjected // for the next text, without the separator before it
	add := func(in named) error {
		n := text.Units(in.Text)
		if n > left {
			return fmt.Errorf("text of %d characters for %s does not fit the %d that are left: dropped", n, in.event, max(left, 0))
		}
		left -= n + len(paragraph)
		out = append(out, in)
		return nil
	}
	if own.Text != "" {
		if err := add(own); err != nil {
			r.log.Error("respond", "error", err)
		}
	}
	p := r.payload
	if !p.takesContext() {
		return out
	}
	e := Event{
		Name: p.Event, Session: p.subject(), Cwd: p.Cwd, Transcript: r.transcript, Prompt: p.Prompt, Source: p.Source, Tool: p.ToolName,
		Now: r.env.Now(), Index: r.open,
	}
	for _, j := range r.env.Injectors {
		if e.Budget = left; left <= 0 {
			break
		}
		in, err := j.Inject(ctx, e)
		if err == nil && in.Text != "" {
			err = add(named{Injection: in, event: p.Event + "/" + j.Name})
		}
		if err != nil {
			r.log.Error("inject", "injector", j.Name, "error", err)
		}
	}
	return out
}

// write prints the texts as one response and records each in the journal.
func (r *run) write(ctx context.Context, injections []named) error {
	if len(injections) == 0 {
		return nil
	}
	subject := r.payload.subject()
	var texts []string
	var facts []capture.Fact
	for _, in := range injections {
		texts = append(texts, in.Text)
		facts = append(facts, capture.Fact{Kind: archive.JournalInjected, Session: subject, Data: archive.InjectedFact{
			Event: in.event, Chars: text.Units(in.Text), Handles: in.Handles, Nonce: capture.SumOf(in.Text),
		}})
		if len(in.Refs) > 0 {
			facts = append(facts, capture.Fact{Kind: archive.JournalAccess, Session: subject, Data: archive.AccessFact{Refs: in.Refs, How: in.How}})
		}
	}
	if err := r.print(r.env.Capture.Records.Sign(strings.Join(texts, paragraph))); err != nil {
		return fmt.Errorf("answer %s: %w", r.payload.Event, err)
	}
	errs := []error{r.env.Journal.RecordAll(ctx, facts...)}
	for _, in := range injections {
		if in.Done != nil {
			errs = append(errs, in.Done(ctx))
		}
	}
	return errors.Join(errs...)
}
