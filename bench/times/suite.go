package times

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Suite measures a build of strandline below a folder.
type Suite struct {
	Programs Programs
	Dir      string // a folder for test data; the caller removes it
	Runs     int    // of each process
	// ImportBytes and SearchMessages are the sizes of the generated archives; goals
	// are defined for 100 MB and GoalMessages.
	ImportBytes    int64
	SearchMessages int
	Vectors        []int     // sizes of the searched vector files
	Log            io.Writer // progress messages
	Report         Report
}

// The goals of the report.
const (
	goalHookRatio   = 8.0
	goalFlat        = 0.20
	goalHookPeak    = 30e6
	goalImport      = 3 * time.Second // of 100 MB
	goalImportPeak  = 150e6
	goalRare        = 10 * time.Millisecond
	goalCommon      = 40 * time.Millisecond
	goalRestore     = 15 * time.Millisecond
	warmUps         = 3
	sessionsPerPart = 40
)

var (
	errDiffers = errors.New("the exported session is not the transcript")
	errNothing = errors.New("no hits")
)

func (s *Suite) logf(format string, args ...any) {
	// A failing log does not stop a measurement.
	_, _ = fmt.Fprintf(s.Log, format+"\n", args...)
}

// Import measures the import of 100 MB in 40 sessions into an empty archive.
func (s *Suite) Import(ctx context.Context) error {
	w, err := NewWorld(filepath.Join(s.Dir, "import"))
	if err != nil {
		return err
	}
	defer os.RemoveAll(w.Dir)
	if _, err := s.corpus(w, sessionsPerPart, func(bytes int64, _ int) bool { return bytes >= s.ImportBytes }); err != nil {
		return err
	}
	var took Sample
	var peak int64
	for range 3 {
		if err := os.RemoveAll(w.Archive()); err != nil {
			return fmt.Errorf("empty the archive: %w", err)
		}
		p, r, err := w.Peak(ctx, s.Programs, nil, s.Programs.Strandline, "import", w.Projects())
		if err != nil {
			return err
		}
		took, peak = append(took, r.Took), max(peak, p)
	}
	s.Report.AddGoal(fmt.Sprintf("import of %s in %d sessions", mb(s.ImportBytes), sessionsPerPart), fmt.Sprintf("%.2f s", took.Median().Seconds()), "3 runs into an empty archive", "3 s", took.Median() <= goalImport)
	s.Report.AddGoal("… peak memory", mb(peak), "largest of 3 runs", "150 MB", peak <= goalImportPeak)
	again, err := w.Run(ctx, nil, s.Programs.Strandline, "import", w.Projects())
	if err != nil {
		return err
	}
	s.Report.Add("… again, nothing new", ms(again.Took), "one run")
	return nil
}

// interleave runs programs in turns, so that a change of the machine's load meets all of
// them alike, and returns their times without the first runs. i counts the turns.
func (s *Suite) interleave(programs ...func(i int) (Result, error)) ([]Times, error) {
	times := make([]Times, len(programs))
	for i := range s.Runs + warmUps {
		for n, run := range programs {
			r, err := run(i)
			if err != nil {
				return nil, err
			}
			if i >= warmUps {
				times[n].Add(r)
			}
		}
	}
	return times, nil
}

// repeat runs one command repeatedly and returns its times and last output.
func (s *Suite) repeat(ctx context.Context, w World, args ...string) (Times, []byte, error) {
	var out []byte
	times, err := s.interleave(func(int) (Result, error) {
		r, err := w.Run(ctx, nil, s.Programs.Strandline, args...)
		out = r.Stdout
		return r, err
	})
	if err != nil {
		return Times{}, nil, err
	}
	return times[0], out, nil
}

// corpus generates sessions of one project until enough returns true, and returns
// their ids.
func (s *Suite) corpus(w World, n int, enough func(bytes int64, messages int) bool) ([]string, error) {
	var ids []string
	var bytes int64
	messages := 0
	// Sessions are written sequentially; each gets its share.
	for i := range n {
		id := fmt.Sprintf("c0ff%04x-1111-4222-8333-444455556666", i)
		t, err := s.begin(w, id, uint64(i+1))
		if err != nil {
			return nil, err
		}
		part := func() bool {
			return enough((bytes+t.Bytes())*int64(n)/int64(i+1), (messages+t.Messages())*n/(i+1))
		}
		f, err := os.OpenFile(w.Transcript(id), os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open the transcript: %w", err)
		}
		t.Redirect(f)
		for !part() {
			if err := t.Turn(); err != nil {
				return nil, errors.Join(err, f.Close())
			}
		}
		if err := f.Close(); err != nil {
			return nil, fmt.Errorf("close the transcript: %w", err)
		}
		bytes, messages = bytes+t.Bytes(), messages+t.Messages()
		ids = append(ids, id)
	}
	s.logf("  invented %d sessions, %s, %d messages", len(ids), mb(bytes), messages)
	return ids, nil
}

// invent writes a session of the given size.
func (s *Suite) invent(w World, session string, seed uint64, size int64) (*Transcript, error) {
	t, err := s.begin(w, session, seed)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(w.Transcript(session), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the transcript: %w", err)
	}
	if err := errors.Join(t.Fill(f, size), f.Close()); err != nil {
		return nil, err
	}
	s.logf("  invented a session of %s, %d turns", mb(t.Bytes()), t.Turns())
	return t, nil
}

// begin writes the first rows of a session.
func (s *Suite) begin(w World, session string, seed uint64) (*Transcript, error) {
	path := w.Transcript(session)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the project's folder: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create the transcript: %w", err)
	}
	t := NewTranscript(f, session, "/home/dev/acme", seed)
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("close the transcript: %w", err)
	}
	return t, nil
}

func appendTurn(t *Transcript, path string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the transcript: %w", err)
	}
	t.Redirect(f)
	return errors.Join(t.Turn(), f.Close())
}

// sameBytes checks that the archive returns the current transcript.
func (s *Suite) sameBytes(ctx context.Context, w World, session string) error {
	f, err := os.Open(w.Transcript(session))
	if err != nil {
		return fmt.Errorf("open the transcript: %w", err)
	}
	defer f.Close()
	want := sha256.New()
	if _, err := io.Copy(want, f); err != nil {
		return fmt.Errorf("read the transcript: %w", err)
	}
	have := sha256.New()
	cmd := exec.CommandContext(ctx, s.Programs.Strandline, "export", session)
	cmd.Env, cmd.Dir, cmd.Stdout = w.env(), w.Home(), have
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if string(want.Sum(nil)) != string(have.Sum(nil)) {
		return errDiffers
	}
	return nil
}
