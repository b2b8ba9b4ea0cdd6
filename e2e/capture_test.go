package e2e

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"strandline/e2e/mockapi"
	"strandline/internal/text"
)

// The facts that conversations plant and summaries leave out.
const (
	portFact  = "the staging tide gauge answers on port 54177"
	tableFact = "tables are rounded down to whole decimetres"
)

// The prompts of the long story.
const (
	plantPrompt  = "Please note that " + portFact + ", and write it to gauge.txt."
	loopPrompt   = "Now check the gauge a few times."
	agentPrompt  = "Have somebody look at the archive."
	searchPrompt = "Look for old tide tables in this folder."
	rulePrompt   = "One more rule: " + tableFact + "."
	nextPrompt   = "Which port was it, and how do we round?"
	forkPrompt   = "Try another way."
)

// TestStory runs everything that the client does to a conversation with strandline
// installed, and compares the archive with the client's files after every process.
func TestStory(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.install()
	id := newSession(t)
	s.scriptStory()

	s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed()
	s.checkExported()

	loop := s.resume(id, loopPrompt).mustAnswer("All done.").undisturbed()
	s.checkExported()
	if got, want := strings.Join(loop.compactions(), " "), "auto"; got != want {
		t.Fatalf("compactions of the tool loop: %s, want %s", got, want)
	}
	checkRestored(t, after(t, loop, mockapi.Compaction), portFact)

	s.resume(id, agentPrompt).mustAnswer("The archive is in order.").undisturbed()
	s.checkExported()

	s.resume(id, rulePrompt).mustAnswer("Understood.").undisturbed()
	s.resume(id, "/compact mind the tides").mustSucceed()
	s.checkHookRows()
	s.checkExported()
	next := s.resume(id, nextPrompt).mustAnswer("54177, down.").undisturbed()
	checkRestored(t, next.request(mockapi.Turn, 0), tableFact)
	if _, block, _ := strings.Cut(next.request(mockapi.Turn, 0).Text(), "hook additional context: "+text.FenceOpen); !strings.Contains(block, "/compact instructions: mind the tides") {
		t.Errorf("the block does not begin with what was typed: %s", block)
	}
	s.checkExported()

	fork := s.resume(id, forkPrompt, "--fork-session").mustAnswer("Another way.").undisturbed()
	s.checkExported()
	s.checkRebuilt(id)
	s.checkRebuilt(fork.session())

	s.strandline("verify").mustSucceed()
	s.checkLog()
	s.checkFound(portFact)
	s.strandline("reindex").mustSucceed()
	for _, body := range []string{portFact, tableFact, "A gauge was checked."} {
		s.checkFound(body)
	}
}

// scriptStory scripts the model's replies in the story. Its summaries omit the facts.
func (s *sandbox) scriptStory() {
	s.api.Summarize("The person works on tide tables. A gauge was checked.")
	s.api.On(plantPrompt,
		mockapi.Use(mockapi.Write(s.project+"/gauge.txt", "port 54177\n")).Saying("I write it down.").Thinking("A file, then."),
		mockapi.Say("Noted."))
	s.api.On(loopPrompt, toolLoop(4, 2)...)
	s.api.On(agentPrompt,
		mockapi.Use(mockapi.Agent("Look at the archive", searchPrompt)),
		mockapi.Say("The archive is in order."))
	s.api.On(searchPrompt,
		mockapi.Use(mockapi.Bash("ls -la"), mockapi.Read(s.project+"/README.md")),
		mockapi.Say("There is one README."))
	s.api.On(rulePrompt, mockapi.Say("Understood."))
	s.api.On(nextPrompt, mockapi.Say("54177, down."))
	s.api.On(forkPrompt, mockapi.Say("Another way."))
}

// checkRestored fails the test unless a restored context in the request contains
// the fact and the rest of the request does not.
func checkRestored(t *testing.T, req *mockapi.Request, fact string) {
	t.Helper()
	blocks, rest := records(req.Text())
	if len(blocks) == 0 {
		t.Errorf("the request after the compaction holds no block of ours; its text ends: %s", tail(rest))
		return
	}
	if strings.Contains(rest, fact) {
		t.Errorf("the request contains %q without the restored context: the test is void", fact)
	}
	if all := strings.Join(blocks, "\n"); !strings.Contains(all, fact) {
		t.Errorf("the restored context does not contain %q:\n%s", fact, all)
	}
}

// records separates Strandline's fenced records from the rest of a text. There may
// be several: a manual compaction repeats the steering text.
func records(body string) (blocks []string, rest string) {
	for {
		before, from, found := strings.Cut(body, text.FenceOpen)
		rest += before
		if !found {
			return blocks, rest
		}
		var block string
		block, body, _ = strings.Cut(from, text.FenceClose)
		blocks = append(blocks, block)
	}
}

func tail(s string) string { return strings.ToValidUTF8(s[max(0, len(s)-2000):], "?") }

// TestReactiveCompaction is the compaction that comes when the API refuses a
// conversation that is too long.
func TestReactiveCompaction(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.install()
	id := newSession(t)
	s.scriptStory()
	s.api.On(nextPrompt, mockapi.TooLong(), mockapi.Say("54177."))
	s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed()

	next := s.resume(id, nextPrompt).mustAnswer("54177.").undisturbed()

	checkRestored(t, after(t, next, mockapi.Compaction), portFact)
	s.checkExported()
}

// TestSubAgentCompaction fills a sub-agent's context: the restored context is about
// the sub-agent, not its parent.
func TestSubAgentCompaction(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.install()
	id := newSession(t)
	s.scriptStory()
	look := "Look through the tables; " + tableFact + "."
	s.api.On(rulePrompt, mockapi.Use(mockapi.Agent("Look through the tables", look)), mockapi.Say("Looked."))
	s.api.On(look, toolLoop(4, 2)...)
	s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed()

	turn := s.resume(id, rulePrompt).mustAnswer("Looked.").undisturbed()

	next := after(t, turn, mockapi.Compaction)
	if next.Prompt != look {
		t.Fatalf("the request after the compaction is of %q, not of the sub-agent", next.Prompt)
	}
	checkRestored(t, next, tableFact)
	if strings.Contains(next.Text(), portFact) {
		t.Error("the sub-agent receives the text for its parent")
	}
	if blocks, _ := records(next.Text()); strings.Contains(strings.Join(blocks, ""), ", for the ") {
		t.Errorf("a sub-agent of an unknown type has a role: %q", blocks)
	}
	s.checkExported()
}

// TestBackgroundAgent runs a sub-agent beyond its turn. The client reports its end
// as a synthetic prompt.
func TestBackgroundAgent(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.install()
	id := newSession(t)
	s.scriptStory()
	s.api.On(rulePrompt,
		mockapi.Use(mockapi.Agent("Look at the archive", searchPrompt).InBackground()), mockapi.Say("It looks."))
	s.api.OnPart("task-notification", mockapi.Say("It has looked."))

	s.start(id, rulePrompt).mustSucceed().undisturbed()

	s.checkExported()
	s.checkRebuilt(id)
	s.checkLog()
	var sessions []struct {
		Session string `json:"session"`
		Turns   int    `json:"turns"`
	}
	listed := s.strandline("sessions", "--json").mustSucceed().stdout
	if err := json.Unmarshal([]byte(listed), &sessions); err != nil {
		t.Fatalf("sessions --json printed %q: %v", listed, err)
	}
	if len(sessions) != 1 || sessions[0].Session != id || sessions[0].Turns != 1 {
		t.Errorf("sessions %+v, want %s with one turn", sessions, id)
	}
}

// TestSideFiles checks the client's files next to a transcript: large outputs and
// sub-agents' transcripts.
func TestSideFiles(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.install()
	id := newSession(t)
	s.scriptStory()
	s.api.On("Print the table.", mockapi.Use(mockapi.Bash("seq 1 20000")), mockapi.Say("That is long."))
	s.start(id, "Print the table.").mustAnswer("That is long.").undisturbed()
	s.resume(id, agentPrompt).mustAnswer("The archive is in order.").undisturbed()

	kinds := map[string]int{}
	for _, rel := range s.sideFiles(id) {
		kinds[strings.Split(rel, "/")[1]]++
	}
	if kinds["tool-results"] != 1 || kinds["subagents"] != 2 {
		t.Errorf("side files: %v, want a tool result and two of a sub-agent", kinds)
	}
	s.checkExported()
	s.checkRebuilt(id)
}

// TestPreserve checks that the compaction request contains the steering text.
func TestPreserve(t *testing.T) {
	t.Parallel()
	s, id := planted(t, (*sandbox).install)

	want := strings.TrimSpace(s.strandline("preserve", "--session", id).mustSucceed().stdout)
	tn := s.resume(id, "/compact").mustSucceed()

	if want == "" {
		t.Fatal("preserve has nothing to say about a session with facts and a file")
	}
	mark := regexp.MustCompile(`(RECORD) [0-9a-f]{8,20}`) // only the hook signs
	if got := tn.request(mockapi.Compaction, 0).Text(); !strings.Contains(mark.ReplaceAllString(got, "$1"), mark.ReplaceAllString(want, "$1")) {
		t.Errorf("the compaction request does not hold what preserve prints:\n%s\n--- it ends:\n%s", want, tail(got))
	}
	s.checkExported()
}

// TestRebuiltSessionResumes deletes the client's files of a session, as the client
// does after a month, and resumes the rebuilt session.
func TestRebuiltSessionResumes(t *testing.T) {
	t.Parallel()
	s, id := planted(t, (*sandbox).install)
	s.resume(id, agentPrompt).mustAnswer("The archive is in order.").undisturbed()
	transcript := s.transcript(id)
	want, files := s.read(transcript), s.sideFiles(id)
	s.forget(id)
	s.print("--resume", id, nextPrompt).mustFail()

	s.strandline("rebuild", id).mustSucceed()

	if got := s.read(transcript); got != want {
		t.Errorf("the transcript is not what it was: %s", firstDifference(got, want))
	}
	if got := s.sideFiles(id); strings.Join(got, " ") != strings.Join(files, " ") {
		t.Errorf("side files %v, were %v", got, files)
	}
	next := s.resume(id, nextPrompt).mustAnswer("54177, down.").undisturbed()
	sent := next.request(mockapi.Turn, 0).Text()
	for _, text := range []string{portFact, "Noted.", "The archive is in order."} {
		if !strings.Contains(sent, text) {
			t.Errorf("the client resumed the rebuilt session without %q", text)
		}
	}
	s.checkExported()
}

// TestResumeWithoutAForgottenTurn resumes a session with a deleted turn in the
// middle: one placeholder line replaces its rows.
func TestResumeWithoutAForgottenTurn(t *testing.T) {
	t.Parallel()
	s, id := planted(t, (*sandbox).install)
	s.resume(id, agentPrompt).mustAnswer("The archive is in order.").undisturbed()
	before := len(s.read(s.transcript(id)))
	found := s.strandline("search", "--session", id, "--json", agentPrompt).mustSucceed().stdout
	_, handle, _ := strings.Cut(found, `"handle": "`)
	handle, _, _ = strings.Cut(handle, `"`)
	turn, _, _ := strings.Cut(handle, ".")
	s.strandline("forget", turn, "--yes").mustSucceed()
	s.forget(id)

	s.strandline("rebuild", id).mustSucceed()

	if after := len(s.read(s.transcript(id))); after != before {
		t.Errorf("the transcript has %d bytes without %s, had %d", after, turn, before)
	}
	next := s.resume(id, nextPrompt).mustAnswer("54177, down.").undisturbed()
	sent := next.request(mockapi.Turn, 0).Text()
	for _, text := range []string{portFact, "Noted."} {
		if !strings.Contains(sent, text) {
			t.Errorf("the client resumed the session without %q, which is older than %s", text, turn)
		}
	}
	for _, text := range []string{agentPrompt, "The archive is in order."} {
		if strings.Contains(sent, text) {
			t.Errorf("the client sends %q, which was forgotten with %s", text, turn)
		}
	}
}
