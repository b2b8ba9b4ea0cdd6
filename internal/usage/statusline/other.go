package statusline

import (
	"bytes"
	"context"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// otherWait is how long the user's own command may take. The client draws the
// line when it comes, and starts over when there is something new.
const otherWait = 2 * time.Second

// maxOther is how much of another command's output is looked at.
const maxOther = 16 << 10

// other runs the user's own command with the client's words on stdin, as the
// client would, and returns the first line of what it prints; "" when it fails,
// prints nothing or takes too long.
func other(ctx context.Context, command string, stdin []byte) string {
	ctx, cancel := context.WithTimeout(ctx, otherWait)
	defer cancel()
	shell := []string{"/bin/sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd.exe", "/C"}
	}
	cmd := exec.CommandContext(ctx, shell[0], append(shell[1:], command)...) // the user's own, from the user's own settings
	own(cmd)
	cmd.WaitDelay = 100 * time.Millisecond // for what it has started and left with its pipes
	cmd.Stdin = bytes.NewReader(stdin)
	var out limited
	cmd.Stdout = &out
	_ = cmd.Run() // what was printed before it failed is printed still
	for line := range strings.SplitSeq(out.text.String(), "\n") {
		if line = strings.TrimRight(line, " \t\r"); line != "" {
			return line
		}
	}
	return ""
}

// limited keeps the beginning of what is written to it.
type limited struct{ text bytes.Buffer }

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	l.text.Write(p[:min(len(p), max(maxOther-l.text.Len(), 0))])
	return len(p), nil
}
