package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGitInit makes a folder with a past a repository: the past stays in sight.
func TestGitInit(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	if err := os.RemoveAll(filepath.Join(s.project, ".git")); err != nil {
		t.Fatal(err)
	}
	s.install()
	s.scriptStory()
	s.start(newSession(t), plantPrompt).mustAnswer("Noted.").undisturbed()
	s.awaitExported()
	s.checkFound(portFact)
	s.run("git", "init", "-q").mustSucceed()
	s.checkFound(portFact)
	s.start(newSession(t), rulePrompt).mustAnswer("Understood.").undisturbed()
	s.awaitExported()
	s.checkFound(portFact)
	s.checkFound(tableFact)
	if list := s.strandline("projects", "--json").mustSucceed().stdout; strings.Count(list, `"key": "`) != 1 || !strings.Contains(list, `"sessions": 2`) {
		t.Errorf("one folder is not one project:\n%s", list)
	}
}
