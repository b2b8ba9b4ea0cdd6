package times

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const goalStatusline = 5 * time.Millisecond

// errNoLine reports an unexpected statusline.
var errNoLine = errors.New("not the line that was expected")

// Statusline measures the statusline of a session with state, interleaved with an
// empty program.
func (s *Suite) Statusline(ctx context.Context) error {
	w, err := NewWorld(filepath.Join(s.Dir, "statusline"))
	if err != nil {
		return err
	}
	defer os.RemoveAll(w.Dir)
	if _, err := s.invent(w, hookSession, 9, 1e6); err != nil {
		return err
	}
	stop, err := json.Marshal(map[string]any{
		"session_id": hookSession, "transcript_path": w.Transcript(hookSession), "cwd": "/home/dev/acme", "hook_event_name": "Stop",
	})
	if err != nil {
		return fmt.Errorf("make the payload: %w", err)
	}
	if _, err := w.Run(ctx, stop, s.Programs.Strandline, "hook"); err != nil {
		return err
	}
	payload, err := json.Marshal(map[string]any{
		"session_id": hookSession, "transcript_path": w.Transcript(hookSession), "cwd": "/home/dev/acme",
		"model":          map[string]string{"id": "claude-opus-5-5", "display_name": "Opus 5.5"},
		"context_window": map[string]any{"total_input_tokens": 433_500, "context_window_size": 1_000_000, "used_percentage": 43},
	})
	if err != nil {
		return fmt.Errorf("make the payload: %w", err)
	}
	times, err := s.interleave(
		func(int) (Result, error) { return w.Run(ctx, payload, s.Programs.Empty) },
		func(int) (Result, error) {
			r, err := w.Run(ctx, payload, s.Programs.Strandline, "statusline")
			if err == nil && !strings.Contains(string(r.Stdout), "434K") {
				err = fmt.Errorf("statusline printed %q: %w", r.Stdout, errNoLine)
			}
			return r, err
		})
	if err != nil {
		return err
	}
	empty, line := times[0], times[1]
	s.Report.AddGoal("statusline", ms(line.Wall.Median()), spread(line), "5 ms", line.Wall.Median() <= goalStatusline)
	s.Report.Add("… times an empty Go program", fmt.Sprintf("%.1f", line.Wall.Ratio(empty.Wall)), fmt.Sprintf("taking turns; of its CPU time %.1f", line.CPU.Ratio(empty.CPU)))
	return nil
}
