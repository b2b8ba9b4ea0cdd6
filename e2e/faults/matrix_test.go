//go:build linux && amd64

package faults

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	whole = flag.Bool("whole", false, "run every operation under every fault, at every point")
	point = flag.Int("point", 0, "run only this point of each cell")
	table = flag.String("table", "", "write the table to this file")
)

// outcome of a cell, from good to bad. A cell of several runs has the worst of them.
type outcome int

const (
	none  outcome = iota // the fault did not meet the operation
	kept                 // the operation did its work
	told                 // it did not and said so
	later                // it was done by what ran next
	hole                 // bytes without another copy are lost, and reported exactly
	lost                 // anything else
)

func (o outcome) String() string {
	return []string{"-", "kept", "told", "later", "hole", "LOST"}[o]
}

func TestMatrix(t *testing.T) {
	m := &matrix{program: build(t), dir: t.TempDir(), worlds: map[string][]*world{}, cells: map[[2]string]outcome{}}
	t.Cleanup(func() { m.print(t) })
	for i, f := range faults() {
		t.Run(dashed(f.name), func(t *testing.T) {
			t.Parallel()
			for k, o := range operations() {
				if *whole || i%len(operations()) == k || (i+5)%len(operations()) == k {
					t.Run(o.name, func(t *testing.T) { m.run(t, f, o) })
				}
			}
		})
	}
}

// dashed returns a name as -run takes it.
func dashed(name string) string { return strings.ReplaceAll(name, " ", "-") }

// build builds the program.
func build(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "strandline")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "strandline/cmd/strandline")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build strandline: %v\n%s", err, out)
	}
	return path
}

// matrix collects the outcomes of the cells.
type matrix struct {
	program, dir string

	mu     sync.Mutex
	worlds map[string][]*world // idle ones, by the name of their folder
	cells  map[[2]string]outcome
}

// take returns a world whose folder has the given name.
func (m *matrix) take(t *testing.T, name string) *world {
	m.mu.Lock()
	if idle := m.worlds[name]; len(idle) > 0 {
		m.worlds[name] = idle[1:]
		m.mu.Unlock()
		idle[0].t = t
		return idle[0]
	}
	m.mu.Unlock()
	dir, err := os.MkdirTemp(m.dir, "") //nolint:usetesting // it outlives the subtest
	if err != nil {
		t.Fatal(err)
	}
	return newWorld(t, filepath.Join(dir, name), m.program)
}

// run runs a cell.
func (m *matrix) run(t *testing.T, f fault, o operation) {
	w := m.take(t, f.folder)
	runs := map[outcome]int{}
	for _, at := range w.points(f, o) {
		got, err := w.meet(f, o, at)
		if err != nil {
			t.Errorf("%s, point %d: %v", got, at, err)
		}
		runs[got]++
	}
	t.Log(runs)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.worlds[f.folder] = append(m.worlds[f.folder], w)
	m.cells[[2]string{f.name, o.name}] = slices.Max(append(slices.Collect(maps.Keys(runs)), none))
}

// fewPoints is how many points of a cell run without -whole.
const fewPoints = 2

// points returns the points at which a fault meets an operation. A fault of changes
// meets the first and the last change of each run of changes of the same kind to the
// same file.
func (w *world) points(f fault, o operation) (points []int) {
	switch {
	case *point > 0:
		return []int{*point}
	case f.each == nil:
		for at := range max(f.points, 1) {
			points = append(points, at+1)
		}
	default:
		var before change
		w.prepare(f, o, 0)
		w.run(o.job(w), &tap{decide: func(c change) verdict {
			if n := len(points); c.what == before.what && c.path == before.path && n > 1 && points[n-2] == before.at-1 {
				points[n-1] = c.at
			} else {
				points = append(points, c.at)
			}
			before = c
			return pass
		}})
	}
	if step := len(points) / fewPoints; !*whole && step > 1 {
		for i := range fewPoints {
			points[i] = points[i*step+step/2]
		}
		points = points[:fewPoints]
	}
	return points
}

// prepare restores the world and applies a fault to it.
func (w *world) prepare(f fault, o operation, at int) {
	w.reset()
	if o.rows {
		w.continues()
	}
	if f.before != nil {
		f.before(w, at)
	}
	if f.taken && !o.rows {
		w.run(w.hook("Stop", live), nil)
	}
}

// meet runs an operation under a fault and judges what it left. The error says why it
// is lost.
func (w *world) meet(f fault, o operation, at int) (outcome, error) {
	w.prepare(f, o, at)
	on := f.while
	if f.each != nil {
		on = f.each(w, at)
	}
	var other chan output
	if f.twice {
		other = make(chan output, 1)
		go func() { other <- w.run(o.job(w), nil) }()
	}
	out := w.run(o.job(w), on)
	if f.twice {
		<-other
	}
	if f.after != nil {
		f.after(w)
	}
	if err := proper(out, o); err != nil {
		return lost, err
	}
	undone := o.did(w, out)
	if undone == nil && out.code != 0 && !out.killed {
		undone = fmt.Errorf("exit code %d", out.code)
	}
	noted := w.noted()
	failed := w.recover(func() error {
		err := w.judge()
		if o.rows {
			err = errors.Join(err, o.did(w, out))
		}
		if f.check != nil {
			err = errors.Join(err, f.check(w))
		}
		return err
	})
	switch hook := strings.HasPrefix(out.job.stdin, "{"); {
	case failed != nil:
		return lost, failed
	case len(w.holes) > 0 && f.why == "":
		return lost, fmt.Errorf("a hole, although there is another copy: %v", w.holes)
	case len(w.holes) > 0:
		return hole, nil
	case undone == nil:
		return kept, nil
	case out.killed && o.rows, hook && (noted || f.mute):
		return later, nil
	case out.killed, out.code != 0:
		return told, nil
	default:
		return lost, fmt.Errorf("it did not do its work and did not say so: %w", undone)
	}
}

// proper checks that a run ended as documented: a hook with 0 and only a response on
// stdout, a command with a documented code, and a sentence if that is not 0.
func proper(out output, o operation) error {
	text := out.stdout + out.stderr
	switch {
	case panicked.MatchString(text):
		return fmt.Errorf("it panics: %s", panicked.FindString(text))
	case out.killed:
		return nil
	case out.job.args[0] == "hook":
		if out.code != 0 || out.stderr != "" || out.stdout != "" && !json.Valid([]byte(out.stdout)) {
			return fmt.Errorf("the hook ends with %d and prints %q %q", out.code, out.stdout, out.stderr)
		}
	case out.code < 0 || out.code > 7:
		return fmt.Errorf("%s ends with %d: %s", o.name, out.code, firstLine(out.stderr))
	case out.code != 0 && !strings.Contains(text, "strandline: ") && out.stdout == "":
		return fmt.Errorf("%s ends with %d and does not say why: %q", o.name, out.code, text)
	}
	return nil
}

// noted reports whether a hook left a note about work or an error.
func (w *world) noted() bool {
	pending, _ := filepath.Glob(w.path("archive/state/pending/*")) // the pattern is valid
	return len(pending) > 0 || exists(w.path("archive/strandline.log"))
}

// recover runs what follows an operation, until the archive is good: the client's next
// session, an import and a maintenance run; then what a user does about damage, also if
// all of it was reported.
func (w *world) recover(good func() error) (err error) {
	next := "5e55e55e-0000-4000-8000-000000000005"
	for _, stage := range [][]job{
		{w.hook("SessionStart", next, "source=startup"), w.command("catchup"), w.command("import"), w.command("maintain")},
		{w.command("verify", "--repair"), w.command("reindex"), w.command("maintain")},
	} {
		for _, j := range stage {
			if out := w.run(j, nil); panicked.MatchString(out.stdout + out.stderr) {
				return fmt.Errorf("%v panics: %s", j.args, out.stderr)
			}
		}
		if err = good(); err == nil && len(w.holes) == 0 {
			return nil
		}
	}
	return err
}

// print prints the table.
func (m *matrix) print(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "%-34s", "fault \\ operation")
	for _, o := range operations() {
		fmt.Fprintf(&b, "%-9s", o.name)
	}
	count := map[outcome]int{}
	for _, f := range faults() {
		fmt.Fprintf(&b, "\n%-34s", f.name)
		for _, o := range operations() {
			got, ok := m.cells[[2]string{f.name, o.name}]
			if !ok {
				b.WriteString("         ")
				continue
			}
			count[got]++
			fmt.Fprintf(&b, "%-9s", got)
		}
	}
	fmt.Fprintf(&b, "\n\n%d faults, %d operations; cells: ", len(faults()), len(operations()))
	for o := none; o <= lost; o++ {
		fmt.Fprintf(&b, "%d %s  ", count[o], o)
	}
	b.WriteString("\n")
	for _, f := range faults() {
		if f.why != "" {
			fmt.Fprintf(&b, "hole, %s: %s\n", f.name, f.why)
		}
	}
	t.Log("\n" + b.String())
	if *table != "" {
		if err := os.WriteFile(*table, []byte(b.String()), 0o644); err != nil {
			t.Error(err)
		}
	}
}
