package e2e

import (
	"slices"
	"strings"
	"testing"

	"strandline/e2e/mockapi"
)

// TestTerminal runs a terminal session that is compacted by hand, cleared and left,
// with statusline and all hooks.
func TestTerminal(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.install()
	s.scriptStory()
	c := s.open()

	c.say(plantPrompt)
	c.say("/compact")
	c.say(nextPrompt)
	checkRestored(t, s.lastRequest(mockapi.Turn), portFact)
	c.say(rulePrompt)
	c.say("/clear")
	c.say(forkPrompt)
	blocks, rest := records(s.lastRequest(mockapi.Turn).Text())
	if strings.Contains(strings.Join(blocks, "")+rest, tableFact) {
		t.Errorf("a cleared session receives the cleared text: %q", blocks)
	}
	s.awaitExported() // the reply on the screen, without another hook
	c.leave()

	if got := len(s.transcripts()); got != 2 {
		t.Errorf("%d transcripts, want one before /clear and one after it", got)
	}
	s.checkHooks(c.debug)
	s.checkHookRows()
	s.awaitExported()
}

// lastRequest returns the latest request of that kind.
func (s *sandbox) lastRequest(kind mockapi.Kind) *mockapi.Request {
	s.t.Helper()
	for _, req := range slices.Backward(s.api.Requests()) {
		if req.Kind == kind {
			return req
		}
	}
	s.t.Fatalf("no request of kind %s", kind)
	return nil
}
