package maintenance

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/sessionlog"
	"strandline/internal/state"
	"strandline/internal/transcript"
)

// Place is a turn or a step that is to be deleted, as the index has it.
type Place struct {
	Ref      archive.Ref // Step -1 for a turn
	LineFrom int         // of the first line
	LineTo   int         // end, exclusive; of a turn where the next one begins
	Message  string      // id of a step's response
	Prompts  []string    // texts of the turn's prompts
	Texts    []string    // all its texts, to take samples of
	Sessions []string    // that may hold copies of its rows, itself included
}

// PartPlan is what deleting a turn or a step would delete.
type PartPlan struct {
	Part    archive.Part
	Lines   int
	Bytes   int64
	Echoes  int      // lines elsewhere, of the client's notes, that repeat its words
	Also    []int    // lines of the conversation elsewhere that do, which stay
	Samples []string // to look for afterwards
}

// shortestPrompt is the least length, in bytes, of a prompt that is looked for as a
// whole in what the client notes.
const shortestPrompt = 8

// PlanPart finds the rows of a turn or a step in its log.
func (f Forget) PlanPart(ctx context.Context, p Place, most int) (PartPlan, error) {
	plan := PartPlan{Part: archive.Part{Turn: p.Ref.Turn, Step: p.Ref.Step, Sessions: p.Sessions}}
	salt := make([]byte, 8)
	if _, err := rand.Read(salt); err != nil {
		return plan, fmt.Errorf("plan what to forget: %w", err)
	}
	plan.Part.Salt = hex.EncodeToString(salt)
	log, err := f.Capture.Open(p.Ref.Session, 0)
	if err != nil {
		return plan, err
	}
	defer log.Close()
	s := partScan{place: p, plan: &plan, own: map[int]bool{}}
	if err := f.Capture.EachRow(ctx, log, p.LineFrom, s.take); err != nil {
		return plan, err
	}
	if len(s.own) == 0 {
		return plan, archive.NotFound(p.Ref.Handle()+" has no lines left", "it was forgotten already")
	}
	s.samples(most)
	files, err := f.filesOf(ctx, p.Ref.Session, &s)
	if err != nil {
		return plan, err
	}
	if err := f.Capture.EachRow(ctx, log, 0, func(r transcript.Row, line []byte) { s.elsewhere(r, line, files) }); err != nil {
		return plan, err
	}
	if err := f.copies(ctx, p, &s); err != nil {
		return plan, err
	}
	for rel, held := range files {
		if !held {
			plan.Part.Files = append(plan.Part.Files, rel)
		}
	}
	slices.Sort(plan.Part.Files)
	slices.Sort(plan.Part.Keys)
	plan.Part.Keys = slices.Compact(plan.Part.Keys)
	return plan, nil
}

// partScan collects what a part is made of.
type partScan struct {
	place  Place
	plan   *PartPlan
	own    map[int]bool // lines of the part
	text   bytes.Buffer // of these lines
	uses   []string     // calls of a step
	prompt int          // prompts so far
	texts  [][]byte     // that are looked for elsewhere
}

// take adds a line of the part.
func (s *partScan) take(r transcript.Row, line []byte) {
	if r.Line >= s.place.LineTo || r.Blank || r.Cut || !s.belongs(r) {
		return
	}
	part := &s.plan.Part
	head := len(s.own) == 0 || part.Step < 0 && s.place.LineFrom == 0 && r.Prompt && s.prompt == 0
	if head { // the prompt of the first turn may stand behind what the client notes
		part.Head = capture.HeadKey(r, part.Step >= 0, line, part.Salt)
	}
	if r.Prompt {
		s.prompt++
	}
	s.own[r.Line] = true
	part.Keys = append(part.Keys, capture.LineKeys(r, line, part.Salt)...)
	s.uses = append(s.uses, r.Uses...)
	s.text.Write(line)
	s.text.WriteByte('\n')
	s.plan.Lines++
	s.plan.Bytes += int64(len(line)) + 1
}

// belongs reports whether a line between a step's first and last is the step's.
func (s *partScan) belongs(r transcript.Row) bool {
	switch {
	case s.place.Ref.Step < 0:
		return true
	case r.Message != "":
		return r.Message == s.place.Message
	case len(r.Results) > 0:
		return slices.ContainsFunc(r.Results, func(id string) bool { return slices.Contains(s.uses, id) })
	}
	return r.Line == s.place.LineFrom
}

// samples takes texts that the lines hold as they are.
func (s *partScan) samples(most int) {
	var all []string
	for _, text := range s.place.Texts {
		if x := sample(text); x != "" && bytes.Contains(s.text.Bytes(), []byte(x)) {
			all = append(all, x)
		}
	}
	s.plan.Samples = evenly(all, most)
	for _, x := range s.plan.Samples {
		s.texts = append(s.texts, []byte(x))
	}
	for _, text := range s.place.Prompts {
		if raw, err := json.Marshal(text); err == nil && len(text) >= shortestPrompt {
			s.texts = append(s.texts, bytes.Trim(raw, `"`))
		}
	}
}

// filesOf lists the side files that the lines name.
func (f Forget) filesOf(ctx context.Context, session string, s *partScan) (map[string]bool, error) {
	logs, err := f.logs(ctx, []string{session})
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for _, e := range logs[session] {
		if e.Rel != "" && bytes.Contains(s.text.Bytes(), []byte(stem(e.Rel))) {
			named[e.Rel] = false
		}
	}
	return named, nil
}

// stem is by what a transcript names a side file: the name without its endings and
// without what is put before a sub-agent's id.
func stem(rel string) string {
	name, _, _ := strings.Cut(path.Base(rel), ".")
	return strings.TrimPrefix(name, "agent-")
}

// elsewhere looks at a line that is not the part's: what the client notes goes, too,
// where it repeats its words; what was spoken stays and is told.
func (s *partScan) elsewhere(r transcript.Row, line []byte, files map[string]bool) {
	if s.own[r.Line] || r.Blank {
		return
	}
	for rel := range files {
		files[rel] = files[rel] || bytes.Contains(line, []byte(stem(rel)))
	}
	s.echo(r, line)
}

// echo notes a line that repeats the part's words.
func (s *partScan) echo(r transcript.Row, line []byte) {
	if r.Cut || r.Blank || !slices.ContainsFunc(s.texts, func(t []byte) bool { return bytes.Contains(line, t) }) {
		return
	}
	keys := capture.LineKeys(r, line, s.plan.Part.Salt)
	switch {
	case slices.ContainsFunc(keys, func(k string) bool { return slices.Contains(s.plan.Part.Keys, k) }):
		// a copy of one of its rows
	case r.Spoken:
		s.plan.Also = append(s.plan.Also, r.Line)
	default:
		s.plan.Echoes++
		s.plan.Part.Keys = append(s.plan.Part.Keys, keys...)
	}
}

// copies looks through all logs that may hold copies for notes of the client that
// repeat the part's words.
func (f Forget) copies(ctx context.Context, p Place, s *partScan) error {
	logs, err := f.logs(ctx, p.Sessions)
	if err != nil {
		return err
	}
	for _, entries := range logs {
		for _, e := range entries {
			if e.Rel != "" {
				continue
			}
			if err := f.echoes(ctx, e, s); err != nil && archive.ErrorCode(err) != archive.CodeCorrupt {
				return err
			}
		}
	}
	return nil
}

func (f Forget) echoes(ctx context.Context, e sessionlog.Entry, s *partScan) error {
	log, err := sessionlog.OpenReader(e.Path)
	if err != nil {
		return err
	}
	defer log.Close()
	return f.Capture.EachRow(ctx, log, 0, func(r transcript.Row, line []byte) {
		if !r.Spoken {
			s.echo(r, line)
		}
	})
}

// BeginPart decides that a turn or a step is forgotten.
func (f Forget) BeginPart(ctx context.Context, ref archive.Ref, plan PartPlan) error {
	part := plan.Part
	fact := capture.Fact{ID: archive.ForgetPartID(ref) + ":" + part.Salt, Kind: archive.JournalForgetPart, Session: ref.Session, Data: part}
	if err := f.Journal.RecordAll(ctx, fact); err != nil {
		return fmt.Errorf("note that %s is forgotten: %w", ref.Handle(), err)
	}
	return f.notePart(part, plan.Samples)
}

// notePart tells hooks and imports of a part.
func (f Forget) notePart(part archive.Part, samples []string) error {
	for _, s := range part.Sessions {
		of, err := f.Capture.Parts().Of(s)
		if err != nil {
			return err
		}
		of.Open, of.Samples = true, append(of.Samples, samples...)
		if !of.Has(part) {
			of.Parts = append(of.Parts, part)
		}
		if err := f.Capture.Parts().Set(s, of); err != nil {
			return err
		}
	}
	return nil
}

// OpenParts lists the sessions of which a part is forgotten and not gone yet: a
// command was interrupted, a log came back, or a journal did without the files that
// hooks ask.
func (f Forget) OpenParts(ctx context.Context) ([]string, error) {
	facts, _, err := f.Journal.Log.Read(ctx, sessionlog.JournalCursor{})
	if err != nil {
		return nil, fmt.Errorf("list what was forgotten: %w", err)
	}
	for _, e := range facts {
		var part archive.Part
		if e.Kind != archive.JournalForgetPart || json.Unmarshal(e.Data, &part) != nil {
			continue
		}
		for _, s := range part.Sessions {
			of, err := f.Capture.Parts().Of(s)
			if err != nil {
				return nil, err
			}
			if !f.Capture.Forgotten().Has(s) && !of.Has(part) {
				if err := f.notePart(part, nil); err != nil {
					return nil, err
				}
			}
		}
	}
	sessions, err := f.Capture.Parts().Sessions()
	if err != nil {
		return nil, err
	}
	var open []string
	for _, s := range sessions {
		of, err := f.Capture.Parts().Of(s)
		if err != nil {
			return nil, err
		}
		if !of.Open {
			held, err := f.holds(ctx, s, of.Parts)
			if err != nil {
				return nil, err
			}
			of.Open = held
		}
		if of.Open {
			open = append(open, s)
		}
	}
	return open, nil
}

// holds reports that a log of a session holds what was forgotten of it.
func (f Forget) holds(ctx context.Context, session string, parts []archive.Part) (bool, error) {
	logs, err := f.logs(ctx, []string{session})
	if err != nil {
		return false, err
	}
	for _, e := range logs[session] {
		if e.Rel != "" {
			continue
		}
		holes, err := f.Capture.Holes(ctx, e.Path, 0, parts)
		if archive.ErrorCode(err) == archive.CodeCorrupt {
			continue // `verify` tells of it
		}
		if err != nil || len(holes) > 0 {
			return len(holes) > 0, err
		}
	}
	return false, nil
}

// EraseParts takes what was forgotten of sessions out of the journal and then out of
// their logs; what is derived is the caller's, and so is the lock of upkeep.
func (f Forget) EraseParts(ctx context.Context, sessions []string) (gone Gone, err error) {
	// What a process was writing when it was killed may hold the samples.
	if err := state.RemoveTemp(f.Capture.Parts().Dir); err != nil {
		return gone, fmt.Errorf("delete what was left half written: %w", err)
	}
	for _, s := range sessions {
		of, err := f.Capture.Parts().Of(s)
		if err != nil {
			return gone, err
		}
		n, err := f.Journal.Log.Remove(ctx, func(e archive.JournalEntry) bool {
			return archive.Owner(e.Session) == s && tells(e, of.Parts, of.Samples)
		})
		gone.Facts += n
		if err != nil {
			return gone, fmt.Errorf("take facts out of the journal: %w", err)
		}
		logs, err := f.logs(ctx, []string{s})
		if err != nil {
			return gone, err
		}
		for _, e := range logs[s] {
			if err := f.erasePartsOf(ctx, e, of.Parts, &gone); err != nil {
				return gone, err
			}
		}
	}
	return gone, nil
}

func (f Forget) erasePartsOf(ctx context.Context, e sessionlog.Entry, parts []archive.Part, gone *Gone) error {
	if e.Rel != "" {
		if slices.ContainsFunc(parts, func(p archive.Part) bool { return slices.Contains(p.Files, e.Rel) }) {
			return f.eraseLog(e, gone)
		}
		return nil
	}
	holes, err := f.Capture.Holes(ctx, e.Path, 0, parts)
	if err != nil || len(holes) == 0 {
		return err
	}
	if _, err := sessionlog.Rewrite(ctx, e.Path, holes); err != nil {
		return err
	}
	gone.Logs++
	return nil
}

// tells reports that a fact of a session tells of one of its parts: the summary of
// a stretch that holds it, or one of the samples.
func tells(e archive.JournalEntry, parts []archive.Part, samples []string) bool {
	switch e.Kind {
	case archive.JournalForget, archive.JournalForgetPart, archive.JournalTaught:
		return false
	case archive.JournalSegment:
		var fact archive.SegmentFact
		if json.Unmarshal(e.Data, &fact) == nil && slices.ContainsFunc(parts, func(p archive.Part) bool {
			return fact.Segment.StartTurn <= p.Turn && p.Turn <= fact.Segment.EndTurn
		}) {
			return true
		}
	}
	return slices.ContainsFunc(samples, func(s string) bool { return bytes.Contains(e.Data, []byte(s)) })
}

// PartsDone notes that nothing of what was forgotten of the sessions is left.
func (f Forget) PartsDone(sessions []string) error {
	var errs []error
	for _, s := range sessions {
		of, err := f.Capture.Parts().Of(s)
		if err == nil {
			of.Open, of.Samples = false, nil
			err = f.Capture.Parts().Set(s, of)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
