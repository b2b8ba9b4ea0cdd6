package compact

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Measured is the part of a store that Measure reads.
type Measured interface {
	Source
	Injected(ctx context.Context, session string) ([]archive.Injection, error)
}

// minNeeded is the number of needed terms below which an outcome has no shares.
const minNeeded = 10

// Outcome reports how many of the terms that a session needed next a compaction
// preserved. Needed is every term that the session knew before the compaction and used before
// the next one, in prompts, replies, commands, edits and file names. Each has the
// weight ln(1 + places / places that hold it), so that common terms count little.
//
// Shares are fractions of that weight from 0 to 1, and 0 if HasShares is false.
type Outcome struct {
	Compaction archive.Compaction
	Needed     int  // number of terms
	HasShares  bool `json:"Told"` // Needed is large enough for shares; the name in stored outcomes
	// Kept is the share in the client's summary or, if Strandline wrote the
	// replacement conversation, in all of that.
	Kept float64
	// Restored is the share in the restored context, 0 after a replacement.
	// Together is the share in either.
	Restored, Together float64
	// Given reports that a context was restored. If not, Restored is the share of
	// the context that would have been.
	Given bool
	// Handles are the places given to the model according to the journal. Used are
	// those of them that hold a needed term which the restored context conveys and
	// the summary does not or, after a replacement, which that conveys.
	Handles, Used []string
}

// Rebuild returns the replacement conversation that Strandline wrote at a
// compaction. budget is its size in tokens, 0 if the journal does not have it.
type Rebuild func(ctx context.Context, c archive.Compaction, budget int) (string, error)

// Measure computes the outcome of a compaction from some thousands of rows before
// and after it. The texts given to the model are not stored, so it produces them
// again: a restored context with the recorded size, or budget units if none was
// given, a replacement with rebuild.
func Measure(ctx context.Context, src Measured, c archive.Compaction, budget int, rebuild Rebuild) (Outcome, error) {
	m, err := measure(ctx, src, c, budget, rebuild)
	if err != nil {
		return Outcome{}, err
	}
	return m.out, nil
}

// measure runs a measurement. It ends early if too few terms were needed.
func measure(ctx context.Context, src Measured, c archive.Compaction, budget int, rebuild Rebuild) (*measurement, error) {
	m := &measurement{ctx: ctx, src: src, compaction: c, out: Outcome{Compaction: c}}
	if err := m.findNext(); err != nil {
		return nil, err
	}
	p, err := load(ctx, src, c.Session, max(c.Line, 1), maxWindow*perPassage)
	if err != nil {
		return nil, err
	}
	m.past = p
	if err := m.findNeeded(newScoredView(p, Request{}).terms); err != nil {
		return nil, err
	}
	m.out.Needed, m.out.HasShares = len(m.needed), len(m.needed) >= minNeeded
	given, err := m.injection()
	if err != nil {
		return nil, err
	}
	if given != nil {
		m.out.Given, m.out.Handles = true, given.Handles
	}
	if !m.out.HasShares {
		return m, nil
	}
	summary, err := m.summary(given, rebuild)
	if err != nil && c.Ours && ctx.Err() == nil {
		m.out.HasShares = false // a damaged log must not hide the other compactions
		return m, nil
	}
	if err != nil {
		return nil, err
	}
	m.kept, m.replaced = conveyedTerms(summary), summary
	conveyed := maps.Clone(m.kept)
	m.out.Kept = m.share(conveyed)
	m.out.Together = m.out.Kept
	if !c.Ours {
		if conveyed, err = m.measureRestored(given, summary, conveyed, budget); err != nil {
			return nil, err
		}
	}
	if given != nil {
		maps.DeleteFunc(conveyed, func(s string, _ bool) bool { return m.needed[s] == 0 })
		m.findUsed(p, conveyed)
	}
	return m, nil
}

// measurement is one run of Measure.
type measurement struct {
	ctx        context.Context
	src        Measured
	compaction archive.Compaction
	next       *archive.Compaction // nil: until the session's end
	all        []archive.Compaction
	needed     map[string]float64     // weight of each term
	order      []string               // of needed, so that sums are reproducible
	used       map[string]archive.Ref // where each needed term was used first
	past       *past
	// kept and restored are the terms that the summary and the restored context convey.
	kept, restored map[string]bool
	context        string // the restored context
	replaced       string // the client's summary or the replacement conversation
	out            Outcome
}

// findNext sets the compaction that follows.
func (m *measurement) findNext() (err error) {
	m.all, err = m.src.Compactions(m.ctx, archive.Span{Session: m.compaction.Session})
	if i := slices.IndexFunc(m.all, func(c archive.Compaction) bool { return c.Index > m.compaction.Index }); i >= 0 {
		m.next = &m.all[i]
	}
	return err
}

// span selects the turns between the compaction and the next.
func (m *measurement) span() archive.Span {
	sp := archive.Span{Session: m.compaction.Session, TurnFrom: m.compaction.Turn, TurnTo: math.MaxInt32, Limit: maxWindow}
	if m.next != nil {
		sp.BeforeLine, sp.TurnTo = m.next.Line, m.next.Turn+1
	}
	return sp
}

// findNeeded sets the known terms that were used after the compaction.
func (m *measurement) findNeeded(known *vocabulary) error {
	m.needed, m.used = map[string]float64{}, map[string]archive.Ref{}
	places := float64(max(known.now, 1))
	use := func(turn, step int, body string) {
		text.Terms(body, func(s string) {
			id, ok := known.ids[s]
			if !ok || m.isCommon(s) {
				return
			}
			m.needed[s] = math.Log(1 + places/float64(known.terms[id].seen))
			if at, seen := m.used[s]; !seen || at.Turn > turn || at.Turn == turn && at.Step > step {
				m.used[s] = archive.Ref{Session: m.compaction.Session, Turn: turn, Step: step}
			}
		})
	}
	read := rowReader{ctx: m.ctx, src: m.src}
	from := max(m.compaction.Line, m.compaction.SummaryLine)
	texts := read.passages(m.span(), maxWindow, archive.KindPrompt, archive.KindReply, archive.KindEdit)
	calls := read.calls(m.span(), maxWindow)
	side := read.sidechainSteps(m.span(), maxWindow, texts)
	for _, x := range texts {
		if x.LineFrom > from && x.Label != sidechainLabel && !x.Thinking() {
			use(x.Turn, x.Step, x.Text)
		}
	}
	for _, x := range calls {
		if x.LineUse > from && !side[place{x.Turn, x.Step}] {
			use(x.Turn, x.Step, callText(x))
		}
	}
	m.order = slices.Sorted(maps.Keys(m.needed))
	return read.err
}

// isCommon reports whether a term says nothing about the session: a flag or a file that every
// program knows, or the session's folder.
func (m *measurement) isCommon(term string) bool {
	switch term {
	case "dev/null", "--json", "--help", "--version", "--verbose", "--quiet", "--debug", "--all", "--list", "--stat", "--oneline", "--force", "--limit",
		"--format", "--output", "--cached", "--staged", "--name-only", "--no-pager", "--no-edit", "--paginate", "--include", "--exclude", "--recursive":
		return true
	}
	return m.past != nil && strings.HasPrefix(strings.Trim(m.past.session.Cwd, "/")+"/", term+"/")
}

func callText(x archive.Call) string { return x.Command + "\n" + strings.Join(x.Files, "\n") }

// summary returns the client's summary or the replacement conversation.
func (m *measurement) summary(given *archive.Injection, rebuild Rebuild) (string, error) {
	if m.compaction.Ours {
		budget := 0
		if given != nil {
			budget = given.Budget
		}
		return rebuild(m.ctx, m.compaction, budget)
	}
	read := rowReader{ctx: m.ctx, src: m.src}
	texts := read.passages(m.span(), maxWindow, archive.KindSummary)
	texts = slices.DeleteFunc(texts, func(x archive.Passage) bool { return x.LineFrom <= m.compaction.Line })
	return joinTexts(texts), read.err
}

// measureRestored produces the restored context again and sets its shares. It
// returns the terms that this conveys and the summary does not.
func (m *measurement) measureRestored(given *archive.Injection, summary string, inSummary map[string]bool, budget int) (map[string]bool, error) {
	if given != nil {
		budget = given.Chars
	}
	p, err := load(m.ctx, m.src, m.compaction.Session, max(m.compaction.Line, 1), budget)
	if err != nil {
		return nil, err
	}
	p.summary = cmp.Or(summary, p.summary)
	restored, err := restorePast(m.ctx, p, Request{Session: m.compaction.Session, AtLine: m.compaction.Line, Budget: budget})
	if err != nil {
		return nil, err
	}
	conveyed := conveyedTerms(restored.Text)
	m.restored, m.context = maps.Clone(conveyed), restored.Text
	m.out.Restored = m.share(conveyed)
	both := maps.Clone(inSummary)
	maps.Copy(both, conveyed)
	m.out.Together = m.share(both)
	maps.DeleteFunc(conveyed, func(s string, _ bool) bool { return inSummary[s] })
	return conveyed, nil
}

// findUsed sets the given handles whose place holds one of the terms.
func (m *measurement) findUsed(p *past, terms map[string]bool) {
	used := map[string]bool{}
	look := func(turn, step int, body string) {
		h := p.ref(turn, step).Handle()
		text.Terms(body, func(s string) { used[h] = used[h] || terms[s] })
	}
	for _, ps := range [][]archive.Passage{p.prompts, p.passages, p.oldSummary} {
		for _, x := range ps {
			look(x.Turn, x.Step, x.Text)
		}
	}
	for _, x := range p.calls {
		look(x.Turn, x.Step, callText(x))
	}
	for _, h := range m.out.Handles {
		if used[h] {
			m.out.Used = append(m.out.Used, h)
		}
	}
}

// injection returns the journal's record of the text given at this compaction, nil
// if there is none. The client runs the restoring hook shortly before or after the
// boundary, so a record belongs to the compaction that is nearest in time.
func (m *measurement) injection() (*archive.Injection, error) {
	event := "SessionStart/compact"
	if m.compaction.Ours {
		event = "session.compact/"
	}
	facts, err := m.src.Injected(m.ctx, m.compaction.Session)
	if err != nil {
		return nil, err
	}
	var found *archive.Injection
	for i := range facts {
		at := facts[i].Time
		own := m.compaction.Time.Sub(at).Abs()
		isNearer := func(c archive.Compaction) bool { return c.Index != m.compaction.Index && c.Time.Sub(at).Abs() < own }
		if strings.HasPrefix(facts[i].Event, event) && !slices.ContainsFunc(m.all, isNearer) {
			found = &facts[i]
		}
	}
	return found, nil
}

// share returns the fraction of the needed weight, which is not zero, that is among
// the terms.
func (m *measurement) share(terms map[string]bool) float64 {
	var sum, total float64
	for _, s := range m.order {
		w := m.needed[s]
		total += w
		if terms[s] {
			sum += w
		}
	}
	return sum / total
}

// A line conveys its terms if it has this many ordinary words, or if it has only
// few terms and is one of the first such lines.
const (
	conveyingWords = 3
	bareTerms      = 2
	bareLines      = 60
)

// conveyedTerms returns the terms that a text conveys, rather than merely lists.
func conveyedTerms(body string) map[string]bool {
	out := map[string]bool{}
	bare := 0
	var names []string
	for l := range strings.SplitSeq(body, "\n") {
		names = names[:0]
		words := text.Terms(l, func(s string) {
			if !slices.Contains(names, s) {
				names = append(names, s)
			}
		})
		switch {
		case words >= conveyingWords:
		case len(names) > 0 && len(names) <= bareTerms && bare < bareLines:
			bare++
		default:
			continue
		}
		for _, s := range names {
			out[s] = true
		}
	}
	return out
}
