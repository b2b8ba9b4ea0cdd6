package times

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	goalNearest = 10 * time.Millisecond
	million     = 1_000_000
)

// Nearest measures finding the ten nearest vectors in a file, with a new process
// per query.
func (s *Suite) Nearest(ctx context.Context) error {
	w, err := NewWorld(filepath.Join(s.Dir, "vectors"))
	if err != nil {
		return err
	}
	defer os.RemoveAll(w.Dir)
	for _, size := range s.Vectors {
		if err := s.nearest(ctx, w, size); err != nil {
			return err
		}
	}
	return nil
}

// nearest measures searches of one file, interleaved with an empty program.
func (s *Suite) nearest(ctx context.Context, w World, size int) error {
	dir := filepath.Join(w.Dir, strconv.Itoa(size))
	s.logf("  invent %d vectors", size)
	if _, err := w.Run(ctx, nil, s.Programs.Nearest, "-make", strconv.Itoa(size), dir); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	times, err := s.interleave(
		func(int) (Result, error) { return w.Run(ctx, nil, s.Programs.Empty) },
		func(i int) (Result, error) {
			r, err := w.Run(ctx, nil, s.Programs.Nearest, "-seed", strconv.Itoa(i+1), dir)
			if found := bytes.Count(r.Stdout, []byte("\n")); err == nil && found != 10 {
				err = fmt.Errorf("%d nearest of %d: %w", found, size, errNothing)
			}
			return r, err
		})
	if err != nil {
		return err
	}
	empty, search := times[0], times[1]
	what := fmt.Sprintf("the ten nearest of %d vectors, whole process", size)
	if size == million {
		s.Report.AddGoal(what, ms(search.Wall.Median()), spread(search), "10 ms", search.Wall.Median() <= goalNearest)
	} else {
		s.Report.Add(what, ms(search.Wall.Median()), spread(search))
	}
	s.Report.Add("… an empty Go program", ms(empty.Wall.Median()), spread(empty))
	return nil
}
