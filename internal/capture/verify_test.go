package capture_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/sessionlog"
)

// states is what Verify says of each log, by the log's path below the project's
// folder of the archive; a log that is damaged is "damaged".
func (w *world) states(session string) map[string]string {
	w.t.Helper()
	all, err := w.capture.Verify(context.Background(), session, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	got := map[string]string{}
	for _, v := range all {
		rel, err := filepath.Rel(filepath.Dir(w.log(sessionA)), v.Log)
		if err != nil {
			w.t.Fatal(err)
		}
		state := string(v.Source)
		if v.Err != nil {
			state = "damaged"
		}
		got[filepath.ToSlash(rel)] = state
	}
	return got
}

func TestVerify(t *testing.T) {
	whole := transcriptOf(sessionA, 1, 2)
	tests := []struct {
		name   string
		change func(w *world)
		want   string
	}{
		{"as it was captured", func(*world) {}, "same"},
		{"the client went on", func(w *world) { w.appendTo(w.path(sessionA), []byte("{}\n")) }, "ahead"},
		{"the client deleted it", func(w *world) { must(w.t, os.Remove(w.path(sessionA))) }, "gone"},
		{"its folder was deleted", func(w *world) { must(w.t, os.RemoveAll(w.client)) }, "gone"},
		{"the file is shorter", func(w *world) { must(w.t, os.Truncate(w.path(sessionA), 100)) }, "older"},
		{"emptied", func(w *world) { must(w.t, os.Truncate(w.path(sessionA), 0)) }, "older"},
		{"one byte in the middle is another", func(w *world) {
			changed := append([]byte{}, whole...)
			changed[len(changed)/2] ^= 1
			w.write(w.path(sessionA), changed)
		}, "differs"},
		{"it continues after another beginning", func(w *world) {
			w.write(w.path(sessionA), append([]byte("x"), whole...))
		}, "differs"},
		{"a folder has its name", func(w *world) {
			must(w.t, os.Remove(w.path(sessionA)))
			must(w.t, os.Mkdir(w.path(sessionA), 0o700))
		}, "unread"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.write(w.path(sessionA), whole)
			w.hook(sessionA)
			c.change(w)
			got := w.states("")
			if len(got) != 1 || got[sessionA+".jsonl.zst"] != c.want {
				t.Errorf("got %v, want %q", got, c.want)
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestVerifyOlderGenerations(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 2))
	w.hook(sessionA)
	w.write(w.path(sessionA), transcriptOf(sessionA, 9, 1))
	w.hook(sessionA)
	must(t, os.Remove(w.path(sessionA)))
	got := w.states("")
	if got[sessionA+".jsonl.zst"] != "superseded" || got[sessionA+".g2.jsonl.zst"] != "gone" {
		t.Errorf("got %v", got)
	}
}

func TestVerifyOneSession(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(sessionB), transcriptOf(sessionB, 3, 1))
	w.hook(sessionB)
	w.family()
	want := map[string]string{
		sessionA + ".jsonl.zst":                              "same",
		sessionA + "/subagents/agent-a2c37f95.jsonl.zst":     "same",
		sessionA + "/subagents/agent-a2c37f95.meta.json.zst": "same",
		sessionA + "/tool-results/b1.txt.zst":                "same",
	}
	for _, id := range []string{sessionA, sessionA + "@1", sessionA + "~a2c37f95"} {
		got := w.states(id)
		if len(got) != len(want) {
			t.Errorf("%s: %v", id, got)
		}
		for log, state := range want {
			if got[log] != state {
				t.Errorf("%s: %s is %q", id, log, got[log])
			}
		}
	}
	if got := w.states(""); len(got) != len(want)+1 {
		t.Errorf("of two sessions: %v", got)
	}
	if got := w.states("no-such-session"); len(got) != 0 {
		t.Errorf("of none: %v", got)
	}
}

// TestVerifyDamage checks that damage in one log is reported with its place, the others
// are checked, and a repair takes what is missing from the client's file.
func TestVerifyDamage(t *testing.T) {
	for _, c := range []struct {
		name  string
		where float64 // of the log
		want  string
		holes int
	}{
		{"in the header", 0, "damaged", 0},
		{"in an append that two others follow", 0.2, "damaged", 1},
		{"in the last append", 0.97, "damaged", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			whole := transcriptOf(sessionA, 1, 3)
			for _, part := range [][]byte{whole[:len(whole)/3], whole[len(whole)/3 : 2*len(whole)/3], whole[2*len(whole)/3:]} {
				w.appendTo(w.path(sessionA), part)
				w.hook(sessionA)
			}
			w.write(w.path(sessionB), transcriptOf(sessionB, 2, 3))
			w.hook(sessionB)
			data, err := os.ReadFile(w.log(sessionA))
			must(t, err)
			data[int(c.where*float64(len(data)))] ^= 0x40
			must(t, os.WriteFile(w.log(sessionA), data, 0o600))
			if got := w.states(""); got[sessionA+".jsonl.zst"] != c.want || got[sessionB+".jsonl.zst"] != "same" {
				t.Errorf("got %v, want %q", got, c.want)
			}
			all, err := w.capture.Verify(t.Context(), sessionA, nil)
			if err != nil || len(all) != 1 || len(all[0].Report.Holes) != c.holes {
				t.Errorf("checked %+v, %v", all, err)
			}
			all, err = w.capture.Verify(t.Context(), "", func(sessionlog.Entry) string { return w.path(sessionA) })
			if err != nil || len(all) != 2 || all[0].Err != nil || !all[0].Repair.Done || all[0].Source != capture.SourceSame || all[1].Repair.Done {
				t.Errorf("repaired %+v, %v", all, err)
			}
			sameBytes(t, "repaired log", w.export(sessionA, 0), whole)
			if got, want := w.dump("index.db"), w.reindex("other.db"); got != want {
				t.Errorf("index: %s", firstDifference(got, want))
			}
		})
	}
}

func TestVerifyEmptyArchive(t *testing.T) {
	w := newWorld(t)
	if got := w.states(""); len(got) != 0 {
		t.Errorf("an archive that does not exist: %v", got)
	}
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
	w.hook(sessionA)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.capture.Verify(ctx, "", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestAgentsOfOlderClients captures sub-agents' transcripts beside those of sessions, as
// older clients store them; their rows name the parent.
func TestAgentsOfOlderClients(t *testing.T) {
	w := newWorld(t)
	agent := []byte(strings.ReplaceAll(string(transcriptOf(sessionA, 4, 1)), `"isSidechain":false`, `"isSidechain":true,"agentId":"a1b2"`))
	at := w.path("agent-a1b2")
	w.write(at, agent)
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
	w.bulk()
	sameBytes(t, "the agent's log", w.export(sessionA+"~a1b2", 0), agent)
	sameBytes(t, "the parent's log", w.export(sessionA, 0), transcriptOf(sessionA, 1, 1))
	w.withStore("index.db", func(s storeType) {
		run, err := s.Session(t.Context(), sessionA+"~a1b2")
		if err != nil || run.Parent != sessionA || run.Relation != archive.RelationAgent || run.Agent.ID != "a1b2" || run.Turns == 0 {
			t.Errorf("the run: %+v, %v", run, err)
		}
		if _, err := s.Session(t.Context(), "agent-a1b2"); archive.ErrorCode(err) != archive.CodeNotFound {
			t.Errorf("the file's name is a session: %v", err)
		}
	})
	w.appendTo(at, transcriptOf(sessionA, 6, 1))
	w.bulk()
	if got, want := w.dump("index.db"), w.reindex("other.db"); got != want {
		t.Errorf("index: %s", firstDifference(got, want))
	}
	for _, id := range []string{"", sessionA, sessionA + "~a1b2"} {
		if got := w.states(id); got["agent-a1b2.jsonl.zst"] != "same" || len(got) != 2 {
			t.Errorf("verified %q: %v", id, got)
		}
	}
	w.write(w.path("agent-ffff"), []byte(strings.ReplaceAll(string(agent), sessionA, sessionB))) // of another session
	w.bulk()
	agent, err := os.ReadFile(at)
	must(t, err)
	for _, id := range []string{sessionA, sessionA + "~a1b2"} {
		to := t.TempDir()
		if _, err := w.capture.Rebuild(t.Context(), id, capture.Rebuilding{Dir: to}); err != nil {
			t.Fatal(err)
		}
		sameTree(t, tree(t, to), map[string][]byte{
			"-home-dev-shop/" + sessionA + ".jsonl": transcriptOf(sessionA, 1, 1), "-home-dev-shop/agent-a1b2.jsonl": agent,
		})
	}
}

// TestFileWithoutAgent checks that rows without valid ids leave a file under its own
// name.
func TestFileWithoutAgent(t *testing.T) {
	for name, rows := range map[string]string{
		"no agent":               `{"type":"user","sessionId":"` + sessionA + `","cwd":"/w","timestamp":"2026-11-20T10:00:00Z","message":{"role":"user","content":"x"}}`,
		"an agent that climbs":   `{"type":"user","sessionId":"` + sessionA + `","agentId":"../a","cwd":"/w","timestamp":"2026-11-20T10:00:00Z"}`,
		"a session that climbs":  `{"type":"user","sessionId":"../x","agentId":"a1","cwd":"/w","timestamp":"2026-11-20T10:00:00Z"}`,
		"an agent of no session": `{"type":"user","agentId":"a1","cwd":"/w","timestamp":"2026-11-20T10:00:00Z"}`,
		"nothing at all":         `{}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			at := w.path("agent-a1")
			w.write(at, []byte(rows+"\n"))
			logged, err := w.capture.Log(t.Context(), capture.Source{Path: at, Session: "agent-a1"})
			if err != nil || logged.Session != "agent-a1" || logged.Added == 0 {
				t.Errorf("logged %+v, %v", logged, err)
			}
		})
	}
}

// TestAgentWithoutParent checks that a sub-agent's run is found without its parent's
// transcript, which the client may write later or delete.
func TestAgentWithoutParent(t *testing.T) {
	w := newWorld(t)
	rel := "subagents/agent-a2c37f95.jsonl"
	agent := []byte(strings.ReplaceAll(string(transcriptOf(sessionA, 4, 1)), `"isSidechain":false`, `"isSidechain":true,"agentId":"a2c37f95"`))
	path := filepath.Join(w.client, "-home-dev-shop", sessionA, filepath.FromSlash(rel))
	w.write(path, agent)
	w.write(filepath.Join(w.client, "-home-dev-other", sessionB+".jsonl"), transcriptOf(sessionB, 1, 1)) // another folder to look in
	w.bulk(filepath.Join(w.client, "-home-dev-other"))
	got, err := w.capture.LogSession(t.Context(), w.source(sessionA), true)
	if err != nil || !got.Missing || len(got.Sessions) != 1 || got.Sessions[0].Session != sessionA+"~a2c37f95" || got.Added != int64(len(agent)) {
		t.Fatalf("captured %+v, %v", got, err)
	}
	w.withStore("index.db", func(s storeType) {
		must(t, w.capture.IndexAll(t.Context(), s, got.Sessions))
		run, err := s.Session(t.Context(), sessionA+"~a2c37f95")
		if err != nil || run.Turns == 0 || run.Parent != sessionA {
			t.Errorf("the run: %+v, %v", run, err)
		}
	})
	sameBytes(t, "the agent's log", w.export(sessionA+"~a2c37f95", 0), agent)
	if _, err := w.capture.Open(sessionA+"~ffff", 0); archive.ErrorCode(err) != archive.CodeNotFound {
		t.Errorf("another agent: %v", err)
	}
}
