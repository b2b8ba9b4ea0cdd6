package app

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/sessionlog"
	"strandline/internal/state"
	"strandline/internal/transcript"
)

// Target is a turn or a step to delete, with its data from the index.
type Target struct {
	Ref      archive.Ref // Step -1 for a turn
	LineFrom int         // its first line
	LineTo   int         // exclusive; for a turn, the first line of the next
	Message  string      // ID of a step's response
	Prompts  []string    // texts of the turn's prompts
	Texts    []string    // all texts, from which samples are taken
	Sessions []string    // sessions that may contain its rows: its own and its forks
}

// PartPlan is the planned deletion of a turn or a step.
type PartPlan struct {
	Part    archive.Part
	Lines   int      // lines of the part in its own session
	Bytes   int64    // size of these lines
	Echoes  int      // metadata lines of the client that repeat its texts; they are deleted
	Also    []int    // other conversation lines that repeat its texts; they are not deleted
	Samples []string // texts to search the archive for after the deletion
}

// minPrompt is the minimum length in bytes of a prompt that is searched for in other
// lines. Shorter prompts would match unrelated lines.
const minPrompt = 8

// PlanPart plans the deletion of a turn or a step: it finds its lines, the metadata
// that repeats them, the side files that only they name, and at most maxSamples
// samples. It changes nothing. The error is CodeNotFound if no line is left.
func (w Workspace) PlanPart(ctx context.Context, t Target, maxSamples int) (PartPlan, error) {
	plan := PartPlan{Part: archive.Part{Turn: t.Ref.Turn, Step: t.Ref.Step, Sessions: t.Sessions}}
	salt := make([]byte, 8)
	if _, err := rand.Read(salt); err != nil {
		return plan, fmt.Errorf("make a salt: %w", err)
	}
	plan.Part.Salt = hex.EncodeToString(salt)
	log, err := w.Capture.Open(t.Ref.Session, 0)
	if err != nil {
		return plan, err
	}
	defer log.Close()
	s := partScan{target: t, plan: &plan, own: map[int]bool{}}
	if err := w.Capture.EachRow(ctx, log, t.LineFrom, s.addRow); err != nil {
		return plan, err
	}
	if len(s.own) == 0 {
		return plan, archive.NotFound(t.Ref.Handle()+" has no lines left", "it was forgotten already")
	}
	s.chooseTexts(maxSamples)
	logs, err := w.logs(ctx, t.Sessions)
	if err != nil {
		return plan, err
	}
	shared := map[string]bool{} // side files that the part names; true if another line names them as well
	for _, e := range logs[t.Ref.Session] {
		if e.Rel != "" && bytes.Contains(s.raw.Bytes(), []byte(stem(e.Rel))) {
			shared[e.Rel] = false
		}
	}
	err = w.Capture.EachRow(ctx, log, 0, func(r transcript.Row, line []byte) {
		if s.own[r.Line] || r.Blank {
			return
		}
		for rel := range shared {
			shared[rel] = shared[rel] || bytes.Contains(line, []byte(stem(rel)))
		}
		s.addEcho(r, line)
	})
	if err != nil {
		return plan, err
	}
	if err := w.addEchoes(ctx, logs, &s); err != nil {
		return plan, err
	}
	maps.DeleteFunc(shared, func(_ string, isShared bool) bool { return isShared })
	plan.Part.Files = slices.Sorted(maps.Keys(shared))
	slices.Sort(plan.Part.Keys)
	plan.Part.Keys = slices.Compact(plan.Part.Keys)
	return plan, nil
}

// addEchoes searches the logs for metadata lines of the client that repeat the part's
// texts. It skips damaged logs.
func (w Workspace) addEchoes(ctx context.Context, logs map[string][]sessionlog.Entry, s *partScan) error {
	for _, e := range transcriptsOf(logs) {
		log, err := sessionlog.OpenReader(e.Path)
		if err == nil {
			err = errors.Join(w.Capture.EachRow(ctx, log, 0, func(r transcript.Row, line []byte) {
				if !r.InConversation {
					s.addEcho(r, line)
				}
			}), log.Close())
		}
		if err != nil && archive.ErrorCode(err) != archive.CodeCorrupt {
			return err
		}
	}
	return nil
}

// transcriptsOf returns the logs of transcripts, without those of side files.
func transcriptsOf(logs map[string][]sessionlog.Entry) []sessionlog.Entry {
	return archive.Select(slices.Concat(slices.Collect(maps.Values(logs))...), func(e sessionlog.Entry) bool { return e.Rel == "" })
}

// partScan collects the lines of a part and the lines that repeat its texts.
type partScan struct {
	target  Target
	plan    *PartPlan
	own     map[int]bool // numbers of the part's lines
	raw     bytes.Buffer // the part's lines
	uses    []string     // IDs of the part's tool calls
	prompts int          // number of prompts so far
	texts   [][]byte     // texts to search other lines for, as in JSON
}

// addRow adds a line if it belongs to the part.
func (s *partScan) addRow(r transcript.Row, line []byte) {
	if r.Line >= s.target.LineTo || r.Blank || r.Boundary || !s.belongs(r) {
		return
	}
	part := &s.plan.Part
	// The first turn begins with metadata of the client: its head is the first prompt.
	if len(s.own) == 0 || part.Step < 0 && s.target.LineFrom == 0 && r.Prompt && s.prompts == 0 {
		part.Head = capture.HeadKey(r, part.Step >= 0, line, part.Salt)
	}
	if r.Prompt {
		s.prompts++
	}
	s.own[r.Line] = true
	part.Keys = append(part.Keys, capture.LineKeys(r, line, part.Salt)...)
	s.uses = append(s.uses, r.Uses...)
	s.raw.Write(line)
	s.raw.WriteByte('\n')
	s.plan.Lines++
	s.plan.Bytes += int64(len(line)) + 1
}

// belongs reports whether a line in the target's range is part of it. Steps can
// overlap; turns cannot, so all lines in a turn's range belong to it.
func (s *partScan) belongs(r transcript.Row) bool {
	switch {
	case s.target.Ref.Step < 0:
		return true
	case r.MessageID != "":
		return r.MessageID == s.target.Message
	case len(r.Results) > 0:
		return slices.ContainsFunc(r.Results, func(id string) bool { return slices.Contains(s.uses, id) })
	}
	return r.Line == s.target.LineFrom
}

// chooseTexts selects the samples and the texts to search other lines for. A sample
// appears in the part's lines without JSON escapes.
func (s *partScan) chooseTexts(maxSamples int) {
	all := archive.Select(archive.Convert(s.target.Texts, sample), func(x string) bool {
		return x != "" && bytes.Contains(s.raw.Bytes(), []byte(x))
	})
	s.plan.Samples = evenly(all, maxSamples)
	s.texts = archive.Convert(s.plan.Samples, func(x string) []byte { return []byte(x) })
	for _, text := range s.target.Prompts {
		if raw, err := json.Marshal(text); err == nil && len(text) >= minPrompt {
			s.texts = append(s.texts, bytes.Trim(raw, `"`))
		}
	}
}

// stem returns the part of a side file's name by which transcripts refer to it: the
// base name without extensions and without the prefix "agent-".
func stem(rel string) string {
	name, _, _ := strings.Cut(path.Base(rel), ".")
	return strings.TrimPrefix(name, "agent-")
}

// addEcho adds a line outside the part that repeats the part's texts, unless it is a
// copy of one of its rows. Metadata will be deleted; a conversation line is listed in
// Also.
func (s *partScan) addEcho(r transcript.Row, line []byte) {
	if r.Boundary || r.Blank || !slices.ContainsFunc(s.texts, func(t []byte) bool { return bytes.Contains(line, t) }) {
		return
	}
	keys := capture.LineKeys(r, line, s.plan.Part.Salt)
	switch {
	case slices.ContainsFunc(keys, func(k string) bool { return slices.Contains(s.plan.Part.Keys, k) }):
	case r.InConversation:
		s.plan.Also = append(s.plan.Also, r.Line)
	default:
		s.plan.Echoes++
		s.plan.Part.Keys = append(s.plan.Part.Keys, keys...)
	}
}

// BeginPart records in the journal and in marker files that a turn or a step is
// forgotten. EraseParts then deletes it.
func (w Workspace) BeginPart(ctx context.Context, ref archive.Ref, plan PartPlan) error {
	part := plan.Part
	fact := capture.Fact{ID: archive.ForgetPartID(ref) + ":" + part.Salt, Kind: archive.JournalForgetPart, Session: ref.Session, Data: part}
	if err := w.Journal.RecordAll(ctx, fact); err != nil {
		return fmt.Errorf("record that %s is forgotten: %w", ref.Handle(), err)
	}
	return w.markPart(part, plan.Samples)
}

// markPart writes the marker files that make hooks and imports skip a part.
func (w Workspace) markPart(part archive.Part, samples []string) (err error) {
	for _, s := range part.Sessions {
		err = errors.Join(err, w.changeParts(s, func(of *capture.SessionParts) {
			of.Open, of.Samples = true, append(of.Samples, samples...)
			if !of.Has(part) {
				of.Parts = append(of.Parts, part)
			}
		}))
	}
	return err
}

// OpenParts lists the sessions with a forgotten part whose deletion is incomplete,
// because a command was interrupted or a log was restored. It first writes marker
// files that are missing, for example after the journal was restored.
func (w Workspace) OpenParts(ctx context.Context) ([]string, error) {
	facts, err := journalEntries(ctx, w.Journal, archive.JournalForgetPart)
	if err != nil {
		return nil, err
	}
	for _, e := range facts {
		part, ok := archive.FactOf[archive.Part](&e)
		if !ok {
			continue
		}
		for _, s := range part.Sessions {
			of, err := w.Capture.ForgottenParts().Of(s)
			if err == nil && !w.Capture.Forgotten().Has(s) && !of.Has(part) {
				err = w.markPart(part, nil)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	sessions, err := w.Capture.ForgottenParts().Sessions()
	if err != nil {
		return nil, err
	}
	var open []string
	for _, s := range sessions {
		of, err := w.Capture.ForgottenParts().Of(s)
		if err == nil && !of.Open {
			of.Open, err = w.holds(ctx, s, of.Parts)
		}
		if err != nil {
			return nil, err
		}
		if of.Open {
			open = append(open, s)
		}
	}
	return open, nil
}

// holds reports whether a log of a session still contains lines of the parts. It skips
// damaged logs.
func (w Workspace) holds(ctx context.Context, session string, parts []archive.Part) (bool, error) {
	logs, err := w.logs(ctx, []string{session})
	if err != nil {
		return false, err
	}
	for _, e := range transcriptsOf(logs) {
		holes, err := w.Capture.ForgottenLines(ctx, e.Path, 0, parts)
		if archive.ErrorCode(err) == archive.CodeCorrupt {
			continue // `verify` reports it
		}
		if err != nil || len(holes) > 0 {
			return len(holes) > 0, err
		}
	}
	return false, nil
}

// EraseParts deletes the forgotten parts of sessions from the journal, then from the
// logs, and returns the number of changed or deleted logs and of deleted facts. The
// caller holds the maintenance lock, rebuilds the index and calls EndParts.
func (w Workspace) EraseParts(ctx context.Context, sessions []string) (gone int, err error) {
	// Temporary files of a killed process may contain samples.
	if err := state.RemoveTemp(w.Capture.ForgottenParts().Dir); err != nil {
		return 0, fmt.Errorf("delete temporary files: %w", err)
	}
	logs, err := w.logs(ctx, sessions)
	if err != nil {
		return 0, err
	}
	erased := map[string]bool{} // true: the whole log
	for _, s := range sessions {
		of, err := w.Capture.ForgottenParts().Of(s)
		if err != nil {
			return gone, err
		}
		facts, err := w.Journal.Log.Remove(ctx, func(e archive.JournalEntry) bool {
			return archive.Owner(e.Session) == s && mentions(e, of.Parts, of.Samples)
		})
		gone += facts
		if err != nil {
			return gone, fmt.Errorf("delete entries from the journal: %w", err)
		}
		for _, e := range logs[s] {
			changed, err := w.erasePartsOf(ctx, e, of.Parts)
			if err != nil {
				return gone, err
			}
			if changed {
				gone++
				erased[e.Path] = e.Rel != ""
			}
		}
	}
	return gone, w.dropFromManifest(ctx, erased)
}

// erasePartsOf replaces the parts' lines in a log, or deletes a side file of the parts.
func (w Workspace) erasePartsOf(ctx context.Context, e sessionlog.Entry, parts []archive.Part) (changed bool, err error) {
	if e.Rel != "" {
		if !slices.ContainsFunc(parts, func(p archive.Part) bool { return slices.Contains(p.Files, e.Rel) }) {
			return false, nil
		}
		return true, w.eraseLog(e)
	}
	holes, err := w.Capture.ForgottenLines(ctx, e.Path, 0, parts)
	if err != nil || len(holes) == 0 {
		return false, err
	}
	_, err = sessionlog.Rewrite(ctx, e.Path, holes)
	return true, err
}

// mentions reports whether a journal entry is about one of the parts: it summarizes a
// segment that includes the part's turn, or it contains one of the samples.
func mentions(e archive.JournalEntry, parts []archive.Part, samples []string) bool {
	switch e.Kind {
	case archive.JournalForget, archive.JournalForgetPart, archive.JournalTaught:
		return false
	case archive.JournalSegment:
		fact, ok := archive.FactOf[archive.SegmentFact](&e)
		g := fact.Segment
		if ok && slices.ContainsFunc(parts, func(p archive.Part) bool { return g.StartTurn <= p.Turn && p.Turn <= g.EndTurn }) {
			return true
		}
	}
	return slices.ContainsFunc(samples, func(s string) bool { return bytes.Contains(e.Data, []byte(s)) })
}

// EndParts records that the deletion of parts of the sessions is complete.
func (w Workspace) EndParts(sessions []string) error {
	return errors.Join(archive.Convert(sessions, func(s string) error {
		return w.changeParts(s, func(of *capture.SessionParts) { of.Open, of.Samples = false, nil })
	})...)
}

// changeParts reads, changes and writes the marker file of a session.
func (w Workspace) changeParts(session string, change func(of *capture.SessionParts)) error {
	of, err := w.Capture.ForgottenParts().Of(session)
	if err != nil {
		return err
	}
	change(&of)
	return w.Capture.ForgottenParts().Set(session, of)
}
