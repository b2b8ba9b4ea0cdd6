package times

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// GoalMessages is the archive size for which search goals are defined; larger
// archives have no goals.
const GoalMessages = 90_000

// query is one measured search.
type query struct {
	what, text string
	goal       time.Duration
}

func queries() []query {
	return []query{
		{"a rare term", Needle(1, 3), goalRare},
		{"an identifier", "quotaResolver", goalCommon},
		{"common words", "timeout retry context cache", goalCommon},
		{"a question", "why does the cache eviction of the query planner ignore the deadline", goalCommon},
	}
}

// Search measures searches over SearchMessages with and without vectors, creating
// the vectors, rebuilding the index, and restoring a session.
func (s *Suite) Search(ctx context.Context) error {
	w, err := NewWorld(filepath.Join(s.Dir, "search"))
	if err != nil {
		return err
	}
	defer os.RemoveAll(w.Dir)
	n := max(sessionsPerPart, sessionsPerPart*s.SearchMessages/GoalMessages)
	sessions, err := s.corpus(w, n, func(_ int64, messages int) bool { return messages >= s.SearchMessages })
	if err != nil {
		return err
	}
	s.logf("  import")
	if _, err := w.Run(ctx, nil, s.Programs.Strandline, "import", w.Projects()); err != nil {
		return err
	}
	passages, err := s.passages(ctx, w)
	if err != nil {
		return err
	}
	s.Report.Add("passages that are searched", fmt.Sprint(passages), fmt.Sprintf("of %d messages in %d sessions", s.SearchMessages, len(sessions)))
	for _, q := range queries() {
		if err := s.search(ctx, w, fmt.Sprintf("search over %d messages: ", s.SearchMessages)+q.what, q); err != nil {
			return err
		}
	}
	if err := s.blocks(ctx, w, sessions[0]); err != nil {
		return err
	}
	if err := s.embed(ctx, w, passages); err != nil {
		return err
	}
	// Single words and names use no vectors.
	for _, q := range queries()[2:] {
		if err := s.search(ctx, w, "… by words and by vectors: "+q.what, q); err != nil {
			return err
		}
	}
	return s.reindex(ctx, w, passages)
}

// search measures one query.
func (s *Suite) search(ctx context.Context, w World, what string, q query) error {
	sample, out, err := s.repeat(ctx, w, "search", "--all", "--json", q.text)
	if err != nil {
		return err
	}
	var answer struct {
		Hits []json.RawMessage `json:"hits"`
	}
	if err := json.Unmarshal(out, &answer); err != nil || len(answer.Hits) == 0 {
		return fmt.Errorf("search %q found nothing: %w", q.text, errors.Join(errNothing, err))
	}
	s.goal(what, sample, q.goal)
	return nil
}

// goal reports a time, with its goal if the archive has the goal's size.
func (s *Suite) goal(what string, sample Times, goal time.Duration) {
	if s.SearchMessages > GoalMessages {
		s.Report.Add(what, ms(sample.Wall.Median()), spread(sample))
		return
	}
	s.Report.AddGoal(what, ms(sample.Wall.Median()), spread(sample), fmt.Sprintf("%d ms", goal.Milliseconds()), sample.Wall.Median() <= goal)
}

// blocks measures steering text and restored context.
func (s *Suite) blocks(ctx context.Context, w World, session string) error {
	sample, _, err := s.repeat(ctx, w, "restore", "--session", session)
	if err != nil {
		return err
	}
	s.goal("restore block", sample, goalRestore)
	if sample, _, err = s.repeat(ctx, w, "preserve", "--session", session); err != nil {
		return err
	}
	// The session's folder is not a work tree; BenchmarkStat measures git.
	s.goal("preserve, without git", sample, goalRestore)
	return nil
}

// embed measures creating the vectors and rebuilding their flat file.
func (s *Suite) embed(ctx context.Context, w World, passages int) error {
	s.logf("  embed")
	var took [2]time.Duration
	for i := range took {
		// The second run only rebuilds the file.
		if err := os.RemoveAll(filepath.Join(w.Archive(), "vectors")); err != nil {
			return fmt.Errorf("remove the file of vectors: %w", err)
		}
		r, err := w.Run(ctx, nil, s.Programs.Strandline, "maintain", "--json")
		if err != nil {
			return err
		}
		var stages []struct {
			Stage string `json:"stage"`
			Took  int64  `json:"took_ms"`
		}
		if err := json.Unmarshal(r.Stdout, &stages); err != nil {
			return fmt.Errorf("read what maintain did: %w", err)
		}
		for _, x := range stages {
			if x.Stage == "embed" {
				took[i] = time.Duration(x.Took) * time.Millisecond
			}
		}
	}
	s.Report.Add("… vectors of a passage", fmt.Sprintf("%.0f µs", float64((took[0]-took[1]).Microseconds())/float64(passages)), "read, embedded and stored by one `maintain`")
	s.Report.Add("… rebuilding the file of vectors", fmt.Sprintf("%.2f s", took[1].Seconds()), rate(passages, took[1]))
	return nil
}

// reindex measures rebuilding the index from the logs.
func (s *Suite) reindex(ctx context.Context, w World, passages int) error {
	s.logf("  reindex")
	r, err := w.Run(ctx, nil, s.Programs.Strandline, "reindex")
	if err != nil {
		return err
	}
	s.Report.Add("… rebuilding the index from the logs", fmt.Sprintf("%.2f s", r.Took.Seconds()), rate(passages, r.Took))
	return nil
}

// passages returns the number of indexed passages.
func (s *Suite) passages(ctx context.Context, w World) (int, error) {
	r, err := w.Run(ctx, nil, s.Programs.Strandline, "status", "--json")
	if err != nil {
		return 0, err
	}
	var status struct {
		Passages int `json:"passages"`
	}
	if err := json.Unmarshal(r.Stdout, &status); err != nil {
		return 0, fmt.Errorf("read the status: %w", err)
	}
	return status.Passages, nil
}

func rate(passages int, took time.Duration) string {
	return fmt.Sprintf("%.0f passages a second", float64(passages)/max(took.Seconds(), 1e-3))
}
