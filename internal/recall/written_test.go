package recall_test

import (
	"testing"

	"strandline/internal/archive"
	"strandline/internal/recall"
)

// What is typed literally is found literally.
func TestSearchAsWritten(t *testing.T) {
	run := said(alpha, 2, 0, "$ go test -race ./...")
	run.Kind = archive.KindCommand
	s := newStore(
		said(alpha, 1, 0, "a race between two readers, a race that the race detector shows"),
		run,
		said(alpha, 3, 0, "can we delete it? then delete what can be deleted"),
		said(alpha, 4, 0, "call canDeleteBranch(name) first, which asks"),
		said(alpha, 5, 0, "call candeletebranch(name) first"),
		said(alpha, 6, 0, "the count is 1, and 1 is the count"),
		said(alpha, 7, 0, "use -count=1 here"),
	)
	for query, want := range map[string]string{
		"-race":     "aaaaaaaa/2.0",
		"canDelete": "aaaaaaaa/4.0",
		"-count=1":  "aaaaaaaa/7.0",
	} {
		res := mustSearch(t, s, recall.Request{Text: query})
		if len(res.Hits) == 0 || res.Hits[0].Handle != want || res.Relaxed != "" {
			t.Errorf("%s: got %s, relaxed %q; want %s first", query, handles(res.Hits), res.Relaxed, want)
		}
	}
	if res := mustSearch(t, s, recall.Request{Text: "-race=1"}); res.Relaxed != recall.RelaxedWritten {
		t.Errorf("no passage contains it, relaxed %q", res.Relaxed)
	}
	if res := mustSearch(t, s, recall.Request{Text: "the race detector"}); res.Hits[0].Handle != "aaaaaaaa/1.0" {
		t.Errorf("words: got %s", handles(res.Hits))
	}
}

// A query of files alone has no words to be written.
func TestSearchFilesAlone(t *testing.T) {
	edit := said(alpha, 1, 0, "changed it")
	edit.Paths = []string{"/w/pay/retry.go"}
	res := mustSearch(t, newStore(edit), recall.Request{Files: []string{"retry.go"}})
	if len(res.Hits) != 1 || res.Relaxed != "" {
		t.Errorf("got %s, relaxed %q", handles(res.Hits), res.Relaxed)
	}
}

// Code and names are not corrected.
func TestSearchCorrectsNoCode(t *testing.T) {
	s := newStore(said(alpha, 1, 0, "a brief authentication note"))
	for _, req := range []recall.Request{{Text: "O'Brien"}, {Text: "authentcation", AsTyped: true}} {
		if res := mustSearch(t, s, req); len(res.Corrected) > 0 {
			t.Errorf("%s: corrected to %q", req.Text, res.Corrected[0].Sought)
		}
	}
	if res := mustSearch(t, s, recall.Request{Text: "authentcation"}); len(res.Corrected) != 1 {
		t.Error("a typo is not corrected")
	}
}
