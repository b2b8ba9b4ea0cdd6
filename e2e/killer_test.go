package e2e

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// victimName is the name of the real program while the killer replaces it.
const victimName = programName + ".victim"

// planFile is next to the killer and lists the watched path prefixes.
const planFile = "sabotage"

// killerMain runs the real program and kills it, and then itself, at the first
// write that it sees below the paths of its plan. A program that ends earlier is not
// killed.
func killerMain() int {
	self, err := os.Executable()
	if err != nil {
		return 3
	}
	folder := filepath.Dir(self)
	plan, err := os.ReadFile(filepath.Join(folder, planFile))
	if err != nil {
		return 4
	}
	watched := strings.TrimSpace(string(plan))
	before := written(watched)
	cmd := exec.Command(filepath.Join(folder, victimName), os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 5
	}
	var outcome error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		outcome = cmd.Wait()
	}()
	tick := time.NewTicker(200 * time.Microsecond)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			if exit, ok := errors.AsType[*exec.ExitError](outcome); ok {
				return exit.ExitCode()
			}
			return 0
		case <-tick.C:
			if written(watched) == before {
				continue
			}
			_ = cmd.Process.Kill() // it may have ended
			<-ended
			myself, err := os.FindProcess(os.Getpid())
			if err != nil {
				return 6
			}
			_ = myself.Kill()
			select {}
		}
	}
}

// written is the number of bytes in the files whose paths begin so.
func written(prefix string) int64 {
	var sum int64
	_ = filepath.WalkDir(filepath.Dir(prefix), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && strings.HasPrefix(path, prefix) {
			if info, err := entry.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil // the file may not exist yet or may have been removed
	})
	return sum
}

// killAtWrites kills every hook at its first write to a file with the path prefix, until
// the returned function is called.
func (s *sandbox) killAtWrites(prefix string) (stop func()) {
	s.t.Helper()
	victim := filepath.Join(filepath.Dir(s.program), victimName)
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(filepath.Join(filepath.Dir(s.program), planFile), prefix)
	move(s.t, s.program, victim)
	link(s.t, self, s.program)
	return func() {
		s.t.Helper()
		move(s.t, victim, s.program)
	}
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}
