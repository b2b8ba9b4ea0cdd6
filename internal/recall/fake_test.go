package recall_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// store holds passages in memory. It scores a passage by the weight of its terms.
type store struct {
	passages []archive.Passage
	projects map[string]archive.Project // by session
	dead     map[int]bool               // turns before a rewind
	queries  []archive.Query            // in order
	counted  int                        // words looked up
	covered  float64                    // of every hit
	given    []archive.Access
	givenErr error
	looked   []string // sessions whose accesses were read
	err      error
}

func (s *store) Search(_ context.Context, q archive.Query) ([]archive.Hit, error) {
	s.queries = append(s.queries, q)
	if s.err != nil {
		return nil, s.err
	}
	var hits []archive.Hit
	for _, p := range s.passages {
		if s.hidden(p, q) {
			continue
		}
		if score := weigh(p, q.Terms); score > 0 {
			hits = append(hits, archive.Hit{Passage: p, Project: s.projects[p.Session], Score: score, Evidence: archive.Evidence{Covered: s.covered}})
		}
	}
	slices.SortStableFunc(hits, func(a, b archive.Hit) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	return hits[:min(len(hits), q.Limit)], nil
}

func (s *store) hidden(p archive.Passage, q archive.Query) bool {
	return len(q.Sessions) > 0 && !slices.Contains(q.Sessions, p.Session) ||
		len(q.Projects) > 0 && !slices.Contains(q.Projects, s.projects[p.Session].Key) ||
		len(q.Kinds) > 0 && !slices.Contains(q.Kinds, p.Kind) ||
		!q.Agents && strings.Contains(p.Session, "~") ||
		!q.Dead && s.dead[p.Turn] ||
		!q.Since.IsZero() && p.Time.Before(q.Since) ||
		!q.Until.IsZero() && p.Time.After(q.Until)
}

func weigh(p archive.Passage, ts []archive.Term) (score float64) {
	words := strings.Fields(terms.Index(p.Text) + " " + terms.Index(strings.Join(p.Paths, " ")))
	for _, t := range ts {
		found := slices.ContainsFunc(words, func(w string) bool { return w == t.Text || t.Prefix && strings.HasPrefix(w, t.Text) })
		if !found && t.Must {
			return 0
		}
		if found {
			score += t.Weight
		}
	}
	return score
}

func (s *store) Resolve(_ context.Context, prefix string) (string, error) {
	for _, p := range s.passages {
		if strings.HasPrefix(p.Session, prefix) {
			return p.Session, nil
		}
	}
	return "", archive.NotFound(fmt.Sprintf("no session %q", prefix), "see strandline sessions")
}

func (s *store) WordCounts(_ context.Context, words []string) ([]int, error) {
	s.counted += len(words)
	counts := make([]int, len(words))
	for i, w := range words {
		for _, p := range s.passages {
			if slices.Contains(strings.Fields(terms.Index(p.Text)), w) {
				counts[i]++
			}
		}
	}
	return counts, nil
}

func (s *store) WordsFrom(_ context.Context, prefix string, limit int) (out []string, err error) {
	for _, p := range s.passages {
		for w := range strings.FieldsSeq(terms.Index(p.Text)) {
			if strings.HasPrefix(w, prefix) {
				out = append(out, w)
			}
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(limit, len(out))], nil
}

func (s *store) Accesses(_ context.Context, session string) (out []archive.Access, err error) {
	s.looked = append(s.looked, session)
	for _, a := range s.given {
		if a.Session == session {
			out = append(out, a)
		}
	}
	return out, s.givenErr
}

func (s *store) Session(_ context.Context, id string) (archive.Session, error) {
	out := archive.Session{ID: id, Project: s.projects[id]}
	for _, p := range s.passages {
		if p.Session == id {
			out.Turns = max(out.Turns, p.Turn+1)
		}
	}
	return out, nil
}

func (s *store) Sessions(ctx context.Context, f archive.SessionFilter) ([]archive.Session, error) {
	var out []archive.Session
	for _, p := range s.passages {
		if len(f.Projects) > 0 && !slices.Contains(f.Projects, s.projects[p.Session].Key) {
			continue
		}
		if !slices.ContainsFunc(out, func(x archive.Session) bool { return x.ID == p.Session }) {
			x, _ := s.Session(ctx, p.Session)
			out = append(out, x)
		}
	}
	return out, nil
}

func (s *store) Passages(_ context.Context, sp archive.PassageSpan) ([]archive.Passage, error) {
	var out []archive.Passage
	for _, p := range s.passages {
		if p.Session == sp.Session && p.Turn >= sp.TurnFrom && (sp.TurnTo == 0 || p.Turn < sp.TurnTo) && p.Of(sp.Kinds) {
			out = append(out, p)
		}
	}
	return out, nil
}

// logs contains the lines of each session's log.
type logs struct {
	lines   map[string][]string
	scanned int
}

func (l *logs) ScanLines(ctx context.Context, session string, from, to int, want func(string) bool, fn func(int, string) error) error {
	for i := from; i < to && i < len(l.lines[session]); i++ {
		l.scanned++
		if !want(l.lines[session][i]) {
			continue
		}
		if err := fn(i, l.lines[session][i]); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// said returns a reply in a session of the project "p".
func said(session string, turn, step int, text string) archive.Passage {
	return archive.Passage{
		Session: session, Turn: turn, Step: step, Kind: archive.KindReply, Text: text,
		LineFrom: turn*10 + step, LineTo: turn*10 + step + 1, Time: now.Add(time.Duration(turn-100) * time.Hour),
	}
}

const (
	alpha = "aaaaaaaa-1111"
	beta  = "bbbbbbbb-2222"
	agent = alpha + "~cccccccc"
)

func newStore(ps ...archive.Passage) *store {
	p, q := archive.Project{Key: "dir:/p", Name: "p"}, archive.Project{Key: "dir:/q"}
	return &store{passages: ps, projects: map[string]archive.Project{alpha: p, agent: p, beta: q}}
}
