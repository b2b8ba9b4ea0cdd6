package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/state"
)

// The old index stays in place while another process has it open.
func TestReplaceIndexInUse(t *testing.T) {
	dir := t.TempDir()
	current, fresh := filepath.Join(dir, "index.db"), filepath.Join(dir, "index.db.new")
	if err := errors.Join(os.WriteFile(current, []byte("old"), 0o600), os.WriteFile(fresh, []byte("new"), 0o600), os.WriteFile(current+"-wal", []byte("old"), 0o600)); err != nil {
		t.Fatal(err)
	}
	reader, err := state.WaitLock(t.Context(), current+".lock", true)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = replaceIndex(ctx, fresh, current)
	if archive.ErrorCode(err) != archive.CodeBusy || archive.ErrorHint(err) == "" {
		t.Errorf("got %v", err)
	}
	contains := func(path, want string) {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil || string(data) != want {
			t.Errorf("%s contains %q, %v", path, data, err)
		}
	}
	contains(current, "old")
	contains(fresh, "new")
	if err := reader.Release(); err != nil {
		t.Fatal(err)
	}
	if err := replaceIndex(t.Context(), fresh, current); err != nil {
		t.Fatal(err)
	}
	contains(current, "new")
	for _, path := range []string{fresh, current + "-wal"} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s still exists: %v", path, err)
		}
	}
}
