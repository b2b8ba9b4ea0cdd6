package statusline

import (
	"bytes"
	"context"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// commandTimeout limits the user's command. The client waits for the line, and
// starts another when something changes.
const commandTimeout = 2 * time.Second

// maxCommandOutput is the most bytes read of the command's output.
const maxCommandOutput = 16 << 10

// runCommand runs the user's statusline command with the client's payload on stdin
// and returns the first non-empty line of its output; "" if there is none in time.
// The exit status is ignored.
func runCommand(ctx context.Context, command string, stdin []byte) string {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	shell := []string{"/bin/sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd.exe", "/C"}
	}
	cmd := exec.CommandContext(ctx, shell[0], append(shell[1:], command)...) // from the user's settings
	setGroup(cmd)
	cmd.WaitDelay = 100 * time.Millisecond // background processes may keep the pipes open
	cmd.Stdin = bytes.NewReader(stdin)
	var out limitedBuffer
	cmd.Stdout = &out
	_ = cmd.Run()
	for line := range strings.SplitSeq(out.String(), "\n") {
		if line = strings.TrimRight(line, " \t\r"); line != "" {
			return line
		}
	}
	return ""
}

// limitedBuffer stores the first maxCommandOutput bytes and drops the rest.
type limitedBuffer struct{ buf bytes.Buffer }

// Write implements io.Writer.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.buf.Write(p[:min(len(p), max(maxCommandOutput-b.buf.Len(), 0))])
	return len(p), nil
}

// String returns the stored bytes.
func (b *limitedBuffer) String() string { return b.buf.String() }
