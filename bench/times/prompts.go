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

// The goals of a prompt's hook, in times an empty program.
const (
	goalSilent = 6.0
	goalSpoken = 8.0
)

// errSilent reports a prompt about an earlier session to which the hook added nothing.
var errSilent = errors.New("nothing was recalled")

// Prompts measures the hook of a prompt after one new turn: one that recalls nothing and
// one that recalls a passage of another session. Runs of both and of the empty program are
// interleaved; the background process that indexes the turn ends before the next run.
func (s *Suite) Prompts(ctx context.Context) error {
	w, err := NewWorld(filepath.Join(s.Dir, "prompts"))
	if err != nil {
		return err
	}
	defer os.RemoveAll(w.Dir)
	others := s.Runs + warmUps
	if _, err := s.corpus(w, others, func(bytes int64, _ int) bool { return bytes >= int64(others)*600_000 }); err != nil {
		return err
	}
	t, err := s.invent(w, hookSession, 7, 1e6)
	if err != nil {
		return err
	}
	if _, err := w.Run(ctx, nil, s.Programs.Strandline, "import", w.Projects()); err != nil {
		return err
	}
	times, err := s.interleave(
		func(int) (Result, error) { return w.Run(ctx, nil, s.Programs.Empty) },
		func(int) (Result, error) {
			return s.prompt(ctx, w, t, "Please go on with the next step of the plan.")
		},
		func(i int) (Result, error) {
			r, err := s.prompt(ctx, w, t, "What did the test "+Needle(uint64(i+1), 3)+" say?")
			if err == nil && len(r.Stdout) == 0 {
				err = fmt.Errorf("prompt %d: %w", i, errSilent)
			}
			return r, err
		})
	if err != nil {
		return err
	}
	empty, silent, spoken := times[0], times[1], times[2]
	for _, row := range []struct {
		what, goal string
		times      Times
		most       float64
	}{{"prompt after one new turn, nothing recalled", "6", silent, goalSilent}, {"prompt after one new turn, a passage recalled", "8", spoken, goalSpoken}} {
		ratio := row.times.Wall.Ratio(empty.Wall)
		s.Report.Add(row.what, ms(row.times.Wall.Median()), spread(row.times))
		s.Report.AddGoal("… times an empty Go program", fmt.Sprintf("%.1f", ratio),
			fmt.Sprintf("taking turns; of its CPU time %.1f", row.times.CPU.Ratio(empty.CPU)), row.goal, ratio <= row.most)
	}
	return nil
}

// prompt lets the session grow by a turn, runs the hook of a prompt, and waits until the
// turn is indexed.
func (s *Suite) prompt(ctx context.Context, w World, t *Transcript, text string) (Result, error) {
	if err := appendTurn(t, w.Transcript(hookSession)); err != nil {
		return Result{}, err
	}
	payload, err := json.Marshal(map[string]any{
		"session_id": hookSession, "transcript_path": w.Transcript(hookSession), "cwd": "/home/dev/acme",
		"hook_event_name": "UserPromptSubmit", "prompt": text,
	})
	if err != nil {
		return Result{}, fmt.Errorf("make the payload: %w", err)
	}
	r, err := w.Run(ctx, payload, s.Programs.Strandline, "hook")
	for range 200 {
		left, _ := filepath.Glob(filepath.Join(w.Archive(), "state", "pending", "*"))
		taken, _ := filepath.Glob(filepath.Join(w.Archive(), "state", "pending", "taken", "*"))
		if len(left)+len(taken) <= 1 { // the folder "taken"
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return r, err
}
