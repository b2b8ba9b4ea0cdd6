package capture_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"strandline/internal/capture"
)

func TestPendingCompactions(t *testing.T) {
	t.Parallel()
	const session = "7f3a12cd-0000-4000-8000-000000000000"
	now := time.Now()
	for name, c := range map[string]struct {
		begin, end []string
		after      time.Duration
		want       string
	}{
		"nothing noted: the session itself": {nil, nil, 0, session},
		"the session":                       {[]string{session}, nil, 0, session},
		"its sub-agent":                     {[]string{session + "~ab12"}, nil, 0, session + "~ab12"},
		"asked for twice":                   {[]string{session + "~ab12", session + "~ab12"}, nil, 0, session + "~ab12"},
		"two at a time are ambiguous":       {[]string{session, session + "~ab12"}, nil, 0, ""},
		"one of two has ended":              {[]string{session, session + "~ab12"}, []string{session}, 0, session + "~ab12"},
		"given up long ago":                 {[]string{session + "~ab12"}, nil, time.Hour, session},
		"another session's":                 {[]string{"7f3a12cd-0000-4000-8000-00000000000", session + "1~ab12", session + "x"}, nil, 0, session},
		"what never began ends":             {nil, []string{session, session + "~ab12"}, 0, session},
		"an invalid session id":             {[]string{"../x", "", "a/b"}, []string{"../x", ""}, 0, session},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := capture.PendingCompactions{Dir: filepath.Join(t.TempDir(), "state", "compacting")}
			for _, s := range c.begin {
				if err := u.Begin(s, ""); err != nil {
					t.Fatal(err)
				}
			}
			for _, s := range c.end {
				if _, err := u.End(s, now); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if got := u.Subject(session, now.Add(c.after)); got != c.want {
					t.Errorf("the summary is of %q, want %q", got, c.want)
				}
			}
			if c.after > 0 {
				if left, err := os.ReadDir(u.Dir); err != nil || len(left) > 0 {
					t.Errorf("old notes stay: %v, %v", left, err)
				}
			}
		})
	}
	none := capture.PendingCompactions{}
	if err := none.Begin(session, "x"); err != nil || none.Subject(session, now) != session {
		t.Errorf("without a folder: %v", err)
	}
	if asked, err := none.End(session, now); asked != "" || err != nil {
		t.Errorf("without a folder: %q, %v", asked, err)
	}
}

// TestPendingCompactionInstructions passes instructions from the hook before a
// compaction to the one after it, per subject, once, with a lifetime.
func TestPendingCompactionInstructions(t *testing.T) {
	t.Parallel()
	const session = "7f3a12cd-0000-4000-8000-000000000000"
	now := time.Now()
	u := capture.PendingCompactions{Dir: filepath.Join(t.TempDir(), "compacting")}
	begin := func(subject, text string) {
		t.Helper()
		if err := u.Begin(subject, text); err != nil {
			t.Fatal(err)
		}
	}
	end := func(subject string, after time.Duration, want string) {
		t.Helper()
		if got, err := u.End(subject, now.Add(after)); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", subject, got, err, want)
		}
	}
	begin(session, "Mind the\ntides.")
	begin(session+"~ab", "Mind the gauge.")
	end(session+"~ab", 0, "Mind the gauge.")
	end(session, 0, "Mind the\ntides.")
	end(session, 0, "")
	begin(session, "first")
	begin(session, "") // an automatic one after an abandoned one
	end(session, 0, "")
	begin(session, "old")
	end(session, time.Hour, "")
	begin(session, strings.Repeat("é", 1<<20))
	if got, err := u.End(session, now); len(got) > 64<<10+len("…") || len(got) < 60<<10 || err != nil {
		t.Errorf("%d bytes are kept, %v", len(got), err)
	}
}
