package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"strandline/e2e/mockapi"
)

// TestHeadroom delays automatic compactions while headroom is left: one is blocked,
// the session continues, the next one runs. With a window of compactWindow tokens the
// client compacts from 67,000 on and stops at 77,000.
func TestHeadroom(t *testing.T) {
	t.Parallel()
	for name, plugin := range map[string]bool{"hook": false, "plugin": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			s.write(filepath.Join(s.home, ".config", "strandline", "config.toml"), "[compaction]\nblock_auto = \"headroom\"\n")
			if plugin {
				s.installPlugin()
			} else {
				s.install()
			}
			s.scriptStory()
			s.api.On("Fill the context.", mockapi.Say("Filled.").At(69_500))
			s.api.On("Go on.", mockapi.Say("Gone on.").At(74_000))
			s.api.On("Once more.", mockapi.Say("Done."))
			id := newSession(t)
			s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed()
			s.resume(id, "Fill the context.").mustAnswer("Filled.").undisturbed()

			held := s.resume(id, "Go on.").mustAnswer("Gone on.")

			if len(held.compactions()) != 0 || len(held.requests) != 1 {
				t.Fatalf("compactions %v, %d requests: it was not blocked", held.compactions(), len(held.requests))
			}
			if !exists(filepath.Join(s.store, "state", "blocked", id+".json")) {
				t.Error("no note of the block")
			}
			if text := held.request(mockapi.Turn, 0).Text(); strings.Contains(text, "block_auto") || !strings.Contains(text, portFact) {
				t.Errorf("the request of the blocked turn ends: %s", tail(text))
			}
			s.checkExported()

			run := s.resume(id, "Once more.").mustAnswer("Done.")

			if got := strings.Join(run.compactions(), " "); got != "auto" {
				t.Errorf("compactions without headroom: %q, want auto", got)
			}
			last := run.requests[len(run.requests)-1]
			checkPairs(t, last)
			if !strings.Contains(last.Text(), portFact) || strings.Contains(last.Text(), "block_auto") {
				t.Errorf("the request after the compaction ends: %s", tail(last.Text()))
			}
			s.checkExported()
			s.checkLog()
		})
	}
}

// TestHeadroomLetsRefusalsThrough: the API refuses a turn whose compaction was
// blocked, and one far below the threshold. Both are compacted.
func TestHeadroomLetsRefusalsThrough(t *testing.T) {
	t.Parallel()
	for name, tokens := range map[string]int64{"blocked before": 69_500, "below the threshold": 20_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			s.write(filepath.Join(s.home, ".config", "strandline", "config.toml"), "[compaction]\nblock_auto = \"headroom\"\n")
			s.install()
			s.scriptStory()
			s.api.On("Fill the context.", mockapi.Say("Filled.").At(tokens))
			s.api.On("Go on.", mockapi.TooLong(), mockapi.Say("Gone on."))
			id := newSession(t)
			s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed()
			s.resume(id, "Fill the context.").mustAnswer("Filled.").undisturbed()

			tn := s.resume(id, "Go on.").mustAnswer("Gone on.")

			if got := strings.Join(tn.compactions(), " "); got != "auto" {
				t.Errorf("compactions: %q, want auto", got)
			}
			if got, want := exists(filepath.Join(s.store, "state", "blocked", id+".json")), tokens > 67_000; got != want {
				t.Errorf("blocked before: %t, want %t", got, want)
			}
			s.checkExported()
			s.checkLog()
		})
	}
}
