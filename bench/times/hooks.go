package times

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// hooked is a test environment whose session grows during the measurement.
type hooked struct {
	world      World
	transcript *Transcript
	payload    []byte
	size       int64
	busy       Times // after one new turn
	idle       Times // with nothing new
	peak       int64
	grown      []int64 // bytes of the turns that were added
}

// hookSession is the session of every such world.
const hookSession = "c0ffee00-1111-4222-8333-444455556666"

// Hooks measures a Stop hook after one new turn, for transcripts of the given
// sizes in bytes. Runs of all sizes and of the empty program are interleaved, so
// that other load affects all of them.
func (s *Suite) Hooks(ctx context.Context, sizes []int64) (err error) {
	var all []*hooked
	defer func() {
		for _, h := range all {
			err = errors.Join(err, os.RemoveAll(h.world.Dir))
		}
	}()
	for _, size := range sizes {
		h, err := s.prepare(ctx, size)
		if err != nil {
			return fmt.Errorf("hook at %s: %w", mb(size), err)
		}
		all = append(all, h)
	}
	s.logf("  %d hooks for each size", s.Runs)
	var empty Times
	for i := range s.Runs + warmUps {
		e, err := all[0].world.Run(ctx, all[0].payload, s.Programs.Empty)
		if err != nil {
			return err
		}
		if i >= warmUps {
			empty.Add(e)
		}
		for _, h := range all {
			if err := s.hook(ctx, h, i >= warmUps); err != nil {
				return fmt.Errorf("hook at %s: %w", mb(h.size), err)
			}
		}
	}
	s.Report.Add("one new turn, median", fmt.Sprintf("%.0f KB", float64(all[0].turn())/1e3), "all sizes grow by the same turns")
	s.Report.Add("an empty Go program", ms(empty.Wall.Median()), spread(empty))
	for _, h := range all {
		if err := s.finish(ctx, h); err != nil {
			return fmt.Errorf("hook at %s: %w", mb(h.size), err)
		}
		ratio := h.busy.Wall.Ratio(empty.Wall)
		s.Report.Add("hook after one new turn, transcript of "+mb(h.size), ms(h.busy.Wall.Median()), spread(h.busy))
		s.Report.AddGoal("… times an empty Go program", fmt.Sprintf("%.1f", ratio), "taking turns", "8", ratio <= goalHookRatio)
		s.Report.Add("… with nothing new", ms(h.idle.Wall.Median()), spread(h.idle))
		s.Report.AddGoal("… peak memory", mb(h.peak), "one run", "30 MB", h.peak <= goalHookPeak)
	}
	s.flatness(all)
	return nil
}

// turn returns the median size of the turns that were added, in bytes.
func (h *hooked) turn() int64 {
	if len(h.grown) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(h.grown))[len(h.grown)/2]
}

// flatness compares the largest transcript with the smallest.
func (s *Suite) flatness(all []*hooked) {
	if len(all) < 2 {
		return
	}
	small, large := all[0], all[len(all)-1]
	grows := large.busy.Wall.Ratio(small.busy.Wall) - 1
	s.Report.AddGoal("hook at "+mb(large.size)+" against "+mb(small.size), fmt.Sprintf("%+.0f %%", grows*100),
		fmt.Sprintf("%s and %s", ms(large.busy.Wall.Median()), ms(small.busy.Wall.Median())), "20 %", grows <= goalFlat)
}

// prepare invents a session of a size and imports it.
func (s *Suite) prepare(ctx context.Context, size int64) (*hooked, error) {
	w, err := NewWorld(filepath.Join(s.Dir, fmt.Sprintf("hook-%d", size)))
	if err != nil {
		return nil, err
	}
	h := &hooked{world: w, size: size}
	if h.transcript, err = s.invent(w, hookSession, 1, size); err != nil {
		return nil, err
	}
	// From here on all sizes grow by the same turns.
	h.transcript.Reseed(2)
	s.logf("  import")
	took, err := w.Run(ctx, nil, s.Programs.Strandline, "import", w.Projects())
	if err != nil {
		return nil, err
	}
	s.Report.Add("import of one session of "+mb(size), fmt.Sprintf("%.2f s", took.Took.Seconds()), "one run")
	h.payload, err = json.Marshal(map[string]any{
		"session_id": hookSession, "transcript_path": w.Transcript(hookSession), "cwd": "/home/dev/acme",
		"prompt_id": "5eed5eed-1111-4222-8333-444455556666", "permission_mode": "default", "hook_event_name": "Stop",
		"stop_hook_active": false, "last_assistant_message": "done", "background_tasks": []any{}, "session_crons": []any{},
	})
	if err != nil {
		return nil, fmt.Errorf("make the payload: %w", err)
	}
	return h, nil
}

// hook lets the session grow by a turn and runs the hook twice: with the turn,
// and with nothing new.
func (s *Suite) hook(ctx context.Context, h *hooked, counts bool) error {
	before := h.transcript.Bytes()
	if err := appendTurn(h.transcript, h.world.Transcript(hookSession)); err != nil {
		return err
	}
	if counts {
		h.grown = append(h.grown, h.transcript.Bytes()-before)
	}
	for _, times := range []*Times{&h.busy, &h.idle} {
		r, err := h.world.Run(ctx, h.payload, s.Programs.Strandline, "hook")
		if err != nil {
			return err
		}
		if len(r.Stderr) > 0 {
			return fmt.Errorf("the hook spoke on standard error: %s", r.Stderr)
		}
		if counts {
			times.Add(r)
		}
	}
	return nil
}

// finish measures a last hook's memory and checks that the hooks did their work.
func (s *Suite) finish(ctx context.Context, h *hooked) error {
	if err := appendTurn(h.transcript, h.world.Transcript(hookSession)); err != nil {
		return err
	}
	var err error
	if h.peak, _, err = h.world.Peak(ctx, s.Programs, h.payload, s.Programs.Strandline, "hook"); err != nil {
		return err
	}
	return s.sameBytes(ctx, h.world, hookSession)
}
