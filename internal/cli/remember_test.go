package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"strandline/internal/recall"
)

// A forgotten note stays forgotten when the index is rebuilt.
func TestForgetNote(t *testing.T) {
	w := newWorld(t)
	w.sessions()
	w.must("import")
	var note recall.Note
	if err := json.Unmarshal([]byte(w.must("remember", "--json", "deploy from the release branch")), &note); err != nil {
		t.Fatal(err)
	}
	w.must("remember", "keep the changelog short")
	if out := w.must("remember", "--forget", note.ID[:6]); !strings.HasPrefix(out, "forgot note "+note.ID) {
		t.Errorf("printed %q", out)
	}
	w.must("reindex")
	if out := w.must("remember", "--list"); strings.Contains(out, "release") || !strings.Contains(out, "changelog") {
		t.Errorf("listed\n%s", out)
	}
	if out := w.must("search", "--all", "release branch"); strings.Contains(out, "note") {
		t.Errorf("found\n%s", out)
	}
}
