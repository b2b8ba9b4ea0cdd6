package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"strandline/bench/synth"
)

// TestBrowseInATerminal searches, opens a hit, copies its handle and exits; the
// terminal is restored.
func TestBrowseInATerminal(t *testing.T) {
	t.Parallel()
	const session = "7f3a12cd-0000-4000-8000-000000000001"
	dir := t.TempDir()
	var transcript bytes.Buffer
	s := synth.New(&transcript, synth.Options{Session: session, Cwd: "/home/dev/shop", Version: "2.1.0", Model: "m", Start: time.Unix(1_760_000_000, 0), Seed: 1})
	s.Begin()
	s.Prompt("Which gateway port do the tests use?")
	s.Say("The mock gateway listens on 18443, as the fixture says.")
	s.Respond()
	s.EndTurn()
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, session+".jsonl")
	if err := os.WriteFile(file, transcript.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "HOME="+dir, "STRANDLINE_HOME="+filepath.Join(dir, "archive"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"),
		"TERM=xterm-256color", "NO_COLOR=1", "TMUX=", "STY=")
	imported := exec.CommandContext(t.Context(), program(t), "import", file)
	imported.Env, imported.Dir = env, dir
	if out, err := imported.CombinedOutput(); err != nil {
		t.Fatalf("import: %v\n%s", err, out)
	}

	master, slave, err := openPTY()
	if err != nil {
		t.Fatal(err)
	}
	c := &terminal{s: &sandbox{t: t}, master: master, more: make(chan struct{}), exited: make(chan struct{})}
	c.cmd = exec.CommandContext(t.Context(), program(t), "browse")
	c.cmd.Dir, c.cmd.Env = dir, env
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = slave, slave, slave
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = slave.Close() // the program has a copy
	c.reading.Add(1)
	go c.read()
	go func() {
		c.exitErr = c.cmd.Wait()
		close(c.exited)
	}()
	t.Cleanup(c.close)

	press := func(keys string) {
		if _, err := master.WriteString(keys); err != nil {
			t.Fatal(err)
		}
	}
	at := c.await(0, "1 session to search")
	press("gateway port")
	at = c.await(at, "7f3a12cd/0")
	press("\r") // open
	at = c.await(at, "next match")
	press("y")
	c.await(at, "\x1b]52;c;") // the clipboard
	press("q")
	press("\x03")
	select {
	case <-c.exited:
	case <-time.After(patience):
		t.Fatal("browse does not end")
	}
	if c.exitErr != nil {
		t.Errorf("browse ended with %v", c.exitErr)
	}
	c.await(0, "\x1b[?1049l") // the previous screen
}
