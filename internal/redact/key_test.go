package redact_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/redact"
)

func TestLoadKeyCreatesAndKeepsAKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "config", "strandline")
	key, err := redact.LoadKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(key) != 32 || bytes.Equal(key, make([]byte, 32)) {
		t.Errorf("key %x", key)
	}
	again, err := redact.LoadKey(dir)
	if err != nil || !bytes.Equal(again, key) {
		t.Errorf("the second call gave %x, %v, not %x", again, err, key)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Errorf("left in the folder: %v, %v", files, err)
	}
	if runtime.GOOS == "windows" {
		return // has no such modes
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "redaction.key"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
}

func TestLoadKeyConcurrently(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "config")
	keys := make([][]byte, 32)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			key, err := redact.LoadKey(dir)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	wg.Wait()
	for _, key := range keys {
		if !bytes.Equal(key, keys[0]) {
			t.Fatalf("keys differ: %x and %x", key, keys[0])
		}
	}
}

func TestLoadKeyErrors(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	short := t.TempDir()
	folder := t.TempDir()
	for _, err := range []error{
		os.WriteFile(blocked, nil, 0o600),
		os.WriteFile(filepath.Join(short, "redaction.key"), []byte("short"), 0o600),
		os.Mkdir(filepath.Join(folder, "redaction.key"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name, dir string
		code      archive.Code
	}{
		{"a file is in the place of the folder", blocked, archive.CodeInternal},
		{"a key of the wrong size", short, archive.CodeCorrupt},
		{"a folder is in the place of the key", folder, archive.CodeInternal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			key, err := redact.LoadKey(tt.dir)
			if key != nil || archive.ErrorCode(err) != tt.code || archive.ErrorHint(err) == "" {
				t.Errorf("key %x, error %v (%s), hint %q", key, err, archive.ErrorCode(err), archive.ErrorHint(err))
			}
		})
	}
}

func TestEphemeralKeysDiffer(t *testing.T) {
	if a, b := redact.EphemeralKey(), redact.EphemeralKey(); len(a) != 32 || bytes.Equal(a, b) {
		t.Errorf("%x, %x", a, b)
	}
}
