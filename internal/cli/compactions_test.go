package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"strandline/bench/synth"
	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/config"
	"strandline/internal/text"
)

const (
	sessionC = "c0ffee12-0000-4000-8000-000000000003"
	sessionD = "d1ce0042-0000-4000-8000-000000000004"
)

// compactedWorld has a session that was compacted twice, with a restored
// context the second time, and one that ends with its compaction.
func compactedWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.session(sessionC, "/home/dev/shop", noon().Add(-3*time.Hour), func(s *synth.Session) {
		w.build(s, "Build the retry of payments", "retry_delay", "maxBackoff", "gateway/client.go")
		s.Compact("auto", 167_000, 9_000, "The user builds a retry of payments: maxBackoff in gateway/client.go is 4500 ms now.")
		w.build(s, "Go on", "retry_delay", "maxBackoff", "gateway/client.go")
		s.Wait(time.Hour)
		s.Compact("manual", 31_000, 400, "The user builds a retry of payments.")
		w.build(s, "And the tests", "retry_delay", "maxBackoff", "gateway/client.go")
	})
	w.session(sessionD, "/home/dev/elsewhere", noon().Add(-time.Hour), func(s *synth.Session) {
		w.build(s, "Look around", "page_size", "lastPage", "web/list.tsx")
		s.Compact("auto", 155_000, 0, "The user looked around.")
	})
	w.must("import")
	return w
}

// build is a turn in which a dozen names are read, said and used.
func (w *world) build(s *synth.Session, prompt, name, other, file string) {
	w.t.Helper()
	s.Prompt(prompt + ": " + name + " has to follow " + other)
	for i := range 6 {
		s.Say(fmt.Sprintf("The decision is that %s_%d lives in %s beside %s%c, because step%dConfig loads it first.", name, i, file, other, 'A'+i, i))
		call := s.Use("Bash", synth.Row{}.Str("command", fmt.Sprintf("go test ./pay -run TestRetry_%d --count-each", i)))
		s.Respond()
		s.Answer(call, fmt.Sprintf("Exit code 1\n--- FAIL: TestRetry_%d\nretry_test.go:41: waited 0s", i), true, nil)
	}
	s.Say("The retry doubles now.")
	s.Respond()
	s.EndTurn()
}

// give notes in the journal what was given back to the newest compaction.
func (w *world) give(handles ...string) {
	w.t.Helper()
	_, journal, err := newCapture(&config.Config{Paths: config.Paths{Home: w.path("archive")}})
	if err != nil {
		w.t.Fatal(err)
	}
	var list []app.Compaction
	if err := json.Unmarshal([]byte(w.must("compactions", "--session", sessionC, "--json", "-n", "1")), &list); err != nil {
		w.t.Fatal(err)
	}
	journal.Now = func() time.Time { return list[0].Time.Add(-time.Second) }
	fact := archive.InjectedFact{Event: "SessionStart/compact", Chars: 3000, Handles: handles}
	if err := journal.Record(w.t.Context(), archive.JournalInjected, sessionC, fact); err != nil {
		w.t.Fatal(err)
	}
	w.must("maintain")
}

func TestGoldenCompactions(t *testing.T) {
	w := compactedWorld(t)
	w.give("c0ffee12/0.0", "c0ffee12/0.3", "c0ffee12/9")
	w.rest()
	var got bytes.Buffer
	for _, args := range [][]string{
		{"compactions"}, {"compactions", "--project", "/home/dev/shop"}, {"compactions", "--all"}, {"compactions", "--session", "c0ffee12", "-n", "1", "--json"}, {"compactions", "--session", "d1ce0042", "--json"},
		{"compactions", "--project", "nowhere"}, {"compactions", "--session", "ffffffff"}, {"compactions", "-n", "-1"}, {"compactions", "--all", "--project", "x"}, {"status"},
	} {
		code, out, errOut := w.run(args...)
		fmt.Fprintf(&got, "$ strandline %s\n%s%s", strings.Join(args, " "), out, errOut)
		if code != ExitOK {
			fmt.Fprintf(&got, "[exit code %d]\n", code)
		}
		got.WriteByte('\n')
	}
	compare(t, "compactions", got.String())
}

func TestCompactionsFitTheTerminal(t *testing.T) {
	w := compactedWorld(t)
	for line := range strings.Lines(w.must("compactions", "--all")) {
		if n := text.Cells(strings.TrimRight(line, "\n")); n > w.width {
			t.Errorf("%d cells: %s", n, line)
		}
	}
}

func TestStatusReportsCompactions(t *testing.T) {
	w := compactedWorld(t)
	var before, after app.Status
	if err := json.Unmarshal([]byte(w.must("status", "--json")), &before); err != nil {
		t.Fatal(err)
	}
	if m := before.Measured; m == nil || m.Compactions != 2 || m.Kept <= 0 || m.Together != m.Kept {
		t.Errorf("with nothing given back: %+v", m)
	}
	w.give("c0ffee12/0.0")
	if err := json.Unmarshal([]byte(w.must("status", "--json")), &after); err != nil {
		t.Fatal(err)
	}
	if m := after.Measured; m == nil || m.Kept != before.Measured.Kept || m.Together <= m.Kept {
		t.Errorf("with a block given back: %+v", m)
	}
}

// What was measured is on note until something that it was measured of changes.
func TestCompactionsAreMeasuredOnce(t *testing.T) {
	w := compactedWorld(t)
	kept := func() float64 {
		t.Helper()
		var list []app.Compaction
		if err := json.Unmarshal([]byte(w.must("compactions", "--session", sessionC, "--json", "-n", "1")), &list); err != nil || len(list) != 1 || list[0].Kept == nil {
			t.Fatalf("%+v, %v", list, err)
		}
		return *list[0].Kept
	}
	first := kept()
	path := w.path("archive", "state", "outcomes", sessionC)
	tamper := func(content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	note, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	known := regexp.MustCompile(`"Told":true,"Kept":[0-9.]+`).ReplaceAllString(string(note), `"Told":true,"Kept":0.125`)
	tamper(known)
	if got := kept(); math.Abs(got-0.125) > 1e-9 {
		t.Errorf("kept %v, want the value in the note", got)
	}
	w.give("c0ffee12/0.0")
	if got := kept(); got != first {
		t.Errorf("kept %v after a block was given, want %v", got, first)
	}
	for _, broken := range []string{"", "{", "null", `{"0":{}}`, strings.ReplaceAll(known, `"version":"1.2.3"`, `"version":"1.2.2"`)} {
		tamper(broken)
		if got := kept(); got != first {
			t.Errorf("kept %v with the note %.20q, want %v", got, broken, first)
		}
	}
}
