package app_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/config"
	"strandline/internal/index/sqlite"
)

// stores opens a world's index, as the program does.
type stores struct{ w *world }

func (s stores) OpenIndex(ctx context.Context, path string, mode app.Mode) (*app.Index, error) {
	store, err := sqlite.Open(ctx, path, sqlite.Options{ReadOnly: mode == app.ReadOnly, Texts: s.w.runner.Capture.ReadPassages})
	if err != nil {
		return nil, err
	}
	return indexOf(store), nil
}

func (stores) OpenTeam(context.Context, app.TeamAddress) (*app.TeamStore, error) {
	return nil, app.ErrNotLinked
}

func (stores) Entries(ctx context.Context, path string) ([]string, error) {
	return sqlite.Entries(ctx, path)
}

func (stores) LinksTeam() bool { return false }

// app returns the world's application.
func (w *world) app() *app.App {
	return app.New(app.Options{
		Home: filepath.Dir(w.home), Cwd: "/home/dev/shop", Now: func() time.Time { return w.clock }, Stores: stores{w},
		Getenv: func(name string) string { return map[string]string{"STRANDLINE_HOME": w.home}[name] },
		NewCapture: func(*config.Config) (*capture.Capture, capture.Journal, error) {
			return w.runner.Capture, w.runner.Journal, nil
		},
		Redactor: func(*config.Config) func(string) string { return hideSecret },
	})
}

// answers returns what a session's restored context, steering text, search and tasks hold.
func answers(t *testing.T, a *app.App, words string) (found []string) {
	t.Helper()
	ctx := t.Context()
	restored, err := a.Restore(ctx, app.ContextQuery{Session: sessionA, Budget: new(9500)})
	if err != nil {
		t.Fatal(err)
	}
	steering, err := a.Preserve(ctx, app.ContextQuery{Session: sessionA, Budget: new(6000)})
	if err != nil {
		t.Fatal(err)
	}
	hits, err := a.Search(ctx, app.SearchQuery{Text: words, Scope: app.Scope{All: true}, Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := a.Tasks(ctx, sessionA, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ name, text string }{{"restore", restored.Text}, {"preserve", steering.Text}} {
		if strings.Contains(x.text, words) {
			found = append(found, x.name)
		}
	}
	for _, h := range hits.Hits {
		if strings.Contains(h.Text, words) {
			found = append(found, "search")
			break
		}
	}
	for _, task := range tasks {
		if strings.Contains(task.Subject+task.Description, words) {
			found = append(found, "tasks")
		}
	}
	return found
}

// The current snapshot of a session is part of its restored context, its steering text, the
// search and, with its tasks, the list of tasks; for 30 days.
func TestSnapshotFeedsAnswers(t *testing.T) {
	w := newWorld(t)
	w.grow(sessionA, 1)
	w.log(sessionA)
	w.clock = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	healthy(t, w.run())
	a := w.app()
	save := func(f archive.SnapshotFact) {
		t.Helper()
		if _, err := a.SaveSnapshot(t.Context(), app.SnapshotDraft{Session: sessionA, SnapshotFact: f}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when, words, want string) {
		t.Helper()
		if got := strings.Join(answers(t, a, words), " "); got != want {
			t.Errorf("%s: %q is in %q, want %q", when, words, got, want)
		}
	}
	save(archive.SnapshotFact{Decisions: []string{"Outdated KESTREL-1"}})
	w.clock = w.clock.Add(time.Minute)
	save(archive.SnapshotFact{
		Summary: "Waiting for HERON-2", Decisions: []string{"Round with OSPREY-3"}, Skills: []string{"EGRET-4"},
		Tasks:    []archive.SnapshotTask{{ID: "1", Subject: "Port PLOVER-5", Status: "running"}, {ID: "2", Subject: "Done", Status: "completed"}},
		Messages: []archive.SnapshotMessage{{From: "lead", Topic: "alert.blocking", Priority: 9, Payload: map[string]any{"why": "secret AVOCET-6"}}},
		Wave:     map[string]any{"wave_number": 3, "name": "BITTERN-7"},
	})
	w.clock = w.clock.Add(time.Minute)
	save(archive.SnapshotFact{Trigger: archive.TriggerProactive, Summary: "Monitor save at 1100KB"})

	filled := app.SnapshotDraft{Session: sessionA, Fill: true, SnapshotFact: archive.SnapshotFact{Trigger: archive.TriggerProactive, AgentID: archive.GuardAgent, Summary: "at 75%"}}
	if _, err := a.SaveSnapshot(t.Context(), filled); err != nil { // nothing was posted but what the archive holds
		t.Fatal(err)
	}

	everywhere := "restore preserve search"
	for _, words := range []string{"HERON-2", "OSPREY-3", "EGRET-4", "AVOCET-6", "BITTERN-7", "priority 9"} {
		check("the current one", words, everywhere)
	}
	check("a task", "Port PLOVER-5", everywhere+" tasks")
	check("an older one", "KESTREL-1", "")
	check("a monitor's", "1100KB", "")
	check("a secret", "secret", "")

	w.clock = w.clock.Add(archive.PostedAge - time.Hour)
	check("after 29 days", "OSPREY-3", everywhere)
	w.clock = w.clock.Add(2 * time.Hour)
	check("after 31 days", "OSPREY-3", "")
	if list, err := a.Snapshots(t.Context(), ""); err != nil || len(list) > 0 {
		t.Errorf("listed: %v, %v", list, err)
	}
	if st := w.run()["posted"]; st.Error != "" || st.Done != 4 {
		t.Errorf("maintenance: %+v", st)
	}
	entries, err := w.runner.Journal.All(t.Context())
	if err != nil || len(entries) > 0 || strings.Contains(w.dump(), "OSPREY") {
		t.Errorf("kept: %v, %v", entries, err)
	}
}
