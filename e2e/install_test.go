package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"strandline/e2e/mockapi"
)

func TestUninstallLeavesTheSettingsAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"user", "project"} {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			path := s.settingsFile()
			if scope == "project" {
				path = filepath.Join(s.project, ".claude", "settings.local.json")
				s.write(path, userSettings)
			}
			before, state := s.read(path), s.read(s.stateFile())
			s.installWith("--no-plugin", "--scope", scope)
			if s.read(path) == before {
				t.Errorf("init --scope %s did not change %s", scope, path)
			}
			wired := s.read(path)
			s.strandline("init", "--no-plugin", "--scope", scope).mustSucceed()
			if got := s.read(path); got != wired {
				t.Errorf("a second init changed the settings: %s", firstDifference(got, wired))
			}

			id := newSession(t)
			s.api.On("hello", mockapi.Say("Good day."))
			s.start(id, "hello").mustAnswer("Good day.").undisturbed()
			s.checkExported()
			s.strandline("uninstall", "--scope", scope).mustSucceed()

			if got := s.read(path); got != before {
				t.Errorf("the settings are not what they were: %s", firstDifference(got, before))
			}
			if got := s.read(s.stateFile()); strings.Contains(got, programName) && !strings.Contains(state, programName) {
				t.Errorf("the client's own state still names strandline:\n%s", got)
			}
			size := len(s.strandline("export", id).mustSucceed().stdout)
			last := s.resume(id, "hello").mustAnswer("Good day.")
			if ends := s.hookEnds(last.debug); len(ends) > 0 {
				t.Errorf("hooks ran after strandline was uninstalled: %v", ends)
			}
			if got := len(s.strandline("export", id).mustSucceed().stdout); got != size {
				t.Errorf("strandline captured %d bytes after it was uninstalled", got-size)
			}
		})
	}
}

func TestInitWithoutSettings(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	if err := os.Remove(s.settingsFile()); err != nil {
		t.Fatal(err)
	}
	s.installPlugin()
	id := newSession(t)
	s.api.On("hello", mockapi.Say("Good day."))
	s.start(id, "hello").mustAnswer("Good day.").undisturbed()
	s.checkExported()

	s.strandline("uninstall").mustSucceed()

	if exists(s.settingsFile()) {
		t.Error("settings.json was not there before init and is there after uninstall")
	}
}

// TestOddPlaces uses folders whose names a shell would split.
func TestOddPlaces(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), `Ann's "$HOME" & more`)
	config, store := filepath.Join(root, "the client's"), filepath.Join(root, "what is kept")
	s := newSandboxIn(t, root, filepath.Join(root, "home"), config, store,
		"CLAUDE_CONFIG_DIR="+config, "STRANDLINE_HOME="+store)
	s.install()
	s.scriptStory()
	id := newSession(t)

	s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed()
	loop := s.resume(id, loopPrompt).mustAnswer("All done.").undisturbed()

	checkRestored(t, after(t, loop, mockapi.Compaction), portFact)
	s.checkExported()
	s.checkRebuilt(id)
}
