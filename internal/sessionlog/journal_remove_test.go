package sessionlog_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
)

func TestJournalRemove(t *testing.T) {
	j := sessionlog.Journal{Dir: t.TempDir()}
	entry := func(id, session, text string, at time.Time) archive.JournalEntry {
		return archive.JournalEntry{ID: id, Session: session, Time: at, Kind: archive.JournalTask, Data: []byte(`{"subject":"` + text + `"}`)}
	}
	may, june := time.Date(2026, 5, 3, 0, 0, 0, 0, time.UTC), time.Date(2026, 6, 3, 0, 0, 0, 0, time.UTC)
	if err := j.Append(t.Context(), entry("1", "a", "stays", may), entry("2", "b", "secret", may), entry("3", "b", "secret", june)); err != nil {
		t.Fatal(err)
	}
	_, cursor, err := j.Read(t.Context(), sessionlog.JournalCursor{})
	if err != nil {
		t.Fatal(err)
	}
	drop := func(e archive.JournalEntry) bool { return e.Session == "b" }
	for i, want := range []int{2, 0} {
		if n, err := j.Remove(t.Context(), drop); err != nil || n != want {
			t.Fatalf("pass %d: %d entries, %v, want %d", i, n, err, want)
		}
	}
	if err := j.Append(t.Context(), entry("4", "b", "later", june)); err != nil {
		t.Fatal(err)
	}
	all, _, err := j.Read(t.Context(), sessionlog.JournalCursor{})
	if err != nil || len(all) != 2 || all[0].ID != "1" || all[1].ID != "4" {
		t.Errorf("%+v, %v", all, err)
	}
	if fresh, _, err := j.Read(t.Context(), cursor); err != nil || len(fresh) != 1 || fresh[0].ID != "4" {
		t.Errorf("after the cursor: %+v, %v", fresh, err)
	}
	dec, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	for _, month := range []string{"2026-05", "2026-06"} {
		data, err := os.ReadFile(filepath.Join(j.Dir, month+".jsonl.zst"))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := dec.DecodeAll(data, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range [][]byte{data, plain} {
			if bytes.Contains(b, []byte("secret")) {
				t.Errorf("%s still holds the text", month)
			}
		}
	}
	if n, err := (sessionlog.Journal{Dir: filepath.Join(j.Dir, "none")}).Remove(t.Context(), drop); n != 0 || err != nil {
		t.Errorf("no journal: %d, %v", n, err)
	}
}
