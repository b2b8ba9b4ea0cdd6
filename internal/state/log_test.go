package state_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"strandline/internal/state"
)

func TestLogFileIsCreatedAtTheFirstWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "home", "strandline.log")
	w := &state.LogFile{Path: path}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("the folder exists: %v", err)
	}
	got, err := state.RecentErrors(path, time.Time{}, 10)
	if err != nil || len(got) != 0 {
		t.Errorf("RecentErrors without a file: %v, %v", got, err)
	}
}

func TestRecentErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "strandline.log")
	w := &state.LogFile{Path: path}
	log := slog.New(slog.NewJSONHandler(w, nil))
	log.Error("hook", "error", "disk full", "event", "Stop", "session", "abc")
	log.Info("for information", "error", "busy")
	log.Warn("late")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("mode %v, want 0600", mode)
	}
	got, err := state.RecentErrors(path, time.Time{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Error != "disk full" || got[0].Event != "Stop" || got[1].Level != "WARN" {
		t.Errorf("got %+v", got)
	}
	if got, err = state.RecentErrors(path, time.Time{}, 1); err != nil || len(got) != 1 || got[0].Msg != "late" {
		t.Errorf("limit of one: %+v, %v", got, err)
	}
	if got, err = state.RecentErrors(path, time.Now().Add(time.Hour), 9); err != nil || len(got) != 0 {
		t.Errorf("since a future time: %+v, %v", got, err)
	}
}

func TestLargeLogFileIsRenamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "strandline.log")
	old := `{"time":"2026-01-02T03:04:05Z","level":"ERROR","msg":"old"}` + "\n" + strings.Repeat("x", state.MaxLogSize)
	if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &state.LogFile{Path: path}
	slog.New(slog.NewJSONHandler(w, nil)).Error("new")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 1000 {
		t.Errorf("the new file has %d bytes", info.Size())
	}
	got, err := state.RecentErrors(path, time.Time{}, 10)
	if err != nil || len(got) != 2 || got[0].Msg != "old" || got[1].Msg != "new" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestLogFileIgnoresAnUnusableFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := &state.LogFile{Path: filepath.Join(file, "strandline.log")}
	if n, err := w.Write([]byte("lost\n")); n != 5 || err != nil {
		t.Errorf("Write: %d, %v", n, err)
	}
}
