package eval

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/index/sqlite"
	"strandline/internal/recall"
)

// What confidence does to the rankings of some questions: right after the last
// session of their project, a year later, and a year later when a turn was used in
// the last hours. An index that learns of the use before it learns of the sessions
// says the same.
func TestGoldenConfidence(t *testing.T) {
	ctx := t.Context()
	s, err := own(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := &s.groups[0]
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	talks, _, err := readTalks(ownSessions)
	if err != nil {
		t.Fatal(err)
	}
	var last time.Time
	for _, x := range talks {
		if x.cwd == "/home/dev/shop" {
			last = x.start.Add(2 * time.Hour)
		}
	}
	later := last.AddDate(1, 0, 0)

	var out strings.Builder
	report := func(w *world, now time.Time) {
		for _, q := range []string{"what does the test check", "why is the index so slow"} {
			req, err := recall.Parse(q, now)
			if err != nil {
				t.Fatal(err)
			}
			res, err := Lexical(func() time.Time { return now }).search(ctx, w, req)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%s\n", q)
			for _, h := range res.Hits[:min(5, len(res.Hits))] {
				text, _ := recall.Snippet(h.Text, res.Terms, 50)
				fmt.Fprintf(&out, "  %-8s %.3f sure %.3f %s\n", g.answers(h)[0], h.Score, h.Why.Sure, text)
			}
		}
	}
	fmt.Fprintf(&out, "# right after the project's last session\n\n")
	report(g.world, last)
	fmt.Fprintf(&out, "\n# a year later\n\n")
	report(g.world, later)

	// The third hit of the first question is given to the model and used, again and again.
	req, err := recall.Parse("what does the test check", later)
	if err != nil {
		t.Fatal(err)
	}
	res, err := Lexical(func() time.Time { return later }).search(ctx, g.world, req)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(archive.AccessFact{Refs: []archive.Ref{res.Hits[2].Ref}, How: archive.AccessUsed})
	if err != nil {
		t.Fatal(err)
	}
	var used []archive.JournalEntry
	for i := range 7 {
		used = append(used, archive.JournalEntry{
			ID: fmt.Sprint("used", i), Time: later.Add(-time.Duration(i+1) * time.Hour), Kind: archive.JournalAccess, Session: res.Hits[2].Session, Data: data,
		})
	}

	var reports []string
	for _, journalFirst := range []bool{false, true} {
		home := t.TempDir()
		index := filepath.Join(home, "index.db")
		if journalFirst {
			learn(t, index, used)
		}
		client := filepath.Join(t.TempDir(), "client")
		if _, err := write(client, talks); err != nil {
			t.Fatal(err)
		}
		w, err := build(ctx, home, client)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.store.Close(); err != nil {
			t.Fatal(err)
		}
		if !journalFirst {
			learn(t, index, used)
		}
		store, err := sqlite.Open(ctx, index, sqlite.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		w.store = store
		before := out.Len()
		report(w, later)
		reports = append(reports, out.String()[before:])
		kept := out.String()[:before]
		out.Reset()
		out.WriteString(kept)
		if err := w.store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if reports[0] != reports[1] {
		t.Errorf("the index updated first prints\n%s\nthe other\n%s", reports[1], reports[0])
	}
	fmt.Fprintf(&out, "\n# a year later, the third of the first question was used seven times in seven hours\n\n%s", reports[0])

	path := filepath.Join("testdata", "confidence.txt")
	if updating() {
		writeFile(t, path, out.String())
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("the rankings differ from %s; look at the diff after: go test ./bench/eval -run Golden -update\n%s", path, out.String())
	}
}

// learn lets an index know of journal entries.
func learn(t *testing.T, index string, entries []archive.JournalEntry) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), index, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.ApplyJournal(t.Context(), entries, []byte("1")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
