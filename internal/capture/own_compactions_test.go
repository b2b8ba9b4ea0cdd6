package capture_test

import (
	"path/filepath"
	"testing"
	"time"

	"strandline/internal/capture"
)

func TestOwnCompactions(t *testing.T) {
	t.Parallel()
	const session = "7f3a12cd-0000-4000-8000-000000000000"
	a := capture.OwnCompactions{Dir: filepath.Join(t.TempDir(), "state", "compacted")}
	now := time.Now()
	if a.Take(session, now) {
		t.Error("nothing was noted")
	}
	for _, id := range []string{session, session + "~ab12"} {
		if err := a.Note(id); err != nil {
			t.Fatal(err)
		}
	}
	if a.Take(session+"~ff", now) || !a.Take(session, now) || a.Take(session, now) {
		t.Error("a note counts for its session, once")
	}
	if a.Take(session+"~ab12", now.Add(time.Hour)) || a.Take(session+"~ab12", now) {
		t.Error("an old note counts, or stays")
	}
	for _, id := range []string{"", "../../etc/passwd", ".."} {
		if err := a.Note(id); err != nil || a.Take(id, now) {
			t.Errorf("%q is noted: %v", id, err)
		}
	}
	if err := (capture.OwnCompactions{}).Note(session); err != nil || (capture.OwnCompactions{}).Take(session, now) {
		t.Errorf("without a folder: %v", err)
	}
}
