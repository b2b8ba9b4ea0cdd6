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

// Speaker is somebody who may add to the context at an event that takes an
// addition: UserPromptSubmit, PostToolUse, Stop and SessionStart. What all of
// them and the hook's own answer say shares one cap, and who stands first in
// Env.Speakers speaks first. A speaker that fails is noted and passed over.
type Speaker interface {
	// Name is who spoke, for the journal: "recall".
	Name() string
	// Speak returns what to say; a Speech without a text says nothing. It is
	// called at every prompt, so silence must be cheap: it opens no index.
	Speak(ctx context.Context, m Moment) (Speech, error)
}

// Moment is the event that is spoken at.
type Moment struct {
	Event   string // "UserPromptSubmit"
	Session string // as the archive knows it: "<parent>~<agent>" inside a sub-agent
	Cwd     string
	Prompt  string // UserPromptSubmit: as it was typed, not redacted
	Source  string // SessionStart: startup, resume, clear, compact, fork
	Tool    string // PostToolUse: the tool's name
	Now     time.Time
	// Room is how many characters are left, in UTF-16 units as the client counts.
	// A longer text is not said at all.
	Room int
	// Added is how many bytes of transcript this hook was the first to see.
	Added int64
	// Behind says that the index does not hold all of the transcript.
	Behind bool
	// Index opens the index, once for everybody who asks, and the hook closes it.
	// It costs as much as the rest of a silent hook together.
	Index func(ctx context.Context) (Index, error)
}

// Speech is what a speaker has to say.
type Speech struct {
	// Text is redacted, marked as Strandline's and, where it tells of the past,
	// fenced.
	Text string
	// Handles are the places that the text names, for the journal.
	Handles []string
	// Refs are the places whose content the text gives to the model, and How says
	// in what way: "recalled". Each counts as one access.
	Refs []archive.Ref
	How  string
	// Said, unless nil, is called once the text is out.
	Said func(ctx context.Context) error
}

// paragraph stands between what two of them say.
const paragraph = "\n\n"

// voice is a speech with the name it goes into the journal under.
type voice struct {
	Speech
	event string
}

// listen asks the speakers in their order, after own, the hook's own answer.
func (r *run) listen(ctx context.Context, own voice) []voice {
	var said []voice
	room := maxInjected // for the next text, less what separates it from the one before
	take := func(v voice) error {
		n := text.Units(v.Text)
		if n > room {
			return fmt.Errorf("answer of %d characters for %s does not fit the %d that are left: nothing said", n, v.event, max(room, 0))
		}
		room -= n + len(paragraph)
		said = append(said, v)
		return nil
	}
	if own.Text != "" {
		if err := take(own); err != nil {
			r.log.Error("speak", "error", err)
		}
	}
	if !r.payload.takesContext() {
		return said
	}
	m := r.moment()
	for _, s := range r.env.Speakers {
		if m.Room = room; room <= 0 {
			break
		}
		speech, err := s.Speak(ctx, m)
		if err == nil && speech.Text != "" {
			err = take(voice{Speech: speech, event: r.payload.event + "/" + s.Name()})
		}
		if err != nil {
			r.log.Error("speak", "who", s.Name(), "error", err)
		}
	}
	return said
}

// takesContext reports that the client adds what a hook says at this event to
// the context.
func (p payload) takesContext() bool {
	switch p.event {
	case "UserPromptSubmit", "PostToolUse", "Stop", "SessionStart":
		return true
	}
	return false
}

func (r *run) moment() Moment {
	p := r.payload
	return Moment{
		Event: p.event, Session: p.subject(), Cwd: p.cwd, Prompt: p.prompt, Source: p.source, Tool: p.toolName,
		Now: r.env.Now(), Added: r.added, Behind: r.behind, Index: r.open,
	}
}

// say prints what was gathered as one answer and notes each part of it.
func (r *run) say(ctx context.Context, said []voice) error {
	if len(said) == 0 {
		return nil
	}
	subject := r.payload.subject()
	var texts []string
	var facts []capture.Fact
	for _, v := range said {
		texts = append(texts, v.Text)
		facts = append(facts, capture.Fact{Kind: archive.JournalInjected, Session: subject, Data: archive.InjectedFact{
			Event: v.event, Chars: text.Units(v.Text), Handles: v.Handles,
		}})
		if len(v.Refs) > 0 {
			facts = append(facts, capture.Fact{Kind: archive.JournalAccess, Session: subject, Data: archive.AccessFact{Refs: v.Refs, How: v.How}})
		}
	}
	if err := r.print(strings.Join(texts, paragraph)); err != nil {
		return fmt.Errorf("answer %s: %w", r.payload.event, err)
	}
	errs := []error{r.env.Journal.RecordAll(ctx, facts...)}
	for _, v := range said {
		if v.Said != nil {
			errs = append(errs, v.Said(ctx))
		}
	}
	return errors.Join(errs...)
}

// open opens the index at its first call; later ones get the same answer.
func (r *run) open(ctx context.Context) (Index, error) {
	if r.idx == nil && r.idxErr == nil {
		r.idx, r.idxErr = r.env.OpenIndex(ctx)
	}
	return r.idx, r.idxErr
}

// close closes the index if anybody opened it.
func (r *run) close() error {
	if r.idx == nil {
		return nil
	}
	return r.idx.Close()
}
