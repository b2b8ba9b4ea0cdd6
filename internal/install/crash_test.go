package install

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/state"
)

// TestApplyPlansAgain: the settings change between plan and apply.
func TestApplyPlansAgain(t *testing.T) {
	p := newPlace(t)
	in := New(p.opts)
	plan, err := in.Plan()
	if err != nil {
		t.Fatal(err)
	}
	p.write(someSettings)
	done, err := in.Apply(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	if string(done.Before) != someSettings {
		t.Errorf("applied to %q", done.Before)
	}
	p.uninstall()
	if got, _ := p.read(); got != someSettings {
		t.Errorf("got %q", got)
	}
}

// TestClientWritesDuringApply: the client does not use the lock.
func TestClientWritesDuringApply(t *testing.T) {
	p := newPlace(t)
	p.write("{}")
	p.opts.beforeRename = func() error {
		p.write(someSettings)
		return nil
	}
	_, err := New(p.opts).Apply(t.Context(), Plan{})
	wantCode(t, err, archive.CodeBusy)
	if got, _ := p.read(); got != someSettings {
		t.Errorf("got %q", got)
	}
	wantNoTemp(t, p)
	p.opts.beforeRename = nil
	p.init()
	p.uninstall()
	if got, _ := p.read(); got != someSettings {
		t.Errorf("got %q", got)
	}
}

func wantNoTemp(t *testing.T, p *place) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(p.opts.ClientDir, ".*.tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("remaining files: %v, %v", left, err)
	}
}

// TestKilledBeforeRename runs the test in a process that dies after it wrote the new
// file and before it renamed it.
func TestKilledBeforeRename(t *testing.T) {
	const variable = "STRANDLINE_TEST_KILLED_IN"
	if base := os.Getenv(variable); base != "" {
		_, err := New(Options{
			ClientDir: filepath.Join(base, "client"), Home: filepath.Join(base, "home"), Exe: exe, GOOS: "linux",
			beforeRename: func() error {
				os.Exit(7)
				return nil
			},
		}).Apply(t.Context(), Plan{})
		t.Fatalf("survived: %v", err)
	}
	p := newPlace(t)
	p.write(someSettings)
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledBeforeRename$")
	cmd.Env = append(os.Environ(), variable+"="+filepath.Dir(p.opts.ClientDir))
	var exit *exec.ExitError
	if out, err := cmd.CombinedOutput(); !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Fatalf("%v\n%s", err, out)
	}
	if got, _ := p.read(); got != someSettings {
		t.Errorf("got %q", got)
	}
	if plan := p.uninstall(); plan.Changed() {
		t.Errorf("uninstall would change\n%s", plan.Diff())
	}
	p.init()
	wantNoTemp(t, p)
	p.uninstall()
	if got, _ := p.read(); got != someSettings {
		t.Errorf("got %q", got)
	}
}

func TestConcurrentInit(t *testing.T) {
	p := newPlace(t)
	p.write(someSettings)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := New(p.opts).Apply(t.Context(), Plan{}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	after, _ := p.read()
	if n := strings.Count(after, "strandline hook"); n != 9 {
		t.Errorf("%d hooks", n)
	}
	p.uninstall()
	if got, _ := p.read(); got != someSettings {
		t.Errorf("got %q", got)
	}
}

func TestLockIsHeld(t *testing.T) {
	p := newPlace(t)
	lock, err := state.TryLock(filepath.Join(p.opts.Home, "install.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := lock.Release(); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = New(p.opts).Apply(ctx, Plan{})
	wantCode(t, err, archive.CodeBusy)
	if _, ok := p.read(); ok {
		t.Error("settings were written")
	}
}
