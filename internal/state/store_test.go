package state_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/state"
)

const sessionID = "7f3a12cd-0000-4000-8000-000000000001"

func TestStoreWriteAndRead(t *testing.T) {
	s := state.Store{Dir: filepath.Join(t.TempDir(), "new", "folder"), Ext: ".json"}
	for key, file := range map[string]string{sessionID: sessionID + ".json", sessionID + "~ab12": sessionID + ".ab12.json", sessionID + "@2": sessionID + "@2.json"} {
		if _, err := s.Read(key); !errors.Is(err, fs.ErrNotExist) || s.Has(key) {
			t.Errorf("%s before the first write: %v", key, err)
		}
		for _, want := range []string{"a longer first value", "", "second"} {
			if err := s.Write(key, []byte(want)); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Read(key); err != nil || string(got) != want || !s.Has(key) {
				t.Errorf("%s: %q, %v, want %q", key, got, err, want)
			}
		}
		if got := s.Path(key); got != filepath.Join(s.Dir, file) {
			t.Errorf("path of %s is %s, want %s", key, got, file)
		}
		for range 2 { // a missing value is not an error
			if err := s.Delete(key); err != nil || s.Has(key) {
				t.Errorf("%s after Delete: %v", key, err)
			}
		}
	}
}

func TestStoreInvalidKeys(t *testing.T) {
	s := state.Store{Dir: filepath.Join(t.TempDir(), "store")}
	for _, key := range []string{"", ".hidden", "../x", "a/b", "a~b~c", "~a"} {
		if err := s.Write(key, nil); archive.ErrorCode(err) != archive.CodeInvalid {
			t.Errorf("Write(%q): %v, want CodeInvalid", key, err)
		}
		if _, err := s.Read(key); !errors.Is(err, fs.ErrNotExist) || s.Has(key) || s.Delete(key) != nil {
			t.Errorf("Read(%q): %v, want ErrNotExist", key, err)
		}
	}
	if _, err := os.Stat(s.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was created: %v", err)
	}
}

func TestDisabledStore(t *testing.T) {
	var s state.Store
	if err := s.Write(sessionID, []byte("x")); err != nil {
		t.Error(err)
	}
	names, err := s.Names(time.Now())
	if s.Has(sessionID) || len(names) > 0 || err != nil {
		t.Errorf("a disabled store holds %q, %v", names, err)
	}
}

func TestStoreSizeLimit(t *testing.T) {
	s := state.Store{Dir: t.TempDir(), MaxSize: 3}
	for value, want := range map[string]string{"abc": "abc", "abcd": "abc"} {
		if err := s.Write(sessionID, []byte(value)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Read(sessionID); string(got) != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", value, got, err, want)
		}
	}
}

func TestStoreTake(t *testing.T) {
	s := state.Store{Dir: t.TempDir(), MaxAge: time.Minute}
	now := time.Now()
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {2 * time.Minute, false}} {
		if err := s.Write(sessionID, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if got, ok, err := s.Take(sessionID, now.Add(c.after)); ok != c.want || ok && string(got) != "x" || err != nil {
			t.Errorf("after %v: %q, %v, %v", c.after, got, ok, err)
		}
		if _, ok, err := s.Take(sessionID, now); ok || err != nil {
			t.Errorf("taken twice: %v, %v", ok, err)
		}
	}
}

func TestStoreNames(t *testing.T) {
	s := state.Store{Dir: t.TempDir(), Ext: ".json", MaxAge: time.Minute}
	now := time.Now()
	for _, key := range []string{"b", "a~1", "old"} {
		if err := s.Write(key, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(s.Path("old"), now, now.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{state.TempPrefix + "1.json", "x.lock"} {
		if err := os.WriteFile(filepath.Join(s.Dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Names(now); err != nil || !slices.Equal(got, []string{"a.1", "b"}) || s.Has("old") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestStoreSweep(t *testing.T) {
	s := state.Store{Dir: t.TempDir(), Ext: ".json"}
	now := time.Now()
	for _, name := range []string{"new.json", "old.json", state.TempPrefix + "1", "old.lock"} {
		path := filepath.Join(s.Dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if name != "new.json" {
			if err := os.Chtimes(path, now, now.Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n, err := s.Sweep(now.Add(-time.Minute)); n != 2 || err != nil {
		t.Errorf("%d files deleted, %v", n, err)
	}
	if left := names(t, s.Dir); !slices.Equal(left, []string{"new.json", "old.lock"}) {
		t.Errorf("the folder holds %q", left)
	}
}

func TestStoreUpdate(t *testing.T) {
	s := state.Store{Dir: t.TempDir(), Lock: "store.lock"}
	add := func(old []byte) ([]byte, error) { return append(old, 'x'), nil }
	done := make(chan error)
	for range 4 {
		go func() { done <- s.Update(t.Context(), sessionID, add) }()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got, err := s.Read(sessionID); string(got) != "xxxx" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	failed := errors.New("failed")
	for _, want := range []error{nil, failed} {
		if err := s.Update(t.Context(), sessionID, func([]byte) ([]byte, error) { return nil, want }); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	if got, err := s.Read(sessionID); string(got) != "xxxx" || err != nil {
		t.Errorf("changed to %q, %v", got, err)
	}
	lock, err := state.TryLock(filepath.Join(s.Dir, s.Lock))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Update(ctx, sessionID, add); !errors.Is(err, state.ErrHeld) {
		t.Errorf("%v, want ErrHeld", err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}

func TestStoreJSON(t *testing.T) {
	s := state.Store{Dir: t.TempDir(), Sync: true}
	if err := s.WriteJSON(sessionID, map[string]int{"a": 1}); err != nil {
		t.Fatal(err)
	}
	var got map[string]int
	if err := s.ReadJSON(sessionID, &got); err != nil || got["a"] != 1 {
		t.Errorf("%v, %v", got, err)
	}
	if err := s.ReadJSON("other", &got); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want ErrNotExist", err)
	}
}
