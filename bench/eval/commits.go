package eval

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"strandline/internal/archive"
	"strandline/internal/recall"
)

// The query is a commit's subject; the gold answers are the turns between the
// previous checkpoint and the commit. Subjects that occur verbatim in their session
// are counted separately, because finding them is trivial.

type commit struct {
	ID    string `json:"qid"`
	Query string `json:"query"`
	Gold  []struct {
		Session  string `json:"session"`
		LineFrom int    `json:"line_from"`
		LineTo   *int   `json:"line_to"`
	} `json:"gold"`
	Verbatim bool `json:"subject_verbatim_in_gold"`
}

// commits makes an archive of the transcripts and returns three sets over it,
// which differ in what counts as an answer: a turn, each once in the ranking; a
// passage whose own lines are those of the work, every hit taking a place; a
// session.
func commits(ctx context.Context, queries, transcripts, dir string) ([]*set, error) {
	all, err := readCommits(queries)
	if err != nil {
		return nil, err
	}
	w, err := build(ctx, filepath.Join(dir, "home"), transcripts)
	if err != nil {
		return nil, err
	}
	byTurn := group{world: w, answers: func(h recall.Hit) []string { return []string{turnName(h.Session, h.Ref.Turn)} }}
	byLine := group{world: w} // each question knows its answers
	bySession := group{world: w, answers: func(h recall.Hit) []string { return []string{h.Session} }}
	for _, c := range all {
		q := question{id: c.ID, text: c.Query, parts: c.parts()}
		turns, err := c.turns(ctx, w)
		if err != nil {
			return nil, err
		}
		if len(turns) > 0 {
			byTurn.questions = append(byTurn.questions, q.with(turns))
		}
		q.right = c.overlaps
		byLine.questions = append(byLine.questions, q)
		q.right = nil
		bySession.questions = append(bySession.questions, q.with(c.sessions()))
	}
	return []*set{
		{name: "commits, turn", note: "subject of a commit to the turn that made it; a turn counts once in the ranking", groups: []group{byTurn}},
		{name: "commits, passage", note: "the same to a passage of that work, every hit taking a place", groups: []group{byLine}},
		{name: "commits, session", note: "the same to the session", groups: []group{bySession}},
	}, nil
}

func readCommits(path string) (all []commit, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the commits: %w", err)
	}
	for line := range bytes.Lines(data) {
		var c commit
		if err := json.Unmarshal(line, &c); err != nil {
			return nil, fmt.Errorf("read the commits: %w", err)
		}
		all = append(all, c)
	}
	return all, nil
}

func turnName(session string, turn int) string { return fmt.Sprintf("%s/%d", session, turn) }

// turns are those whose lines overlap the work's. Work of which the end is not
// known counts in the other sets only.
func (c *commit) turns(ctx context.Context, w *world) (map[string]bool, error) {
	gold := map[string]bool{}
	for _, g := range c.Gold {
		if g.LineTo == nil {
			continue
		}
		all, err := w.store.Turns(ctx, archive.Span{Session: g.Session})
		if err != nil {
			return nil, err
		}
		for _, t := range all {
			if t.LineFrom < *g.LineTo && t.LineTo > g.LineFrom {
				gold[turnName(g.Session, t.Index)] = true
			}
		}
	}
	return gold, nil
}

// overlaps reports whether a hit's own lines are some of the work's.
func (c *commit) overlaps(h recall.Hit) bool {
	for _, g := range c.Gold {
		if h.Session == g.Session && h.LineTo > g.LineFrom && (g.LineTo == nil || h.LineFrom < *g.LineTo) {
			return true
		}
	}
	return false
}

func (c *commit) sessions() map[string]bool {
	gold := map[string]bool{}
	for _, g := range c.Gold {
		gold[g.Session] = true
	}
	return gold
}

const (
	partOpen     = "subject not verbatim"
	partHalfA    = "… half A by hash (fitted on)"
	partHalfB    = "… half B by hash"
	partVerbatim = "subject verbatim"
)

func (c *commit) parts() []string {
	if c.Verbatim {
		return []string{partVerbatim}
	}
	if sha256.Sum256([]byte(c.ID))[0]%2 == 0 {
		return []string{partOpen, partHalfA}
	}
	return []string{partOpen, partHalfB}
}

func commitParts() []string { return []string{partOpen, partHalfA, partHalfB, partVerbatim} }
