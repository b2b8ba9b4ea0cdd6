package compact

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// Measured is what Measure reads.
type Measured interface {
	Source
	Injected(ctx context.Context, session string) ([]archive.Injection, error)
}

// enoughNeeded is how many specifics a session has to use after a compaction
// before a share of them says anything.
const enoughNeeded = 10

// Outcome says how well a compaction kept what the session needed next. Needed
// is what the session knew before it and used between it and the next one: in
// prompts, replies, commands, changes and the names of files. Each specific
// weighs ln(1 + moments / moments that knew it), so that what stands everywhere
// counts little.
//
// Shares are parts of that weight from 0 to 1; they are zero and mean nothing
// where Told is false.
type Outcome struct {
	Compaction archive.Compaction
	Needed     int  // specifics
	Told       bool // enough was used afterwards to tell
	// Kept is the share that the client's summary conveys or, where Strandline
	// wrote the new conversation, all of it.
	Kept float64
	// Restored is the share that the restored block conveys, 0 where the
	// conversation was ours, and Together what one of the two conveys.
	Restored, Together float64
	// Given reports that a block was put into the context. Where it is false,
	// Restored tells of the block that would have been.
	Given bool
	// Handles are those that the journal says were given, and Used the ones
	// among them whose place holds a needed specific that the block conveys and
	// the summary does not; in a conversation of ours, one that it conveys.
	Handles, Used []string
}

// Again returns the conversation that Strandline wrote at a compaction, as the
// model read it. budget is the room that it had, in tokens, 0 where that is not
// on record.
type Again func(ctx context.Context, cut archive.Compaction, budget int) (string, error)

// Measure computes the outcome of a compaction from the index. It reads at most
// some thousands of rows before the boundary and as many behind it. The text of
// a block is not on record, so it is made again, for the room that it took;
// budget is the room where none was given, in UTF-16 units. Neither is that of a
// conversation of ours: again makes it.
func Measure(ctx context.Context, src Measured, cut archive.Compaction, budget int, again Again) (Outcome, error) {
	m := measure{ctx: ctx, src: src, cut: cut, again: again, out: Outcome{Compaction: cut}}
	if err := m.bounds(); err != nil {
		return Outcome{}, err
	}
	p, err := load(ctx, src, cut.Session, max(cut.Line, 1), maxWindow*perPassage)
	if err != nil {
		return Outcome{}, err
	}
	if err := m.need(newCollector(p, Request{}).voc); err != nil {
		return Outcome{}, err
	}
	m.out.Needed, m.out.Told = len(m.needed), len(m.needed) >= enoughNeeded
	if !m.out.Told {
		err := m.given()
		return m.out, err
	}
	summary, err := m.summary()
	if err != nil && cut.Ours && ctx.Err() == nil {
		m.out.Told = false // the log may be damaged; a list of the others is worth more than the reason
		err = m.given()
		return m.out, err
	}
	if err != nil {
		return Outcome{}, err
	}
	said := conveyed(summary)
	m.out.Kept = m.share(said)
	m.out.Together = m.out.Kept
	if cut.Ours {
		err = m.givenByUs(p, said)
	} else {
		err = m.restored(p, summary, said, budget)
	}
	return m.out, err
}

// measure is one run of Measure.
type measure struct {
	ctx    context.Context
	src    Measured
	cut    archive.Compaction
	again  Again
	next   *archive.Compaction // nil: the session's end
	all    []archive.Compaction
	needed map[string]float64 // weight of each specific
	order  []string           // of needed: sums come out the same each time
	out    Outcome
}

// bounds finds the compaction behind this one.
func (m *measure) bounds() (err error) {
	m.all, err = m.src.Compactions(m.ctx, archive.Span{Session: m.cut.Session})
	for i := range m.all {
		if m.all[i].Index > m.cut.Index && m.next == nil {
			m.next = &m.all[i]
		}
	}
	return err
}

// span selects the turns between the boundary and the next one.
func (m *measure) span() archive.Span {
	sp := archive.Span{Session: m.cut.Session, TurnFrom: m.cut.Turn, TurnTo: math.MaxInt32, Limit: maxWindow}
	if m.next != nil {
		sp.BeforeLine, sp.TurnTo = m.next.Line, m.next.Turn+1
	}
	return sp
}

// need collects what was used behind the boundary and known before it.
func (m *measure) need(known *vocabulary) error {
	m.needed = map[string]float64{}
	moments := float64(max(known.now, 1))
	use := func(text string) {
		scanSpecifics(text, func(s string) {
			if id, ok := known.ids[s]; ok {
				m.needed[s] = math.Log(1 + moments/float64(known.terms[id].seen))
			}
		})
	}
	read := reader{ctx: m.ctx, src: m.src}
	from := max(m.cut.Line, m.cut.SummaryLine)
	texts := read.passages(m.span(), maxWindow, archive.KindPrompt, archive.KindReply, archive.KindEdit)
	calls := read.calls(m.span(), maxWindow)
	side := read.side(m.span(), maxWindow, &past{passages: texts})
	for _, x := range texts {
		if x.LineFrom > from && x.Label != sideLabel && x.Label != "thinking" {
			use(x.Text)
		}
	}
	for _, x := range calls {
		if x.LineUse > from && !side[place{x.Turn, x.Step}] {
			use(x.Command + "\n" + strings.Join(x.Files, "\n"))
		}
	}
	m.order = slices.Sorted(maps.Keys(m.needed))
	return read.err
}

// summary returns the text that took the conversation's place.
func (m *measure) summary() (string, error) {
	if m.cut.Ours {
		fact, err := m.injection()
		if err != nil {
			return "", err
		}
		budget := 0
		if fact != nil {
			budget = fact.Budget
		}
		return m.again(m.ctx, m.cut, budget)
	}
	read := reader{ctx: m.ctx, src: m.src}
	texts := read.passages(m.span(), maxWindow, archive.KindSummary)
	texts = slices.DeleteFunc(texts, func(x archive.Passage) bool { return x.LineFrom <= m.cut.Line })
	return joinTexts(texts), read.err
}

// restored makes the block again and looks which of its places were used.
func (m *measure) restored(p *past, summary string, said map[string]bool, budget int) error {
	fact, err := m.injection()
	if err != nil {
		return err
	}
	if fact != nil {
		budget = fact.Chars
	}
	again, err := load(m.ctx, m.src, m.cut.Session, max(m.cut.Line, 1), budget)
	if err != nil {
		return err
	}
	again.known = cmp.Or(summary, again.known)
	block, err := restorePast(m.ctx, again, Request{Session: m.cut.Session, AtLine: m.cut.Line, Budget: budget})
	if err != nil {
		return err
	}
	fresh := conveyed(block.Text)
	m.out.Restored = m.share(fresh)
	both := maps.Clone(said)
	maps.Copy(both, fresh)
	m.out.Together = m.share(both)
	maps.DeleteFunc(fresh, func(s string, _ bool) bool { return said[s] || m.needed[s] == 0 })
	if fact != nil {
		m.note(fact)
		m.use(p, fresh)
	}
	return nil
}

// use marks the handles whose place holds one of the specifics.
func (m *measure) use(p *past, fresh map[string]bool) {
	used := map[string]bool{}
	look := func(turn, step int, text string) {
		h := p.ref(turn, step).Handle()
		scanSpecifics(text, func(s string) { used[h] = used[h] || fresh[s] })
	}
	for _, ps := range [][]archive.Passage{p.prompts, p.passages, p.recap} {
		for _, x := range ps {
			look(x.Turn, x.Step, x.Text)
		}
	}
	for _, x := range p.calls {
		look(x.Turn, x.Step, x.Command+"\n"+strings.Join(x.Files, "\n"))
	}
	for _, h := range m.out.Handles {
		if used[h] {
			m.out.Used = append(m.out.Used, h)
		}
	}
}

// given notes what was injected, where that is all that is to be said.
func (m *measure) given() error {
	fact, err := m.injection()
	if fact != nil {
		m.note(fact)
	}
	return err
}

// givenByUs looks which places of a conversation of ours were used.
func (m *measure) givenByUs(p *past, said map[string]bool) error {
	fact, err := m.injection()
	if err != nil || fact == nil {
		return err
	}
	m.note(fact)
	needed := maps.Clone(said)
	maps.DeleteFunc(needed, func(s string, _ bool) bool { return m.needed[s] == 0 })
	m.use(p, needed)
	return nil
}

func (m *measure) note(fact *archive.Injection) {
	m.out.Given, m.out.Handles = true, fact.Handles
}
