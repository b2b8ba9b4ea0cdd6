package usage_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"strandline/internal/state"
	"strandline/internal/usage"
)

const session = "7f3a12cd-0000-4000-8000-000000000001"

func files(t *testing.T) usage.Store {
	t.Helper()
	return usage.Store{Dir: filepath.Join(t.TempDir(), "state")}
}

func update(t *testing.T, f usage.Store, id string, change func(s *usage.Session) bool) {
	t.Helper()
	if err := f.Update(t.Context(), id, change); err != nil {
		t.Fatal(err)
	}
}

// The names are those that scripts of older tools read.
func TestSessionOnDisk(t *testing.T) {
	f := files(t)
	update(t, f, session, func(s *usage.Session) bool {
		s.LastTokenEstimate, s.LastPercentage, s.PruneCount, s.WarningIssued, s.LastCheck = 86_700, 0.4335, 1, true, 1_795_185_107_000
		s.Append(usage.Point{TS: 1_795_185_107_000, Tokens: 86_700, Pct: 0.4335, Turns: 12})
		return true
	})
	data, err := os.ReadFile(filepath.Join(f.Dir, session+".json"))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"sessionId":"` + session + `","lastTokenEstimate":86700,"lastPercentage":0.4335,"pruneCount":1,"warningIssued":true,` +
		`"lastCheck":1795185107000,"history":[{"ts":1795185107000,"tokens":86700,"pct":0.4335,"turns":12}],"version":1}` + "\n"
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
	got, ok := f.Session(session)
	if !ok || got.LastTokenEstimate != 86_700 || len(got.History) != 1 {
		t.Errorf("read again: %+v, %v", got, ok)
	}
}

func TestFilesArePrivate(t *testing.T) {
	f := files(t)
	update(t, f, session, func(*usage.Session) bool { return true })
	if err := f.WriteHealth(usage.Health{}); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(f.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestInvalidFilesCountAsMissing(t *testing.T) {
	good := `{"sessionId":"` + session + `","lastTokenEstimate":5,"version":1}`
	for name, c := range map[string]struct {
		content string
		want    bool
	}{
		"valid":                                 {good, true},
		"unknown fields":                        {good[:len(good)-1] + `,"new":{"a":[1]}}`, true},
		"empty":                                 {"", false},
		"cut off":                               {good[:len(good)-9], false},
		"zero bytes":                            {strings.Repeat("\x00", 64), false},
		"a list":                                {`[1,2]`, false},
		"a later version":                       {strings.Replace(good, `"version":1`, `"version":2`, 1), false},
		"another session":                       {strings.Replace(good, "7f3a12cd", "9b1c44ee", 1), false},
		"a negative count":                      {strings.Replace(good, `:5`, `:-5`, 1), false},
		"a string for a number":                 {strings.Replace(good, `:5`, `:"many"`, 1), false},
		"too many points":                       {`{"sessionId":"` + session + `","version":1,"history":[` + strings.Repeat(`{"ts":1},`, 60) + `{"ts":1}]}`, false},
		"trailing blanks beyond the size limit": {good + strings.Repeat(" ", 300<<10), true},
		"a value beyond the size limit":         {`{"version":1,"sessionId":"` + session + `","x":"` + strings.Repeat("x", 300<<10) + `"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := files(t)
			if err := os.MkdirAll(f.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(f.Dir, session+".json"), []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, ok := f.Session(session); ok != c.want {
				t.Errorf("read: %v, want %v", ok, c.want)
			}
			// The next update replaces it.
			update(t, f, session, func(s *usage.Session) bool { s.PruneCount++; return true })
			if s, ok := f.Session(session); !ok || s.PruneCount != 1 {
				t.Errorf("after an update: %+v, %v", s, ok)
			}
		})
	}
}

func TestUpdateWithoutChangeWritesNothing(t *testing.T) {
	f := files(t)
	update(t, f, session, func(*usage.Session) bool { return false })
	if _, err := os.Stat(filepath.Join(f.Dir, session+".json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file exists: %v", err)
	}
}

func TestInvalidSessionIDsHaveNoFile(t *testing.T) {
	for _, id := range []string{"", "../evil", "a/b", ".hidden", session + "~a2c37f95", "a\x00"} {
		f := files(t)
		update(t, f, id, func(*usage.Session) bool { t.Errorf("%q is changed", id); return true })
		if _, ok := f.Session(id); ok {
			t.Errorf("%q is read", id)
		}
		if _, err := os.Stat(f.Dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q created a file: %v", id, err)
		}
	}
}

// No update is lost, and no reader gets a partial file.
func TestConcurrentUpdates(t *testing.T) {
	f := files(t)
	const each = 50
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range each {
				for f.Update(t.Context(), session, func(s *usage.Session) bool { s.PruneCount++; return true }) != nil {
					if t.Context().Err() != nil {
						return
					}
				}
				if _, ok := f.Session(session); !ok {
					t.Error("a partial file was read")
				}
			}
		})
	}
	wg.Wait()
	if s, _ := f.Session(session); s.PruneCount != 4*each {
		t.Errorf("%d changes, want %d", s.PruneCount, 4*each)
	}
	left, err := filepath.Glob(filepath.Join(f.Dir, state.TempPrefix+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files: %v, %v", left, err)
	}
}

func TestFileThatCannotBeWritten(t *testing.T) {
	f := files(t)
	if err := os.MkdirAll(filepath.Join(f.Dir, session+".json", "x"), 0o700); err != nil { // a folder with the file's name
		t.Fatal(err)
	}
	if err := f.Update(t.Context(), session, func(*usage.Session) bool { return true }); err == nil {
		t.Error("no error")
	}
	left, err := filepath.Glob(filepath.Join(f.Dir, state.TempPrefix+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files: %v, %v", left, err)
	}
}

func TestHistoryKeepsTheLast50Turns(t *testing.T) {
	var s usage.Session
	for turn := range 60 {
		s.Append(usage.Point{Tokens: int64(turn), Turns: turn})
		s.Append(usage.Point{Tokens: int64(100 + turn), Turns: turn}) // a later response of the same turn
	}
	if len(s.History) != 50 || s.History[0].Turns != 10 || s.History[49].Tokens != 159 {
		t.Errorf("%d points from %+v to %+v", len(s.History), s.History[0], s.History[len(s.History)-1])
	}
}

func TestHealthMean(t *testing.T) {
	share := func(part, of int64) *usage.Share { return &usage.Share{Part: part, Of: of} }
	for name, c := range map[string]struct {
		in    usage.Health
		want  float64
		known bool
	}{
		"nothing":             {usage.Health{}, 0, false},
		"wholes of 0":         {usage.Health{Captured: share(0, 0)}, 0, false},
		"all four":            {usage.Health{Captured: share(10, 10), Indexed: share(9, 10), Embedded: share(1, 2), Used: share(1, 5)}, 0.65, true},
		"no embedder":         {usage.Health{Captured: share(10, 10), Indexed: share(9, 10), Used: share(1, 2)}, 0.8, true},
		"more than the whole": {usage.Health{Captured: share(12, 10), Indexed: share(1, 2)}, 0.75, true},
		"a negative part":     {usage.Health{Captured: share(-1, 10), Indexed: share(1, 2)}, 0.25, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, known := c.in.Mean()
			if known != c.known || got < c.want-1e-9 || got > c.want+1e-9 {
				t.Errorf("got %v, %v, want %v, %v", got, known, c.want, c.known)
			}
		})
	}
}

func TestHealthOnDisk(t *testing.T) {
	f := files(t)
	if _, ok := f.Health(); ok {
		t.Error("read before it was written")
	}
	if err := f.WriteHealth(usage.Health{Time: 7, Captured: &usage.Share{Part: 1, Of: 2}}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(f.Dir, "memory", "health.json"))
	if want := `{"time":7,"captured":{"part":1,"of":2},"version":1}` + "\n"; err != nil || string(data) != want {
		t.Errorf("got %s, %v, want %s", data, err, want)
	}
	if h, ok := f.Health(); !ok || h.Captured.Part != 1 || h.Used != nil {
		t.Errorf("read %+v, %v", h, ok)
	}
	if err := os.WriteFile(filepath.Join(f.Dir, "memory", "health.json"), data[:20], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := f.Health(); ok {
		t.Error("a partial file was read")
	}
}

func TestSweep(t *testing.T) {
	f := files(t)
	if n, err := f.Sweep(time.Now()); n != 0 || err != nil {
		t.Errorf("empty folder: %d, %v", n, err)
	}
	old := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for _, id := range []string{"old", "new"} {
		update(t, f, id, func(*usage.Session) bool { return true })
	}
	if err := f.WriteHealth(usage.Health{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"old.json", state.TempPrefix + "123", "gauge.lock", "memory/health.json"} {
		path := filepath.Join(f.Dir, name)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := f.Sweep(old.Add(time.Hour)); n != 2 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
	_, deleted := f.Session("old")
	_, kept := f.Session("new")
	_, health := f.Health()
	if deleted || !kept || !health {
		t.Errorf("old %v, new %v, health %v", deleted, kept, health)
	}
}

func FuzzReadSession(f *testing.F) {
	f.Add([]byte(`{"sessionId":"s","version":1,"history":[{"ts":1,"tokens":2,"pct":0.5,"turns":3}]}`))
	f.Add([]byte(`{"sessionId":"s","version":1,"lastPercentage":1e308}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "s.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, ok := usage.Store{Dir: dir}.Session("s")
		if !ok {
			return
		}
		if s.LastTokenEstimate < 0 || s.Window < 0 || len(s.History) > 50 {
			t.Errorf("accepted %+v", s)
		}
		if _, err := json.Marshal(s); err != nil {
			t.Error(err)
		}
	})
}
