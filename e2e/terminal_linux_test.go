package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"strandline/e2e/mockapi"
)

// Output of the client in screen reader mode, in which it writes plain lines.
const (
	titleIdle = "\x1b]0;✳ Claude Code\a" // it waits for input
	askDevice = "\x1b[c"                 // it queries the terminal type …
	tellVT102 = "\x1b[?6c"               // … and waits for this answer
)

// terminal is a client running in a pseudo terminal.
type terminal struct {
	s       *sandbox
	cmd     *exec.Cmd
	master  *os.File
	exited  chan struct{}
	exitErr error
	debug   string // path of the client's debug log

	mu      sync.Mutex
	output  []byte
	more    chan struct{} // closed and replaced when output grew or ended
	ended   bool
	reading sync.WaitGroup
}

// open starts the client in a terminal and waits until it takes input.
func (s *sandbox) open(args ...string) *terminal {
	s.t.Helper()
	return s.openUntil("effort:", args...)
}

// openUntil is open for a client whose last start-up output is shown: it prints no
// effort level for some models.
func (s *sandbox) openUntil(shown string, args ...string) *terminal {
	s.t.Helper()
	master, slave, err := openPTY()
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = slave.Close() }() // the client has a copy
	c := &terminal{s: s, master: master, more: make(chan struct{}), exited: make(chan struct{}), debug: s.debugFile()}
	c.cmd = exec.Command(s.client, append([]string{"--ax-screen-reader", "--debug-file", c.debug}, args...)...)
	c.cmd.Dir = s.project
	c.cmd.Env = append(append([]string{}, s.env...), "TERM=xterm-256color")
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = slave, slave, slave
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	c.reading.Add(1)
	go c.read()
	go func() {
		c.exitErr = c.cmd.Wait()
		close(c.exited)
	}()
	s.t.Cleanup(c.close)
	c.await(0, shown)
	return c
}

// close ends the client if it still runs.
func (c *terminal) close() {
	_ = c.cmd.Process.Kill() // it may have ended
	<-c.exited
	_ = c.master.Close()
	c.reading.Wait()
	if c.s.t.Failed() {
		c.s.t.Logf("terminal:\n%q", c.output)
	}
}

func (c *terminal) read() {
	defer c.reading.Done()
	buf := make([]byte, 32<<10)
	for {
		n, err := c.master.Read(buf)
		if bytes.Contains(buf[:n], []byte(askDevice)) {
			_, _ = c.master.WriteString(tellVT102) // the read below reports an ended client
		}
		c.mu.Lock()
		c.output = append(c.output, buf[:n]...)
		c.ended = err != nil
		close(c.more)
		c.more = make(chan struct{})
		c.mu.Unlock()
		if err != nil {
			return // EIO when the last holder of the other side has ended
		}
	}
}

// await waits until text appears in the output after offset and returns the offset
// after the text.
func (c *terminal) await(offset int, text string) int {
	c.s.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		c.mu.Lock()
		at, ended, more := bytes.Index(c.output[offset:], []byte(text)), c.ended, c.more
		c.mu.Unlock()
		if at >= 0 {
			return offset + at + len(text)
		}
		if ended {
			c.s.t.Fatalf("the client ended before it printed %q", text)
		}
		select {
		case <-more:
		case <-deadline.C:
			c.s.t.Fatalf("the client did not print %q", text)
		}
	}
}

func (c *terminal) here() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.output)
}

// enter types a line, waits for it to appear, and presses return.
func (c *terminal) enter(line string) int {
	c.s.t.Helper()
	from := c.here()
	if _, err := c.master.WriteString(line); err != nil {
		c.s.t.Fatal(err)
	}
	from = c.await(from, line)
	if _, err := c.master.WriteString("\r"); err != nil {
		c.s.t.Fatal(err)
	}
	return from
}

// say enters a line and waits until the client waits again.
func (c *terminal) say(line string) {
	c.s.t.Helper()
	c.await(c.enter(line), titleIdle)
}

// leave exits the client.
func (c *terminal) leave() {
	c.s.t.Helper()
	c.enter("/exit")
	select {
	case <-c.exited:
	case <-time.After(patience):
		c.s.t.Fatal("the client did not exit")
	}
	if c.exitErr != nil {
		c.s.t.Errorf("the client exited with %v", c.exitErr)
	}
}

// openPTY opens both sides of a pseudo terminal.
func openPTY() (master, slave *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open a pseudo terminal: %w", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 200})
	}
	if err == nil {
		err = unix.SetNonblock(fd, true) // so that closing ends a read
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("set up a pseudo terminal: %w", err), unix.Close(fd))
	}
	name := fmt.Sprintf("/dev/pts/%d", n)
	slave, err = os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), "/dev/ptmx"), slave, nil
}

func TestClientClearsInATerminal(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	hook := s.record(allEvents()...)
	s.api.Summarize("We greeted.")
	s.api.On("hello", mockapi.Say("Good day."))
	s.api.On("and now", mockapi.Say("Now this."))
	c := s.open()

	c.say("hello")
	c.say("/compact")
	c.say("/clear")
	c.say("and now")
	c.leave()

	if got, want := hook.order(), "SessionStart/startup UserPromptSubmit Stop"+
		" PreCompact/manual SubagentStop SessionStart/compact PostCompact/manual"+
		" SessionEnd/clear SessionStart/clear UserPromptSubmit Stop SessionEnd/prompt_input_exit"; got != want {
		t.Errorf("order of events:\n got %s\nwant %s", got, want)
	}
	if got := len(s.transcripts()); got != 2 {
		t.Errorf("%d transcripts, want one before /clear and one after it", got)
	}
	s.checkHookRows()
}
