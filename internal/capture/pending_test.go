package capture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/capture"

	"golang.org/x/sync/errgroup"
)

func TestPending(t *testing.T) {
	p := capture.Pending{Dir: filepath.Join(t.TempDir(), "pending")}
	if p.Any() {
		t.Error("notes in a folder that does not exist")
	}
	for _, session := range []string{"b", "a", "b"} {
		if err := p.Add(capture.PendingWork{Session: session, Transcript: "/x/" + session + ".jsonl"}); err != nil {
			t.Fatal(err)
		}
	}
	listed, err := p.List()
	if err != nil || len(listed) != 2 || listed[0].Session != "a" || listed[1].Transcript != "/x/b.jsonl" {
		t.Errorf("listed %+v, %v", listed, err)
	}
	taken, err := p.Take()
	if err != nil || len(taken) != 2 {
		t.Fatalf("taken %+v, %v", taken, err)
	}
	// A session stays pending while a process works on it. If that process is
	// killed, the session is taken again.
	if !p.Any() {
		t.Error("nothing is pending while two are worked on")
	}
	if err := p.Done(taken[0]); err != nil {
		t.Fatal(err)
	}
	if err := p.Add(capture.PendingWork{Session: "c", Transcript: "/x/c.jsonl"}); err != nil {
		t.Fatal(err)
	}
	again, err := p.Take()
	if err != nil || len(again) != 2 || again[0].Session != "b" || again[1].Session != "c" {
		t.Errorf("taken again %+v, %v", again, err)
	}
	for _, w := range again {
		if err := p.Done(w); err != nil {
			t.Fatal(err)
		}
	}
	if p.Any() {
		t.Error("something is pending after all was done")
	}
	if err := p.Done(again[0]); err != nil {
		t.Errorf("done twice: %v", err)
	}
}

func TestInvalidPendingFiles(t *testing.T) {
	p := capture.Pending{Dir: t.TempDir()}
	if err := p.Add(capture.PendingWork{Session: "../x"}); archive.ErrorCode(err) != archive.CodeInvalid {
		t.Errorf("a session that climbs: %v", err)
	}
	for name, text := range map[string]string{"half": `{"session":"ha`, "other": `{"session":"x"}`, ".hidden": "x"} {
		if err := os.WriteFile(filepath.Join(p.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if listed, err := p.List(); err != nil || len(listed) != 0 {
		t.Errorf("listed %+v, %v", listed, err)
	}
	taken, err := p.Take()
	if err != nil || len(taken) != 2 || taken[0].Transcript != "" {
		t.Errorf("taken %+v, %v", taken, err)
	}
	for _, w := range taken {
		if err := p.Done(w); err != nil {
			t.Fatal(err)
		}
	}
	if p.Any() {
		t.Error("damaged notes stay for ever")
	}
}

// Two processes take the same sessions: a note that the other one has removed is not a
// damaged one.
func TestPendingTakenByTwo(t *testing.T) {
	p := capture.Pending{Dir: t.TempDir()}
	work := capture.PendingWork{Session: "7f3a12cd", Transcript: "/w/7f3a12cd.jsonl"}
	var group errgroup.Group
	for range 2 {
		group.Go(func() error {
			for range 500 {
				if err := p.Add(work); err != nil {
					return err
				}
				taken, err := p.Take()
				if err != nil {
					return err
				}
				for _, w := range taken {
					if w != work {
						return fmt.Errorf("took %+v", w)
					}
					if err := p.Done(w); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}
