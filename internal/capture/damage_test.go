package capture_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/sessionlog"
)

// TestHooksAfterDamageProperty damages a log between two hooks, while the client's file
// grows, is replaced by a new file or by an older copy, or is deleted. What the log had
// outside the damaged frames is exported afterwards, in some generation.
func TestHooksAfterDamageProperty(t *testing.T) {
	whole := transcriptOf(sessionA, 1, 4)
	rows := bytes.SplitAfter(whole, []byte{'\n'})
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		n := 0
		grow := func() {
			k := min(n+rapid.IntRange(1, 12).Draw(rt, "rows"), len(rows))
			w.appendTo(w.path(sessionA), bytes.Join(rows[n:k], nil))
			n = k
		}
		for range rapid.IntRange(1, 4).Draw(rt, "hooks") {
			grow()
			w.hook(sessionA)
		}
		before := bytes.Join(rows[:n], nil)
		data, err := os.ReadFile(w.log(sessionA))
		must(t, err)
		at := rapid.IntRange(0, len(data)-1).Draw(rt, "at")
		for i := range rapid.IntRange(1, 64).Draw(rt, "bytes") {
			data[(at+i)%len(data)] ^= byte(rapid.IntRange(1, 255).Draw(rt, "xor"))
		}
		must(t, os.WriteFile(w.log(sessionA), data, 0o600))
		kept := exported(w, before)

		file := rapid.SampledFrom([]string{"grows", "is new", "is older", "is gone"}).Draw(rt, "the file")
		switch path := w.path(sessionA); file {
		case "is new":
			w.replace(path, before)
		case "is older":
			w.replace(path, bytes.Join(rows[:n/2], nil))
		case "is gone":
			must(t, os.Remove(path))
		}
		if file == "grows" || file == "is new" {
			grow()
		}
		w.hook(sessionA)
		for i, ok := range exported(w, before) {
			if kept[i] && !ok {
				rt.Fatalf("the file %s: row %d was readable before the hook", file, i)
			}
		}
		if file == "grows" || file == "is new" {
			if _, err := w.capture.Verify(t.Context(), "", func(sessionlog.Entry) string { return w.path(sessionA) }); err != nil {
				rt.Fatal(err)
			}
			if got := w.export(sessionA, 0); !bytes.Equal(got, bytes.Join(rows[:n], nil)) {
				rt.Fatalf("the file %s: %d bytes after a repair, want %d", file, len(got), len(bytes.Join(rows[:n], nil)))
			}
		}
	})
}

// exported reports which lines of want some generation has at their place.
func exported(w *world, want []byte) []bool {
	ok := make([]bool, bytes.Count(want, []byte{'\n'}))
	for gen := 1; gen <= 3; gen++ {
		var out bytes.Buffer
		err := w.capture.Export(sessionA, gen, &out)
		if code := archive.ErrorCode(err); code != "" && code != archive.CodeCorrupt && code != archive.CodeNotFound {
			w.t.Fatal(err)
		}
		from := 0
		for i := range ok {
			to := from + bytes.IndexByte(want[from:], '\n') + 1
			ok[i] = ok[i] || to <= out.Len() && bytes.Equal(out.Bytes()[from:to], want[from:to])
			from = to
		}
	}
	return ok
}

// TestUnreadableLogStartsGeneration checks that recording goes on when a log is no log.
func TestUnreadableLogStartsGeneration(t *testing.T) {
	w := newWorld(t)
	whole := transcriptOf(sessionA, 1, 2)
	w.write(w.path(sessionA), whole[:len(whole)/2])
	w.hook(sessionA)
	must(t, os.WriteFile(w.log(sessionA), bytes.Repeat([]byte("not a log "), 2000), 0o600))
	w.write(w.path(sessionA), whole)
	w.hook(sessionA)
	sameBytes(t, "the next generation", w.export(sessionA, 2), whole)
	got, err := os.ReadFile(w.log(sessionA))
	if err != nil || !bytes.HasPrefix(got, []byte("not a log")) {
		t.Errorf("the unreadable file was changed: %v", err)
	}
}

// TestDamagedJournal checks that a damaged entry costs itself only, and that the journal
// goes on.
func TestDamagedJournal(t *testing.T) {
	for _, where := range []float64{0, 0.05, 0.2, 0.5, 0.8, 0.99} {
		w := newWorld(t)
		record := func(text string) {
			t.Helper()
			must(t, w.journal.Record(t.Context(), archive.JournalSummary, sessionA, archive.SummaryFact{Text: text}))
		}
		texts := []string{"one", "two", "three", "four", "five"}
		for _, text := range texts {
			record(text)
		}
		months, err := filepath.Glob(filepath.Join(w.home, "journal", "*.zst"))
		must(t, err)
		data, err := os.ReadFile(months[0])
		must(t, err)
		data[int(where*float64(len(data)))] ^= 0x10
		must(t, os.WriteFile(months[0], data, 0o600))
		record("six")
		entries, err := w.journal.All(t.Context())
		must(t, err)
		var found int
		for _, text := range append(texts, "six") {
			for _, e := range entries {
				if strings.Contains(string(e.Data), `"`+text+`"`) {
					found++
				}
			}
		}
		if found < len(texts) {
			t.Errorf("damage at %.2f: %d of %d entries are left", where, found, len(texts)+1)
		}
		w.withStore("index.db", func(s storeType) { must(t, w.journal.Sync(t.Context(), s)) })
	}
}

func TestManifest(t *testing.T) {
	w := newWorld(t)
	w.family()
	lost := func(session string) (paths []string) {
		t.Helper()
		list, err := w.capture.LostLogs(session, nil)
		must(t, err)
		for _, l := range list {
			paths = append(paths, l.Path)
		}
		return paths
	}
	if got := lost(""); len(got) != 0 {
		t.Fatalf("lost: %v", got)
	}
	layout := sessionlog.Layout{Root: w.home}
	side := layout.Child("claude", "-home-dev-shop", sessionA, "tool-results/b1.txt", 1)
	must(t, os.Remove(side))
	must(t, os.Remove(w.log(sessionA)))
	for _, session := range []string{"", sessionA} {
		if got := lost(session); len(got) != 2 || got[0] != w.log(sessionA) || got[1] != side {
			t.Errorf("lost of %q: %v", session, got)
		}
	}
	if got := lost(sessionB); len(got) != 0 {
		t.Errorf("lost of another session: %v", got)
	}

	// A damaged line is ignored, and a log without a line gets one.
	manifest := filepath.Join(w.home, "manifest")
	data, err := os.ReadFile(manifest)
	must(t, err)
	data[len(data)-5] ^= 1
	must(t, os.WriteFile(manifest, data, 0o600))
	w.write(w.path(sessionB), transcriptOf(sessionB, 2, 1))
	w.hook(sessionB)
	must(t, w.capture.Manifest().Update(t.Context(), nil, nil))
	must(t, os.Remove(w.log(sessionB)))
	if got := lost(sessionB); len(got) != 1 {
		t.Errorf("lost after an update: %v", got)
	}
	must(t, w.capture.Forgotten().Begin(sessionA))
	must(t, w.capture.Manifest().Update(t.Context(), nil, func(path string) bool { return path == w.log(sessionB) }))
	if got := lost(""); len(got) != 0 {
		t.Errorf("lost after both were deleted on purpose: %v", got)
	}
}

// TestLostJournal checks that a month that was deleted, emptied or shortened is named, by
// the sizes in the manifest or by those that the index has.
func TestLostJournal(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"deleted":   os.Remove,
		"emptied":   func(path string) error { return os.Truncate(path, 0) },
		"shortened": func(path string) error { return os.Truncate(path, 300) },
	} {
		w := newWorld(t)
		for range 5 {
			must(t, w.journal.Record(t.Context(), archive.JournalSummary, sessionA, archive.SummaryFact{Text: "a summary"}))
		}
		var indexed map[string]int64
		w.withStore("index.db", func(s storeType) {
			must(t, w.journal.Sync(t.Context(), s))
			var err error
			indexed, err = w.journal.Indexed(t.Context(), s)
			must(t, err)
		})
		months, err := w.journal.Log.Sizes()
		must(t, err)
		if len(months) != 1 || !maps.Equal(indexed, months) {
			t.Fatalf("%s: the index has %v of %v", name, indexed, months)
		}
		lost := func(known map[string]int64) []capture.LostLog {
			list, err := w.capture.LostLogs("", known)
			must(t, err)
			return list
		}
		for path := range months {
			must(t, change(path))
		}
		if got := lost(indexed); len(got) != 1 || got[0].Exists != (name != "deleted") {
			t.Errorf("%s, by the index: %v", name, got)
		}
		must(t, w.capture.Manifest().Update(t.Context(), indexed, nil))
		if got := lost(map[string]int64{}); len(got) != 1 {
			t.Errorf("%s, by the manifest: %v", name, got)
		}
	}
}

// TestRepairedHeaderKeepsOrder checks that a log whose header was lost is not read after
// those with copies of its rows: reindex reads logs in the order of their creation.
func TestRepairedHeaderKeepsOrder(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 2))
	w.hook(sessionA)
	data, err := os.ReadFile(w.log(sessionA))
	must(t, err)
	data[9] ^= 8
	must(t, os.WriteFile(w.log(sessionA), data, 0o600))
	_, err = w.capture.Verify(t.Context(), "", func(sessionlog.Entry) string { return "" })
	must(t, err)
	h, _, err := sessionlog.ReadHeader(w.log(sessionA))
	must(t, err)
	first := regexp.MustCompile(`"timestamp":"([^"]+)"`).FindSubmatch(w.export(sessionA, 1))
	if want, err := time.Parse(time.RFC3339, string(first[1])); err != nil || !h.Created.Equal(want) {
		t.Errorf("created %v, want the time of the first row %s", h.Created, first[1])
	}
}
