package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"strandline/internal/recall"
)

// A set is a number of questions over one or several archives.
type set struct {
	name   string
	note   string // what its figures count
	groups []group
}

// group is an archive and the questions about it.
type group struct {
	world     *world
	questions []question
	// answers returns the gold identifiers that a hit covers.
	answers func(h recall.Hit) []string
}

// question is one query with its right answers.
type question struct {
	id    string
	text  string
	gold  map[string]bool
	right func(h recall.Hit) bool // instead of gold: any such hit is the answer
	until time.Time               // only passages before it, if it is set
	parts []string                // rows of the table that it counts for
}

func (q question) with(gold map[string]bool) question {
	q.gold = gold
	return q
}

// System is a way to search.
type System struct {
	Name   string
	search func(ctx context.Context, w *world, req recall.Request) (recall.Result, error)
}

// depth is how many hits are looked at: a first right answer below counts as
// none.
const depth = 100

// run asks every question and returns the figures by part.
func (s *set) run(ctx context.Context, sys System) (map[string]*score, error) {
	out := map[string]*score{}
	for i := range s.groups {
		g := &s.groups[i]
		for j := range g.questions {
			q := &g.questions[j]
			at, gold, err := g.ask(ctx, sys, q)
			if err != nil {
				return nil, fmt.Errorf("%s, question %s: %w", s.name, q.id, err)
			}
			for _, p := range q.parts {
				if out[p] == nil {
					out[p] = &score{}
				}
				out[p].add(at, gold)
			}
		}
	}
	return out, nil
}

// ask returns the ranks of the correct answers to a question, and their number.
func (g *group) ask(ctx context.Context, sys System, q *question) (at []int, gold int, err error) {
	// The query is taken as words: none of these sets knows filters.
	res, err := sys.search(ctx, g.world, recall.Request{Query: q.text, Text: q.text, Agents: true, Dead: true, Limit: depth, Until: q.until})
	if err != nil {
		return nil, 0, err
	}
	if q.right != nil {
		if i := slices.IndexFunc(res.Hits, q.right); i >= 0 {
			at = []int{i}
		}
		return at, 1, nil
	}
	var answers []string
	for _, h := range res.Hits {
		answers = append(answers, g.answers(h)...)
	}
	return ranks(answers, q.gold), len(q.gold), nil
}

// close closes the archives of a set. One that several sets share is closed
// with the first.
func (s *set) close() error {
	var errs []error
	for i := range s.groups {
		if w := s.groups[i].world; !w.closed {
			w.closed = true
			errs = append(errs, w.store.Close())
		}
	}
	return errors.Join(errs...)
}
