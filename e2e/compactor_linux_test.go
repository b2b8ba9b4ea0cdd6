package e2e

import (
	"strings"
	"testing"

	"strandline/e2e/mockapi"
)

// TestPluginInTheTerminal compacts by hand between two turns in the terminal,
// twice, and leaves.
func TestPluginInTheTerminal(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.installPlugin()
	s.scriptStory()
	c := s.open()

	c.say(plantPrompt)
	c.say("/compact")
	c.say(nextPrompt)
	c.say(rulePrompt)
	c.say("/compact")
	c.say(forkPrompt)
	c.leave()

	s.uncompacted()
	req := s.lastRequest(mockapi.Turn)
	checkPairs(t, req)
	for _, fact := range []string{portFact, tableFact} {
		if !strings.Contains(req.Text(), fact) {
			t.Errorf("the last request has lost %q", fact)
		}
	}
	if all := ours(req); len(all) != 1 {
		t.Errorf("%d records in the last request", len(all))
	}
	s.checkHooks(c.debug)
	s.checkHookRows()
	s.awaitExported()
}
