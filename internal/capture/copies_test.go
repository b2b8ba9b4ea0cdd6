package capture_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"strandline/internal/capture"
)

// TestCopyStartsNoGeneration captures a backup of the client's folder with older states
// of current sessions.
func TestCopyStartsNoGeneration(t *testing.T) {
	row := func(text string) string {
		return `{"type":"user","message":{"role":"user","content":"` + text + `"}}` + "\n"
	}
	whole := row("one") + row("two") + row("three")
	for _, tt := range []struct {
		name, copied string
		generations  int
	}{
		{"the same", whole, 1},
		{"an older state", row("one") + row("two"), 1},
		{"cut within a row", whole[:len(whole)-7], 1},
		{"with other rows", row("one") + row("other"), 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			const id = "7f3a12cd-0000-4000-8000-000000000001"
			w.write(w.path(id), []byte(whole))
			backup := filepath.Join(w.client, "backup", id+".jsonl")
			w.write(backup, []byte(tt.copied))
			elsewhere, err := capture.TranscriptSource(backup, id, "")
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				for _, src := range []capture.Source{w.source(id), elsewhere} {
					if _, err := w.capture.Log(t.Context(), src); err != nil {
						t.Fatal(err)
					}
				}
			}
			logs, err := w.capture.Layout.Find("claude", id)
			if err != nil || len(logs) != tt.generations {
				t.Errorf("%d generations, %v; want %d", len(logs), err, tt.generations)
			}
			for path, size := range map[capture.Source]int{w.source(id): len(whole), elsewhere: len(tt.copied)} {
				if isNew, err := w.capture.HasNewBytes(path, int64(size)); isNew || err != nil {
					t.Errorf("%s has new bytes: %v, %v", path.Path, isNew, err)
				}
			}
			if tt.generations > 1 {
				return // the copy is the newer one
			}
			w.appendTo(w.path(id), []byte(row("four")))
			if _, err := w.capture.Log(t.Context(), w.source(id)); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := w.capture.Export(id, 0, &out); err != nil || !strings.HasSuffix(out.String(), whole+row("four")) {
				t.Errorf("exported %q, %v", out.String(), err)
			}
		})
	}
}

// TestOlderCopyStartsNoGeneration checks that an older copy in the place of the file never
// shortens what is exported, until it gets other rows.
func TestOlderCopyStartsNoGeneration(t *testing.T) {
	w := newWorld(t)
	const id = "7f3a12cd-0000-4000-8000-000000000001"
	for _, c := range []struct{ file, exported string }{
		{"{\"a\":1}\n{\"a\":2}\n", "{\"a\":1}\n{\"a\":2}\n"},
		{"{\"a\":1}\n", "{\"a\":1}\n{\"a\":2}\n"},
		{"{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n", "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n"},
		{"{\"a\":1}\n{\"b\":2}\n", "{\"a\":1}\n{\"b\":2}\n"},
	} {
		w.write(w.path(id), []byte(c.file))
		if _, err := w.capture.Log(t.Context(), w.source(id)); err != nil {
			t.Fatal(err)
		}
		if isNew, err := w.capture.HasNewBytes(w.source(id), int64(len(c.file))); isNew || err != nil {
			t.Errorf("new bytes: %v, %v", isNew, err)
		}
		var out bytes.Buffer
		if err := w.capture.Export(id, 0, &out); err != nil || out.String() != c.exported {
			t.Errorf("exported %q, %v", out.String(), err)
		}
	}
}
