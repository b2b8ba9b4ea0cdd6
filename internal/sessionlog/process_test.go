package sessionlog

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// childEnv makes the test binary a child process that runs one of these operations on
// the log at the path in pathEnv.
const (
	childEnv = "SESSIONLOG_TEST_CHILD"
	pathEnv  = "SESSIONLOG_TEST_PATH"
)

func TestMain(m *testing.M) {
	name := os.Getenv(childEnv)
	child, ok := children()[name]
	switch {
	case name == "":
		os.Exit(m.Run())
	case !ok:
		fmt.Fprintln(os.Stderr, "no such child:", name)
		os.Exit(2)
	}
	if err := child(os.Getenv(pathEnv)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func children() map[string]func(path string) error {
	all := map[string]func(path string) error{"lines": appendLines, "stream": appendStream}
	maps.Copy(all, systemChildren())
	return all
}

func command(t *testing.T, child, path string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), childEnv+"="+child, pathEnv+"="+path)
	cmd.Stderr = os.Stderr
	return cmd
}

const linesPerProcess = 6

// appendLines appends lines as hooks do: each opens, appends and closes.
func appendLines(path string) error {
	for i := range linesPerProcess {
		l, err := Open(context.Background(), path, someHeader)
		if err != nil {
			return err
		}
		line := fmt.Sprintf("process %s line %d %s\n", os.Args[1], i, strings.Repeat("x", i*100))
		if err := l.Append(context.Background(), []byte(line), someSource); err != nil {
			return err
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}

func TestParallelProcesses(t *testing.T) {
	const processes = 32
	path := logPath(t)
	var running []*exec.Cmd
	for i := range processes {
		cmd := command(t, "lines", path, fmt.Sprint(i))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	seals := 0
	for _, cmd := range running {
		if rep, err := Seal(context.Background(), path); err == nil && rep.Done {
			seals++ // while others append
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	lines := strings.SplitAfter(readAll(t, path), "\n")
	next := map[string]int{}
	for _, line := range lines[:len(lines)-1] {
		f := strings.Fields(line)
		if len(f) < 4 || f[3] != fmt.Sprint(next[f[1]]) {
			t.Fatalf("line %q, but process %s comes to line %d", line, f[1], next[f[1]])
		}
		next[f[1]]++
	}
	if len(lines)-1 != processes*linesPerProcess || len(next) != processes {
		t.Errorf("%d lines of %d processes, want %d of %d", len(lines)-1, len(next), processes*linesPerProcess, processes)
	}
	if rep, err := Verify(context.Background(), path); err != nil || rep.Torn != 0 {
		t.Errorf("Verify = %+v, %v", rep, err)
	}
	t.Logf("%d seals in between", seals)
}

// stream returns a part of the stream that the killed children append. It is not
// compressible, so that a write takes long enough to be killed.
func stream(from, n int64) []byte {
	b := make([]byte, n)
	for i := range b {
		at := uint64(from + int64(i))
		word := (at/8 + 1) * 0x9E3779B97F4A7C15
		word = (word ^ word>>31) * 0xBF58476D1CE4E5B9
		b[i] = byte((word ^ word>>29) >> (at % 8 * 8))
	}
	return b
}

// appendStream appends the rest of the stream until it is killed, and prints each length
// that Append has confirmed.
func appendStream(path string) error {
	l, err := Open(context.Background(), path, someHeader)
	if err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(uint64(os.Getpid()), 7))
	for {
		n := int64(1 + rnd.IntN(3000))
		if rnd.IntN(4) == 0 {
			n = int64(1 + rnd.IntN(2<<20))
		}
		if err := l.Append(context.Background(), stream(l.Position().Raw, n), someSource); err != nil {
			return err
		}
		if _, err := fmt.Println(l.Position().Raw); err != nil {
			return err // the parent has gone
		}
	}
}

func TestKilledProcesses(t *testing.T) {
	kills := 200
	if testing.Short() {
		kills = 20
	}
	path := logPath(t)
	rnd := rand.New(rand.NewPCG(1, 8))
	var confirmed int64
	torn := 0
	for kill := range kills {
		cmd := command(t, "stream", path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The next append is running when a confirmation arrives.
		lines := bufio.NewScanner(out)
		for range rnd.IntN(5) {
			lines.Scan()
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(out)
		if err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it says that the process was killed
		counts := strings.Fields(lines.Text() + " " + string(rest))
		if kill == 0 && len(counts) == 0 {
			continue // killed before there was a log
		}
		if len(counts) > 0 && (bytes.HasSuffix(rest, []byte("\n")) || len(rest) == 0) {
			if _, err := fmt.Sscan(counts[len(counts)-1], &confirmed); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := os.Stat(path); err != nil && confirmed == 0 {
			continue
		}
		l := open(t, path)
		raw := l.Position().Raw
		if l.repaired > 0 {
			torn++
		}
		closeLog(t, l)
		if raw < confirmed {
			t.Fatalf("kill %d: %d bytes were confirmed, %d are there", kill, confirmed, raw)
		}
		if kill%20 == 19 || kill == kills-1 {
			wantLog(t, path, stream(0, raw))
		}
	}
	t.Logf("%d kills, %d torn ends, %d bytes", kills, torn, confirmed)
}

func TestZstdToolReadsLog(t *testing.T) {
	tool, err := exec.LookPath("zstd")
	if err != nil {
		t.Skip("the zstd tool is not installed, so nothing else decompresses the log")
	}
	path := logPath(t)
	want := slices.Concat(jsonLines(1, 3<<20), []byte("half a line"), noise(1, 5000))
	build(t, path, jsonLines(1, 3<<20), []byte("half a line"), noise(1, 5000))
	l := open(t, path)
	if err := l.Blank(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	plain := func() []byte {
		t.Helper()
		cmd := exec.Command(tool, "-dc", path)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if !bytes.Equal(plain(), want) {
		t.Error("zstd -dc gives other bytes")
	}
	if _, err := Seal(context.Background(), path); err != nil {
		t.Fatal(err)
	}
	if got := plain(); string(got) != readAll(t, path) || len(got) != len(want) || bytes.Equal(got, want) {
		t.Error("zstd -dc of the sealed log gives other bytes than a reader")
	}
}
