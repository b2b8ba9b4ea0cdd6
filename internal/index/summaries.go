package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/archive"
)

// HookTurn is the turn of passages that come from the journal, not from a
// transcript.
const HookTurn = -1

// HookChunks is the number of passages that one summary is split into at most. The
// client's summaries make about three.
const HookChunks = 64

// SummaryPassages splits a summary into passages. Their sequence numbers derive
// from the entry's ID, and so do not depend on other entries.
func SummaryPassages(h archive.HookSummary) []archive.Passage {
	return split(h.Text, archive.Passage{Session: h.Session, Seq: HookSeq(h.ID), Label: "hook", Time: h.Time})
}

// split returns passages like p, with ascending sequence numbers, that hold text.
func split(text string, p archive.Passage) (ps []archive.Passage) {
	p.Turn, p.Step, p.Kind, p.LineFrom, p.LineTo = HookTurn, -1, archive.KindSummary, -1, -1
	for text != "" && len(ps) < HookChunks {
		p.Text, text = cutText(text, archive.MaxPassage)
		ps = append(ps, p)
		p.Seq++
	}
	return ps
}

// HookSeq returns the first of the HookChunks sequence numbers of an entry.
func HookSeq(id string) int { return int(xxhash.Sum64String(id)>>24) * HookChunks }

// cutText splits text after at most n bytes: at the end of a line if one is in the
// second half, otherwise between two runes.
func cutText(text string, n int) (piece, rest string) {
	if len(text) <= n {
		return text, ""
	}
	if i := strings.LastIndexByte(text[:n], '\n'); i > n/2 {
		return text[:i+1], text[i+1:]
	}
	for n > 1 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n], text[n:]
}

// SegmentPassages splits a segment's current summary into passages: the newest
// saved or imported one, otherwise the first extractive one. Passages of an
// archived segment are labelled as such; those of a pruned segment have no paths.
func SegmentPassages(facts []archive.SegmentFact, session string) []archive.Passage {
	var newest archive.Segment
	label, mark := archive.LabelSegment, ""
	for _, f := range facts {
		switch f.Event {
		case archive.SegmentArchived:
			if newest.Content != "" {
				label, mark = archive.LabelArchived, " (archived)"
			}
		case archive.SegmentPruned:
			newest.KeyFiles = nil
		case archive.SegmentRemoved:
			newest, label, mark = archive.Segment{}, archive.LabelSegment, ""
		case archive.SegmentSummarised:
			if newest.Content == "" {
				newest = f.Segment
			}
		case archive.SegmentSaved, archive.SegmentImported:
			if f.Segment.Content != "" {
				newest = f.Segment
			}
		}
	}
	if newest.Content == "" {
		return nil
	}
	head := fmt.Sprintf("Summary %s%s of turns %d to %d: %s\n", newest.ID, mark, newest.StartTurn, newest.EndTurn, newest.Topic)
	return split(head+newest.Content, archive.Passage{
		Session: session, Seq: HookSeq(newest.ID), Label: label, Paths: newest.KeyFiles, Time: newest.CompressedAt.UTC(),
	})
}

// applySummary stores a summary that a hook reported, unless a transcript holds it
// already.
func applySummary(ctx context.Context, tx Tx, e *archive.JournalEntry, fact archive.SummaryFact, join string) error {
	base := BaseID(e.Session)
	summarized := "SELECT 1 FROM sessions s " + join + " compactions c ON c.session = s.no " +
		"WHERE s.id >= ?1 AND s.id < ?1 || 'A' AND (s.id = ?1 OR substr(s.id, length(?1) + 1, 1) = '@') " +
		"AND c.summary_line >= 0 AND c.time >= ?2 LIMIT 1"
	var one int
	if done, err := tx.QueryRow(ctx, summarized, []any{base, Nanos(e.Time)}, &one); err != nil || done {
		return err
	}
	added, err := tx.Exec(ctx, "INSERT INTO hook_summaries (id, session_id, time, source, text) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
		e.ID, base, Nanos(e.Time), fact.Source, fact.Text)
	if err != nil || added == 0 {
		return err
	}
	return putHookPassages(ctx, tx, base, SummaryPassages(archive.HookSummary{ID: e.ID, Session: base, Time: e.Time.UTC(), Text: fact.Text}))
}

// putHookPassages stores passages that come from the journal.
func putHookPassages(ctx context.Context, tx Tx, session string, ps []archive.Passage) error {
	if len(ps) == 0 {
		return nil
	}
	no, err := intern(ctx, tx, session)
	if err != nil {
		return err
	}
	return tx.PutPassages(ctx, no, archive.IsAgentID(session), ps)
}

// replaceHookPassages replaces the passages of one summary or segment, stored in the session
// with the number no, by passages of a session.
func replaceHookPassages(ctx context.Context, tx Tx, no int64, id, session string, ps []archive.Passage) error {
	if err := dropHookPassages(ctx, tx, no, id); err != nil {
		return err
	}
	return putHookPassages(ctx, tx, session, ps)
}

// dropHookPassages deletes the passages of one summary or segment that come from
// the journal. no is the number of their session.
func dropHookPassages(ctx context.Context, tx Tx, no int64, id string) error {
	first := HookSeq(id)
	ids, err := Column[int64](ctx, tx, "SELECT id FROM passages WHERE session = ? AND turn = ? AND step = -1 AND seq >= ? AND seq < ?",
		no, HookTurn, first, first+HookChunks)
	if err != nil {
		return err
	}
	return tx.DropPassages(ctx, ids)
}

// dropHookSummaries deletes a session's summaries up to a time, because a
// transcript holds a summary of that time.
func dropHookSummaries(ctx context.Context, tx Tx, base string, until int64) error {
	ids, err := Column[string](ctx, tx, "SELECT id FROM hook_summaries WHERE session_id = ? AND time <= ?", base, until)
	if err != nil || len(ids) == 0 {
		return err
	}
	no, err := SessionNumber(ctx, tx, base)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := tx.Exec(ctx, "DELETE FROM hook_summaries WHERE id = ?", id); err != nil {
			return err
		}
		if err := dropHookPassages(ctx, tx, no, id); err != nil {
			return err
		}
	}
	return nil
}

// moveHookPassages moves the passages of a session's summaries and segments to the
// session that has its name now. no is the number of the session that had the name.
func moveHookPassages(ctx context.Context, tx Tx, id string, no int64) error {
	summaries, err := hookSummaries(ctx, tx, id)
	if err != nil {
		return err
	}
	for _, h := range summaries {
		if err := replaceHookPassages(ctx, tx, no, h.ID, id, SummaryPassages(h)); err != nil {
			return err
		}
	}
	if err := replaceHookPassages(ctx, tx, no, snapshotPassages, id, nil); err != nil {
		return err
	}
	return errors.Join(indexSegments(ctx, tx, no, id, nil), indexSnapshot(ctx, tx, id))
}

// snapshotPassages identifies the passages of a session's current snapshot.
const snapshotPassages = "snapshot"

// indexSnapshot rebuilds the passages of a session's current snapshot.
func indexSnapshot(ctx context.Context, tx Tx, base string) error {
	entries, err := journalEntries(ctx, tx, base, archive.JournalSnapshot)
	if err != nil {
		return err
	}
	var ps []archive.Passage
	if f, at, ok := archive.CurrentSnapshot(entries, time.Time{}); ok {
		ps = split(strings.Join(f.Lines(), "\n"), archive.Passage{
			Session: base, Seq: HookSeq(snapshotPassages), Label: archive.LabelSnapshot, Paths: f.Files, Time: at.UTC(),
		})
	}
	no, err := intern(ctx, tx, base)
	if err != nil {
		return err
	}
	return replaceHookPassages(ctx, tx, no, snapshotPassages, base, ps)
}

// Expire removes the journal's entries of a kind that are older than a time.
func (s *Store) Expire(ctx context.Context, kind archive.JournalKind, before time.Time) error {
	return s.write(ctx, "remove old facts", func(ctx context.Context, tx Tx) error {
		const old = "FROM journal WHERE kind = ? AND time < ?"
		sessions, err := Column[string](ctx, tx, "SELECT DISTINCT session_id "+old, string(kind), Nanos(before))
		if err != nil || len(sessions) == 0 {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE "+old, string(kind), Nanos(before)); err != nil || kind != archive.JournalSnapshot {
			return err
		}
		for _, session := range sessions {
			if err := indexSnapshot(ctx, tx, BaseID(session)); err != nil {
				return err
			}
		}
		return nil
	})
}

// HookSummaries returns a session's summaries that only hooks reported so far,
// oldest first.
func (s *Store) HookSummaries(ctx context.Context, session string) ([]archive.HookSummary, error) {
	return Read(ctx, s.read, "read summaries", func(ctx context.Context, tx Tx) ([]archive.HookSummary, error) {
		return hookSummaries(ctx, tx, BaseID(session))
	})
}

func hookSummaries(ctx context.Context, tx Tx, base string) ([]archive.HookSummary, error) {
	const query = "SELECT id, time, source, text FROM hook_summaries WHERE session_id = ? ORDER BY time, id"
	return Rows(ctx, tx, query, []any{base}, func(scan Scan) (archive.HookSummary, error) {
		h := archive.HookSummary{Session: base}
		err := scan(&h.ID, asTime(&h.Time), &h.Source, &h.Text)
		return h, err
	})
}

// indexSegments rebuilds the passages of segments, all if ids is nil. They depend on all
// entries about a segment, in whatever order the entries arrive. Those stored before are in
// the session with the number no.
func indexSegments(ctx context.Context, tx Tx, no int64, base string, ids []string) error {
	entries, err := journalEntries(ctx, tx, base, archive.JournalSegment)
	facts := map[string][]archive.SegmentFact{} // by segment
	for _, e := range entries {
		if f, ok := archive.FactOf[archive.SegmentFact](&e); ok && f.Segment.ID != "" {
			facts[f.Segment.ID] = append(facts[f.Segment.ID], f)
		}
	}
	if ids == nil {
		ids = slices.Sorted(maps.Keys(facts))
	}
	for i := 0; err == nil && i < len(ids); i++ {
		err = replaceHookPassages(ctx, tx, no, ids[i], base, SegmentPassages(facts[ids[i]], base))
	}
	return err
}
