package e2e

import (
	"strings"
	"testing"

	"strandline/e2e/mockapi"
	"strandline/internal/archive"
)

// toldUnasked returns what strandline added to the prompt of a turn's first request.
func toldUnasked(tn *turn) string {
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

// TestRecallUnasked has a person name something that is no longer in the context:
// first in another session, then behind a compaction whose summary lost it.
func TestRecallUnasked(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.install()
	s.env = append(s.env, "STRANDLINE_RESTORE_BUDGET=0") // the block would tell it
	id := newSession(t)
	s.scriptStory()
	handle := archive.ShortID(id) + "/0"
	const need, other = "Is the port in gauge.txt right?", "Thanks, that is all."
	s.api.On(need, mockapi.Say("It is."))
	s.api.On(other, mockapi.Say("Bye."))
	if first := s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed(); toldUnasked(first) != "" {
		t.Errorf("told of an empty archive: %s", toldUnasked(first))
	}

	if got := toldUnasked(s.start(newSession(t), need).mustAnswer("It is.").undisturbed()); !strings.Contains(got, handle) {
		t.Errorf("another session is not told of the port: %q", got)
	}
	if got := toldUnasked(s.start(newSession(t), other).mustAnswer("Bye.").undisturbed()); got != "" {
		t.Errorf("an unrelated prompt is told %q", got)
	}

	s.resume(id, rulePrompt).mustAnswer("Understood.").undisturbed()
	s.resume(id, "/compact").mustSucceed()
	next := s.resume(id, need).mustAnswer("It is.").undisturbed()
	_, rest := records(next.request(mockapi.Turn, 0).Text())
	if strings.Contains(rest, portFact) {
		t.Error("the summary tells the fact: the test shows nothing")
	}
	if got := toldUnasked(next); !strings.Contains(got, handle) {
		t.Errorf("behind the compaction nothing is told of the port: %q", got)
	}
	// What was told stands in the context now.
	if again := s.resume(id, need).mustAnswer("It is.").undisturbed(); strings.Count(again.request(mockapi.Turn, 0).Text(), "from earlier work in this project") != 1 {
		t.Error("it is told twice")
	}
	s.checkExported()
}
