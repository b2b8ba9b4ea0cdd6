package cli

import (
	"strings"
	"testing"

	"strandline/internal/app"
	"strandline/internal/archive"
)

func TestDoctorReportsDiskSpace(t *testing.T) {
	for name, c := range map[string]struct {
		free int64
		want string
	}{
		"full":                       {1 << 20, "the disk is full"},
		"nearly full":                {100 << 20, "are left on the disk"},
		"enough free space":          {10 << 30, ""},
		"the system does not say so": {0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.sessions()
			w.must("import")
			w.free = c.free
			code, out, _ := w.run("doctor")
			warned := strings.Contains(out, "disk")
			if warned != (c.want != "") || !strings.Contains(out, c.want) {
				t.Errorf("exit code %d, printed\n%s", code, out)
			}
		})
	}
}

func TestStatusPrintsMemory(t *testing.T) {
	w := newWorld(t)
	w.sessions()
	w.must("import")
	share := func(v float64) *float64 { return &v }
	var out strings.Builder
	a := newCommands(w.options(&out, &out))
	for _, c := range []struct {
		name string
		st   app.Status
		want []string
	}{
		{"nothing is known", app.Status{}, nil},
		{"all is well", app.Status{Memory: app.Memory{Health: share(0.86), Captured: share(1), Indexed: share(1), Used: share(0.58), Measured: 3}},
			[]string{"█████████░ 86%", "100%  of the client's files", " 58%  of the places that 3 compactions restored"}},
		{"files are not up to date", app.Status{Uncaptured: 2, Unindexed: 1, Memory: app.Memory{Health: share(0.4), Captured: share(0.5), Indexed: share(0.3), Embedded: share(0.25)}},
			[]string{"████░░░░░░ 40%", "strandline import", "strandline maintain", " 25%  of the passages"}},
	} {
		out.Reset()
		a.printMemory(c.st)
		if c.want == nil && out.Len() > 0 {
			t.Errorf("%s: %s", c.name, out.String())
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, out.String())
			}
		}
	}
}

// Of a transcript that was rewritten there is one session and an earlier
// generation of it.
func TestStatusCountsGenerations(t *testing.T) {
	w := newWorld(t)
	w.sessions()
	w.must("import")
	before := w.must("stats")
	s, err := testStores{}.OpenIndex(t.Context(), w.path("archive", "index.db"), app.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Sessions(t.Context(), archive.SessionFilter{Limit: 1})
	if err != nil || len(list) == 0 {
		t.Fatal(err)
	}
	if err := s.Retire(t.Context(), list[0].ID, 1); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if out := w.must("status"); !strings.Contains(out, "kept        1 session and") || !strings.Contains(out, "1 earlier generation") {
		t.Errorf("printed\n%s", out)
	}
	if after := w.must("stats"); after == before {
		t.Errorf("stats count it still:\n%s", after)
	}
}
