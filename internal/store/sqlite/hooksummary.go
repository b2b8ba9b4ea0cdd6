package sqlite

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/archive"
)

// hookTurn is the turn of passages that stand in no transcript.
const hookTurn = -1

// hookChunks is how many passages one summary may become; the client's are
// about three long.
const hookChunks = 64

// baseID returns a session's id without its generation. Hooks know no
// generations: what they tell belongs to the name.
func baseID(id string) string {
	base, _, _ := strings.Cut(id, "@")
	return base
}

const summarizedQuery = "SELECT 1 FROM sessions s CROSS JOIN compactions c ON c.session = s.no " +
	"WHERE s.id >= ?1 AND s.id < ?1 || 'A' AND (s.id = ?1 OR substr(s.id, length(?1) + 1, 1) = '@') " +
	"AND c.summary_line >= 0 AND c.time >= ?2 LIMIT 1"

// applySummary stores a summary unless a transcript holds it by now.
func (s *Store) applySummary(ctx context.Context, e *archive.JournalEntry, fact archive.SummaryFact) error {
	base := baseID(e.Session)
	var one int
	done, err := s.queryRow(ctx, summarizedQuery, []any{base, nanos(e.Time)}, &one)
	if err != nil || done {
		return err
	}
	r, err := s.exec(ctx, "INSERT INTO hook_summaries (id, session_id, time, source, text) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
		e.ID, base, nanos(e.Time), fact.Source, fact.Text)
	if err != nil {
		return err
	}
	if fresh, err := r.RowsAffected(); err != nil || fresh == 0 {
		return err
	}
	no, err := s.intern(ctx, base)
	if err != nil {
		return err
	}
	return s.putPassages(ctx, no, isAgentID(base), summaryPassages(archive.HookSummary{ID: e.ID, Session: base, Time: e.Time.UTC(), Text: fact.Text}))
}

func isAgentID(id string) bool { return strings.Contains(id, "~") }

// summaryPassages cuts a summary into passages. Their sequence numbers come from
// the entry's identity, so that they do not depend on what else was told.
func summaryPassages(h archive.HookSummary) []archive.Passage {
	var ps []archive.Passage
	first := hookSeq(h.ID)
	for text := h.Text; text != "" && len(ps) < hookChunks; {
		var piece string
		piece, text = cutText(text, archive.MaxPassage)
		ps = append(ps, archive.Passage{
			Session: h.Session, Turn: hookTurn, Step: -1, Seq: first + len(ps),
			Kind: archive.KindSummary, Label: "hook", Text: piece, LineFrom: -1, LineTo: -1, Time: h.Time,
		})
	}
	return ps
}

// hookSeq returns the first of hookChunks sequence numbers.
func hookSeq(id string) int { return int(xxhash.Sum64String(id)>>24) * hookChunks }

// cutText splits text after at most n bytes, at the end of a line where one lies
// in the second half.
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

// dropHookSummaries removes the summaries of a session that were told until then,
// because a transcript holds a summary of that time.
func (s *Store) dropHookSummaries(ctx context.Context, base string, until int64) error {
	var ids []string
	err := s.query(ctx, "SELECT id FROM hook_summaries WHERE session_id = ? AND time <= ?", []any{base, until}, func(scan scanFunc) error {
		var id string
		err := scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil || len(ids) == 0 {
		return err
	}
	no, err := s.number(ctx, base)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := s.exec(ctx, "DELETE FROM hook_summaries WHERE id = ?", id); err != nil {
			return err
		}
		first := hookSeq(id)
		if err := s.dropHookPassages(ctx, no, first, first+hookChunks); err != nil {
			return err
		}
	}
	return nil
}

// dropHookPassages removes passages of hooks with sequence numbers in [from, to).
func (s *Store) dropHookPassages(ctx context.Context, no int64, from, to int) error {
	var ids []docID
	err := s.query(ctx, "SELECT id FROM passages WHERE session = ? AND turn = ? AND step = -1 AND seq >= ? AND seq < ?",
		[]any{no, hookTurn, from, to}, func(scan scanFunc) error {
			var id docID
			err := scan(&id)
			ids = append(ids, id)
			return err
		})
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.dropPassage(ctx, id); err != nil {
			return err
		}
	}
	return s.countPassages(ctx, -len(ids))
}

// moveHookSummaries makes the passages of a session's summaries anew under its
// name, after the session with number no lost that name.
func (s *Store) moveHookSummaries(ctx context.Context, id string, no int64) error {
	summaries, err := s.hookSummaries(ctx, id)
	if err != nil || len(summaries) == 0 {
		return err
	}
	to, err := s.intern(ctx, id)
	if err != nil {
		return err
	}
	for _, h := range summaries {
		first := hookSeq(h.ID)
		if err := s.dropHookPassages(ctx, no, first, first+hookChunks); err != nil {
			return err
		}
		if err := s.putPassages(ctx, to, isAgentID(id), summaryPassages(h)); err != nil {
			return err
		}
	}
	return nil
}

const hookSummariesQuery = "SELECT id, time, source, text FROM hook_summaries WHERE session_id = ? ORDER BY time, id"

// HookSummaries returns the summaries of a session that only hooks told so far,
// oldest first.
func (s *Store) HookSummaries(ctx context.Context, session string) (out []archive.HookSummary, err error) {
	err = s.read(ctx, "read summaries", func(ctx context.Context) error {
		out, err = s.hookSummaries(ctx, baseID(session))
		return err
	})
	return out, err
}

func (s *Store) hookSummaries(ctx context.Context, base string) (out []archive.HookSummary, err error) {
	err = s.query(ctx, hookSummariesQuery, []any{base}, func(scan scanFunc) error {
		h := archive.HookSummary{Session: base}
		var at int64
		if err := scan(&h.ID, &at, &h.Source, &h.Text); err != nil {
			return err
		}
		h.Time = instant(at)
		out = append(out, h)
		return nil
	})
	return out, err
}
