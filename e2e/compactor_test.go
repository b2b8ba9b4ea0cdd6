package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"strandline/e2e/mockapi"
	"strandline/internal/text"
)

// In these tests strandline replaces the client's compaction through its plugin.

// uncompacted fails the test if the client asked the model for a summary.
func (s *sandbox) uncompacted() {
	s.t.Helper()
	for _, req := range s.api.Requests() {
		if req.Kind == mockapi.Compaction {
			s.t.Errorf("the client asked the model for a summary: %s", tail(req.Text()))
		}
	}
}

// checkPairs fails the test unless every result in a request answers a call in
// it, and every call is answered once.
func checkPairs(t *testing.T, req *mockapi.Request) {
	t.Helper()
	var calls, answers []string
	for _, m := range req.Messages {
		for _, b := range m.Blocks {
			switch {
			case b.ToolUseID != "":
				answers = append(answers, b.ToolUseID)
			case b.Type == "tool_use":
				calls = append(calls, b.ID)
			}
		}
	}
	slices.Sort(calls)
	slices.Sort(answers)
	if !slices.Equal(calls, answers) {
		t.Errorf("calls %v, results %v", calls, answers)
	}
}

// ours returns the records in a request that replace a conversation.
func ours(req *mockapi.Request) []string {
	var list []string
	blocks, _ := records(req.Text())
	for _, b := range blocks {
		if text.HasReplacement(b) {
			list = append(list, b)
		}
	}
	return list
}

// TestPluginCompactsByHand compacts between two turns.
func TestPluginCompactsByHand(t *testing.T) {
	t.Parallel()
	s, id := planted(t, (*sandbox).installPlugin)

	s.resume(id, "/compact mind the tides").mustSucceed()
	next := s.resume(id, nextPrompt).mustAnswer("54177, down.").undisturbed()

	s.uncompacted()
	req := next.request(mockapi.Turn, 0)
	checkPairs(t, req)
	if all := ours(req); len(all) != 1 || !strings.Contains(req.Text(), portFact) || !strings.Contains(all[0], "mind the tides") {
		t.Errorf("the records in the next request: %q", all)
	}
	if blocks, _ := records(req.Text()); len(blocks) != 1 {
		t.Errorf("%d blocks of ours in the next request, want the record alone", len(blocks))
	}
	s.checkExported()
}

// TestPluginCompactsInAToolLoop fills the context in the middle of a turn.
func TestPluginCompactsInAToolLoop(t *testing.T) {
	t.Parallel()
	s, id := planted(t, (*sandbox).installPlugin)

	loop := s.resume(id, loopPrompt).mustAnswer("All done.").undisturbed()

	if got, want := strings.Join(loop.compactions(), " "), "auto"; got != want {
		t.Fatalf("compactions of the tool loop: %s, want %s", got, want)
	}
	s.uncompacted()
	last := loop.requests[len(loop.requests)-1]
	checkPairs(t, last)
	if text := last.Text(); !strings.Contains(text, portFact) || !strings.Contains(text, loopPrompt) || len(ours(last)) != 1 {
		t.Errorf("the request after the compaction ends: %s", tail(text))
	}
	calls, thoughts := 0, 0 // the turn continues: each of its calls follows its thinking
	for _, m := range last.Messages {
		for _, b := range m.Blocks {
			switch b.Type {
			case "tool_use":
				calls++
			case "thinking":
				thoughts++
			}
		}
	}
	if calls < 4 || thoughts < 4 || thoughts > calls {
		t.Errorf("%d calls and %d blocks of thinking after the compaction", calls, thoughts)
	}
	next := s.resume(id, nextPrompt).mustAnswer("54177, down.").undisturbed()
	if !strings.Contains(next.request(mockapi.Turn, 0).Text(), portFact) {
		t.Error("the resumed session has lost the fact")
	}
	s.uncompacted()
	s.checkExported()
}

// TestPluginCompactsWhenTheAPIRefuses is the compaction that comes when the
// conversation is too long for the API.
func TestPluginCompactsWhenTheAPIRefuses(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.installPlugin()
	id := newSession(t)
	s.scriptStory()
	s.api.On(nextPrompt, mockapi.TooLong(), mockapi.Say("54177."))
	s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed()

	next := s.resume(id, nextPrompt).mustAnswer("54177.").undisturbed()

	if got, want := strings.Join(next.compactions(), " "), "auto"; got != want {
		t.Fatalf("compactions: %s, want %s", got, want)
	}
	s.uncompacted()
	last := next.requests[len(next.requests)-1]
	checkPairs(t, last)
	if text := last.Text(); !strings.Contains(text, portFact) || !strings.Contains(text, nextPrompt) {
		t.Errorf("the request after the compaction ends: %s", tail(text))
	}
	s.checkExported()
}

// TestPluginCompactsTenTimes keeps a fact through ten compactions with work between
// them, in two processes.
func TestPluginCompactsTenTimes(t *testing.T) {
	t.Parallel()
	s, id := planted(t, (*sandbox).installPlugin)
	var prompts []string
	for i := range 10 {
		work := fmt.Sprintf("Look at table %d.", i)
		s.api.On(work, mockapi.Use(mockapi.Bash(fmt.Sprintf("echo table %d is dry", i))), mockapi.Say(fmt.Sprintf("Table %d is dry.", i)))
		prompts = append(prompts, work, "/compact")
	}
	for half := range slices.Chunk(prompts, 10) {
		if tn := s.converse(id, half...).mustSucceed().undisturbed(); len(tn.compactions()) != 5 {
			t.Fatalf("compactions %v, want 5\n%s", tn.compactions(), tn.stdout)
		}
	}

	next := s.resume(id, nextPrompt).mustAnswer("54177, down.").undisturbed()

	s.uncompacted()
	req := next.request(mockapi.Turn, 0)
	checkPairs(t, req)
	all := ours(req)
	if len(all) != 1 {
		t.Fatalf("%d records in the request", len(all))
	}
	for _, want := range []string{portFact, "Look at table 0.", "Table 5 is dry."} {
		if n := strings.Count(req.Text(), want); n == 0 || want == portFact && n > 3 {
			t.Errorf("%q occurs %d times in the request after the tenth compaction:\n%s", want, n, all[0])
		}
	}
	s.checkExported()
}

// TestPluginFallsThrough breaks the program in every way that the module must
// survive; the client's own compaction runs.
func TestPluginFallsThrough(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"gone":    "",
		"fails":   "#!/bin/sh\ncat >/dev/null\nexit 3\n",
		"silent":  "#!/bin/sh\ncat >/dev/null\n",
		"babbles": "#!/bin/sh\ncat >/dev/null\necho '{\"messages\":[{\"keep\":999}]}'\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			s.installPlugin()
			id := newSession(t)
			s.scriptStory()
			s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed()
			if err := os.Remove(s.program); err != nil {
				t.Fatal(err)
			}
			if script != "" {
				s.write(s.program, script)
				if err := os.Chmod(s.program, 0o755); err != nil {
					t.Fatal(err)
				}
			}

			tn := s.resume(id, "/compact").mustSucceed()

			if tn.request(mockapi.Compaction, 0) == nil || strings.Join(tn.compactions(), " ") != "manual" {
				t.Errorf("compactions: %v", tn.compactions())
			}
		})
	}
}

// TestPluginIsInstalledOnce checks the files after init and uninstall.
func TestPluginIsInstalledOnce(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	before := s.read(s.settingsFile())
	s.installPlugin()
	wired := s.read(s.settingsFile())
	s.strandline("init").mustSucceed()
	if got := s.read(s.settingsFile()); got != wired {
		t.Errorf("a second init changed the settings: %s", firstDifference(got, wired))
	}
	var settings struct {
		EnabledPlugins map[string]bool `json:"enabledPlugins"`
	}
	if err := json.Unmarshal([]byte(wired), &settings); err != nil || len(settings.EnabledPlugins) != 1 {
		t.Errorf("plugins in the settings: %v, %v", settings.EnabledPlugins, err)
	}
	s.strandline("init", "--no-plugin").mustSucceed()
	if got := s.read(s.settingsFile()); strings.Contains(got, "enabledPlugins") || exists(filepath.Join(s.store, "plugin")) {
		t.Errorf("init --no-plugin leaves the plugin:\n%s", got)
	}
	s.strandline("init").mustSucceed()
	id := newSession(t)
	s.scriptStory()
	s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed()
	s.strandline("uninstall").mustSucceed()
	if got := s.read(s.settingsFile()); got != before || exists(filepath.Join(s.store, "plugin")) {
		t.Errorf("the settings are not what they were: %s", firstDifference(got, before))
	}
	last := s.resume(id, "/compact").mustSucceed()
	if len(last.requests) != 1 || last.requests[0].Kind != mockapi.Compaction {
		t.Errorf("the client does not compact by itself after uninstall: %d requests", len(last.requests))
	}
}

// TestPluginCompactsSubAgents fills a sub-agent's context: the record is about the
// sub-agent, not its parent.
func TestPluginCompactsSubAgents(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.installPlugin()
	id := newSession(t)
	s.scriptStory()
	look := "Look through the tables; " + tableFact + "."
	s.api.On(rulePrompt, mockapi.Use(mockapi.Agent("Look through the tables", look)), mockapi.Say("Looked."))
	s.api.On(look, toolLoop(4, 2)...)
	s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed()

	turn := s.resume(id, rulePrompt).mustAnswer("Looked.").undisturbed()

	s.uncompacted()
	found := false
	for _, req := range turn.requests {
		if req.Prompt != look || len(ours(req)) == 0 {
			continue
		}
		found = true
		checkPairs(t, req)
		if text := req.Text(); !strings.Contains(text, tableFact) || strings.Contains(text, portFact) {
			t.Errorf("the sub-agent's request ends: %s", tail(text))
		}
	}
	if !found {
		t.Error("the sub-agent was not compacted")
	}
	s.checkExported()
}

// TestPluginInAProject is installed for one project only.
func TestPluginInAProject(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.installWith("--scope", "project")
	id := newSession(t)
	s.scriptStory()
	s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed()

	s.resume(id, "/compact").mustSucceed()

	s.uncompacted()
}
