package e2e

import (
	"strings"
	"testing"

	"strandline/e2e/mockapi"
	"strandline/internal/archive"
)

// recalledText returns the text that strandline added to the first prompt of a turn.
func recalledText(tn *turn) string {
	tn.t.Helper()
	blocks, _ := records(tn.request(mockapi.Turn, 0).Text())
	var list []string
	for _, b := range blocks {
		if strings.Contains(b, "from earlier work in this project") {
			list = append(list, b)
		}
	}
	return strings.Join(list, "\n")
}

// TestAutomaticRecall names something that is not in the context: first from another
// session, then after a compaction whose summary omits it.
func TestAutomaticRecall(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.install()
	s.env = append(s.env, "STRANDLINE_RESTORE_BUDGET=0") // the restored context would contain it
	id := newSession(t)
	s.scriptStory()
	handle := archive.ShortID(id) + "/0"
	const need, other = "Is the port in gauge.txt right?", "Thanks, that is all."
	s.api.On(need, mockapi.Say("It is."))
	s.api.On(other, mockapi.Say("Bye."))
	if first := s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed(); recalledText(first) != "" {
		t.Errorf("a recall from an empty archive: %s", recalledText(first))
	}

	if got := recalledText(s.start(newSession(t), need).mustAnswer("It is.").undisturbed()); !strings.Contains(got, handle) {
		t.Errorf("no recall of the port in another session: %q", got)
	}
	if got := recalledText(s.start(newSession(t), other).mustAnswer("Bye.").undisturbed()); got != "" {
		t.Errorf("a recall at an unrelated prompt: %q", got)
	}

	s.resume(id, rulePrompt).mustAnswer("Understood.").undisturbed()
	s.resume(id, "/compact").mustSucceed()
	next := s.resume(id, need).mustAnswer("It is.").undisturbed()
	_, rest := records(next.request(mockapi.Turn, 0).Text())
	if strings.Contains(rest, portFact) {
		t.Error("the summary contains the fact: the test is void")
	}
	if got := recalledText(next); !strings.Contains(got, handle) {
		t.Errorf("no recall of the port after the compaction: %q", got)
	}
	// The recalled text is in the context now.
	if again := s.resume(id, need).mustAnswer("It is.").undisturbed(); strings.Count(again.request(mockapi.Turn, 0).Text(), "from earlier work in this project") != 1 {
		t.Error("it is recalled twice")
	}
	s.checkExported()
}
