package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/recall"
)

// asked is a natural question about past sessions with the turns that answer it.
type asked struct {
	ID    string `json:"qid"`
	Query string `json:"query"`
	Type  string `json:"type"`
	Gold  []struct {
		Session  string `json:"session"`
		LineFrom int    `json:"line_from"`
		LineTo   int    `json:"line_to"`
	} `json:"gold"`
}

// questions returns the natural questions of a file over an archive, and the rows of their
// table: all, the halves of half, and each type.
func questions(ctx context.Context, path string, w *world) (*set, []string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read the questions: %w", err)
	}
	g := group{world: w, answers: func(h recall.Hit) []string { return []string{turnName(h.Session, h.Ref.Turn)} }}
	var types []string
	for line := range bytes.Lines(data) {
		var a asked
		if err := json.Unmarshal(line, &a); err != nil {
			return nil, nil, fmt.Errorf("read the questions: %w", err)
		}
		q := question{id: a.ID, text: a.Query, gold: map[string]bool{}}
		for _, at := range a.Gold {
			if err := addTurns(ctx, w, q.gold, at.Session, at.LineFrom, at.LineTo); err != nil {
				return nil, nil, err
			}
		}
		q.parts = []string{partAll, half(a.Gold[0].Session), a.Type}
		if !slices.Contains(types, a.Type) {
			types = append(types, a.Type)
		}
		g.questions = append(g.questions, q)
	}
	s := &set{name: "questions", note: "natural questions to the turn that answers them; a turn counts once in the ranking", groups: []group{g}}
	return s, append([]string{partAll, partSessionsA, partSessionsB}, types...), nil
}

// addTurns adds the turns of a session that overlap the lines [from, to) to gold.
func addTurns(ctx context.Context, w *world, gold map[string]bool, session string, from, to int) error {
	turns, err := w.store.Turns(ctx, archive.Span{Session: session})
	for _, t := range turns {
		if t.LineFrom < to && t.LineTo > from {
			gold[turnName(session, t.Index)] = true
		}
	}
	return err
}
