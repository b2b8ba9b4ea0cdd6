package sessionlog

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"strandline/internal/archive"
)

func entry(id string, at time.Time) archive.JournalEntry {
	return archive.JournalEntry{ID: id, Time: at, Kind: archive.JournalMerge, Session: "s",
		Data: json.RawMessage(`{"from":"<a> & b","into":"dir:\u2028/x"}`)}
}

func ids(list []archive.JournalEntry) []string {
	var out []string
	for _, e := range list {
		out = append(out, e.ID)
	}
	return out
}

func read(t tb, j Journal, from JournalCursor) ([]string, JournalCursor) {
	t.Helper()
	list, cur, err := j.Read(context.Background(), from)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return ids(list), cur
}

func note(t tb, j Journal, list ...archive.JournalEntry) {
	t.Helper()
	if err := j.Append(context.Background(), list...); err != nil {
		t.Fatalf("Append: %v", err)
	}
}

func TestJournalRoundTrip(t *testing.T) {
	j := Journal{Dir: filepath.Join(t.TempDir(), "journal")}
	if got, cur := read(t, j, JournalCursor{}); got != nil || len(cur.Offsets) != 0 {
		t.Fatalf("an empty journal gives %v, %+v", got, cur)
	}
	at := time.Date(2026, 11, 30, 23, 30, 0, 123456789, time.FixedZone("", -3600)) // December in UTC
	want := entry("a", at)
	note(t, j, want)
	note(t, j)
	got, _, err := j.Read(context.Background(), JournalCursor{})
	if err != nil || len(got) != 1 {
		t.Fatalf("Read = %v, %v", got, err)
	}
	e := got[0]
	if e.Version != 1 || e.ID != "a" || !e.Time.Equal(at) || e.Kind != want.Kind || e.Session != "s" {
		t.Errorf("entry %+v, want %+v", e, want)
	}
	var a, b archive.MergeFact
	if json.Unmarshal(e.Data, &a) != nil || json.Unmarshal(want.Data, &b) != nil || a != b {
		t.Errorf("data %s, want %s", e.Data, want.Data)
	}
	if got := readAll(t, filepath.Join(j.Dir, "2026-12.jsonl.zst")); len(got) == 0 || got[len(got)-1] != '\n' {
		t.Errorf("December holds %q", got)
	}
}

func TestJournalCursor(t *testing.T) {
	j := Journal{Dir: t.TempDir()}
	month := func(m int) time.Time { return time.Date(2026, time.Month(m), 5, 0, 0, 0, 0, time.UTC) }
	note(t, j, entry("march", month(3)), entry("jan", month(1)), entry("jan2", month(1)))
	got, cur := read(t, j, JournalCursor{})
	if want := []string{"jan", "jan2", "march"}; !slices.Equal(got, want) {
		t.Fatalf("read %v, want %v", got, want)
	}
	if got, again := read(t, j, cur); got != nil || !maps.Equal(cur.Offsets, again.Offsets) {
		t.Fatalf("nothing new, but read %v", got)
	}
	kept := maps.Clone(cur.Offsets)
	note(t, j, entry("feb, late", month(2)), entry("jan3, late", month(1)), entry("april", month(4)))
	got, next := read(t, j, cur)
	if want := []string{"jan3, late", "feb, late", "april"}; !slices.Equal(got, want) {
		t.Fatalf("read %v, want %v", got, want)
	}
	if !maps.Equal(cur.Offsets, kept) {
		t.Error("the caller's cursor was changed")
	}
	b, err := json.Marshal(next)
	var stored JournalCursor
	if err != nil || json.Unmarshal(b, &stored) != nil {
		t.Fatalf("store the cursor: %v", err)
	}
	if got, _ := read(t, j, stored); got != nil {
		t.Errorf("after storing the cursor: %v", got)
	}
	if _, err := Seal(context.Background(), filepath.Join(j.Dir, "2026-01.jsonl.zst")); err != nil {
		t.Fatal(err)
	}
	if got, _ := read(t, j, next); got != nil {
		t.Errorf("after sealing a month: %v", got)
	}
}

func TestJournalSkipsBadLines(t *testing.T) {
	at := time.Date(2026, 11, 5, 0, 0, 0, 0, time.UTC)
	j := Journal{Dir: t.TempDir()}
	path := filepath.Join(j.Dir, "2026-11.jsonl.zst")
	note(t, j, entry("one", at))
	l := open(t, path)
	add(t, l, []byte("{broken\n[]\n{\"v\":1}\n\n{\"v\":1,\"id\":\"torn"))
	closeLog(t, l)
	got, cur := read(t, j, JournalCursor{})
	if !slices.Equal(got, []string{"one"}) || cur.Bad != 3 {
		t.Errorf("read %v, %d bad lines", got, cur.Bad)
	}
	note(t, j, entry("two", at))
	got, cur = read(t, j, cur)
	if !slices.Equal(got, []string{"two"}) || cur.Bad != 4 {
		t.Errorf("then %v, %d bad lines", got, cur.Bad)
	}
	l = open(t, path)
	if err := l.Blank(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	if got, cur := read(t, j, JournalCursor{}); !slices.Equal(got, []string{"two"}) || cur.Bad != 4 {
		t.Errorf("with a deleted line %v, %d bad lines", got, cur.Bad)
	}
}

func TestJournalDamagedMonth(t *testing.T) {
	j := Journal{Dir: t.TempDir()}
	for m := 1; m <= 3; m++ {
		note(t, j, entry(fmt.Sprint(m), time.Date(2026, time.Month(m), 5, 0, 0, 0, 0, time.UTC)))
	}
	writeFile(t, filepath.Join(j.Dir, "2026-02.jsonl.zst"), []byte("another text"))
	writeFile(t, filepath.Join(j.Dir, "2026-04.jsonl.zst"), nil) // made, then a crash
	writeFile(t, filepath.Join(j.Dir, "notes.txt"), nil)
	list, cur, err := j.Read(context.Background(), JournalCursor{})
	wantCode(t, err, archive.CodeCorrupt)
	if got := ids(list); !slices.Equal(got, []string{"1", "3"}) || len(cur.Offsets) != 2 {
		t.Errorf("read %v, %+v", got, cur)
	}
	note(t, j, entry("4", time.Date(2026, 4, 5, 0, 0, 0, 0, time.UTC)))
}

func TestJournalInvalidEntries(t *testing.T) {
	j := Journal{Dir: t.TempDir()}
	now := time.Date(2026, 11, 5, 0, 0, 0, 0, time.UTC)
	for name, e := range map[string]archive.JournalEntry{
		"no id":    {Time: now},
		"no time":  {ID: "x"},
		"bad data": {ID: "x", Time: now, Data: json.RawMessage("{")},
	} {
		if err := j.Append(context.Background(), entry("good", now), e); archive.ErrorCode(err) != archive.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, _ := read(t, j, JournalCursor{}); got != nil {
		t.Errorf("a rejected entry was written: %v", got)
	}
	file := filepath.Join(j.Dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := (Journal{Dir: file}).Read(context.Background(), JournalCursor{}); err == nil {
		t.Error("read from a file instead of a folder")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	note(t, j, entry("a", now))
	if _, _, err := j.Read(ctx, JournalCursor{}); err == nil {
		t.Error("read with a cancelled context")
	}
}

func TestJournalParallelWriters(t *testing.T) {
	j := Journal{Dir: t.TempDir()}
	var wg sync.WaitGroup
	var want []string
	for g := range 8 {
		for i := range 10 {
			want = append(want, fmt.Sprintf("%d-%d", g, i))
		}
		wg.Go(func() {
			for i := range 10 {
				e := entry(fmt.Sprintf("%d-%d", g, i), time.Date(2026, 11, 1+i%2*40, 0, 0, 0, 0, time.UTC))
				if err := j.Append(context.Background(), e); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got, _ := read(t, j, JournalCursor{})
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%d entries, want %d", len(got), len(want))
	}
}
