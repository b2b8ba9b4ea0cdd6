package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"strandline/e2e/mockapi"
)

// TestGuardSavesAKilledSession kills a client without hooks in the middle of a turn. A guard
// has then archived every row that the client wrote, and ends cleanly itself.
func TestGuardSavesAKilledSession(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.program = filepath.Join(filepath.Dir(s.project), "bin", programName)
	link(t, program(t), s.program)
	t.Cleanup(s.awaitProcesses)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	guard := s.command(ctx, s.program, "guard")
	var said strings.Builder
	guard.Stdout, guard.Stderr = &said, &said
	if err := guard.Start(); err != nil {
		t.Fatal(err)
	}

	const prompt, note = "Measure the walrus.", "walrus 4711"
	gate := make(chan struct{})
	defer close(gate)
	s.api.On(prompt, mockapi.Use(mockapi.Bash("echo "+note)), mockapi.Say("Never said.").After(gate))
	id := newSession(t)
	client := s.command(ctx, s.client, "--print", "--session-id", id, prompt)
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	used, err := s.api.Wait(ctx, func(r *mockapi.Request) bool { return len(r.ToolResults()) > 0 })
	if err != nil {
		t.Fatal(err)
	}
	s.awaitFlush(ctx, used)
	if err := client.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = client.Wait() // it was killed

	s.awaitExported()
	if info, err := os.Stat(s.transcript(id)); err == nil {
		t.Logf("whole %v after the last row", time.Since(info.ModTime()).Round(time.Millisecond))
	}
	if err := guard.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := guard.Wait(); err != nil {
		t.Fatalf("the guard ended with %v\n%s", err, said.String())
	}
	if !strings.Contains(s.read(s.transcript(id)), note) {
		t.Error("the transcript lacks the output of the tool")
	}
	s.checkFound(note)
	s.checkLog()
}
