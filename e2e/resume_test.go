package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"strandline/e2e/mockapi"
)

// told runs strandline resume in print mode of the client and returns its next request.
func (s *sandbox) told(id string, args ...string) string {
	s.t.Helper()
	line := s.strandline(append([]string{"resume", id, "--print"}, args...)...).mustSucceed().stdout
	folder, command, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "cd "), " && ")
	if !ok || command != "claude --resume "+id {
		s.t.Fatalf("resume prints %q", line)
	}
	s.project = folder
	return s.resume(id, nextPrompt).mustAnswer("54177, down.").request(mockapi.Turn, 0).Text()
}

func checkTold(t *testing.T, sent string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(sent, text) {
			t.Errorf("the client resumes without %q", text)
		}
	}
}

// TestResume resumes sessions that the client alone cannot: its file is gone, its folder was moved, its links
// are broken.
func TestResume(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) (s *sandbox, id string) {
		s, id = planted(t, (*sandbox).install)
		s.resume(id, rulePrompt).mustAnswer("Understood.").undisturbed()
		s.awaitExported()
		return s, id
	}
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		s, id := begin(t)
		s.forget(id)
		s.print("--resume", id, nextPrompt).mustFail()
		checkTold(t, s.told(id), portFact, tableFact)
	})
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		s, id := begin(t)
		moved := filepath.Join(filepath.Dir(s.project), "elsewhere")
		if err := os.Rename(s.project, moved); err != nil {
			t.Fatal(err)
		}
		s.project = moved
		s.strandline("resume", id, "--print").mustFail()
		checkTold(t, s.told(id, "--into", "."), portFact, tableFact)
		s.checkFound(portFact)
	})
	t.Run("compaction", func(t *testing.T) {
		t.Parallel()
		s, id := begin(t)
		s.resume(id, "/compact").mustSucceed()
		s.awaitExported()
		whole := len(s.read(s.transcript(id)))
		s.strandline("rebuild", id, "--from-last-compaction").mustSucceed()
		if part := len(s.read(s.transcript(id))); part >= whole {
			t.Errorf("the transcript has %d bytes, had %d", part, whole)
		}
		checkTold(t, s.told(id), "A gauge was checked.", "Understood.")
	})
	t.Run("chain", func(t *testing.T) {
		t.Parallel()
		s, id := begin(t)
		path := s.transcript(id)
		data := s.read(path)
		start, row := 0, ""
		for line := range strings.Lines(data) {
			if row = line; strings.Contains(line, `"type":"user"`) && strings.Contains(line, rulePrompt) {
				break
			}
			start += len(line)
		}
		parent := regexp.MustCompile(`"parentUuid":"[^"]*"`)
		broken := parent.ReplaceAllString(row, `"parentUuid":"00000000-1111-4222-8333-444444444444"`)
		// The client bridges a gap of seconds itself.
		early := regexp.MustCompile(`"timestamp":"([^"]*)"`)
		before := early.ReplaceAllStringFunc(data[:start], func(m string) string {
			at, err := time.Parse(time.RFC3339, early.FindStringSubmatch(m)[1])
			if err != nil {
				t.Fatal(err)
			}
			return `"timestamp":"` + at.Add(-time.Hour).Format("2006-01-02T15:04:05.000Z") + `"`
		})
		s.write(path, before+broken+data[start+len(row):])
		sent := s.resume(id, forkPrompt).mustAnswer("Another way.").request(mockapi.Turn, 0).Text()
		if strings.Contains(sent, portFact) || !strings.Contains(sent, tableFact) {
			t.Fatal("the client mends this chain itself: the test is void")
		}
		if got := s.run(s.program, "doctor").stdout; !strings.Contains(got, "finds 2 of its 3 turns") {
			t.Errorf("doctor does not report the broken chain:\n%s", got)
		}
		checkTold(t, s.told(id), portFact, tableFact, forkPrompt)
		s.awaitExported()
		s.checkFound(portFact)
	})
}
