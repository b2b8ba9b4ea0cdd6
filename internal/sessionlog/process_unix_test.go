//go:build !windows

package sessionlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"strandline/internal/archive"
)

func systemChildren() map[string]func(string) error {
	return map[string]func(string) error{"limited": appendUntilFull}
}

// appendUntilFull appends until the system reports a full disk, and checks the log.
func appendUntilFull(path string) error {
	signal.Ignore(syscall.SIGXFSZ)
	const limit = 200_000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		return err
	}
	l, err := Open(context.Background(), path, someHeader)
	if err != nil {
		return err
	}
	for i := uint64(0); err == nil; i++ {
		err = l.Append(context.Background(), noise(i, 30_000), someSource)
	}
	if archive.ErrorCode(err) != archive.CodeDenied || archive.ErrorHint(err) == "" {
		return fmt.Errorf("want a refusal, got: %w", err)
	}
	if err := l.Append(context.Background(), []byte("small enough\n"), someSource); err != nil {
		return err
	}
	return l.Close()
}

func TestFullDisk(t *testing.T) {
	path := logPath(t)
	out, err := command(t, "limited", path).Output()
	if err != nil || len(out) > 0 {
		t.Fatalf("%s, %v", out, err)
	}
	var want []byte
	for i := range uint64(6) {
		want = append(want, noise(i, 30_000)...)
	}
	wantLog(t, path, append(want, "small enough\n"...))
}

func TestPipeAtLogPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl.zst")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no named pipes here: " + err.Error())
	}
	// None of these may block.
	for what, err := range map[string]error{
		"Open":         second(Open(context.Background(), path, someHeader)),
		"OpenReader":   second(OpenReader(path)),
		"ReadPosition": second(ReadPosition(path)),
		"Verify":       second(Verify(context.Background(), path)),
		"Seal":         second(Seal(context.Background(), path)),
	} {
		if archive.ErrorCode(err) != archive.CodeInvalid {
			t.Errorf("%s of a pipe: %v", what, err)
		}
	}
}

func TestLinkLoopAtLogPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl.zst")
	if err := os.Symlink(path, path); err != nil {
		t.Fatal(err)
	}
	_, err := Open(context.Background(), path, someHeader)
	if !errors.Is(err, syscall.ELOOP) || !strings.Contains(err.Error(), "cannot open") {
		t.Errorf("a link to itself: %v", err)
	}
}
