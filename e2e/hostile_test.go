package e2e

import (
	"context"
	"database/sql"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite" // to lock the index as another process would

	"strandline/e2e/mockapi"
)

// TestUnwritableHome takes strandline's home away in the middle of a session and
// gives it back.
func TestUnwritableHome(t *testing.T) {
	t.Parallel()
	s, id := planted(t, (*sandbox).install)

	repair := s.takeAwayStore()
	s.resume(id, rulePrompt).mustAnswer("Understood.").undisturbed()
	s.resume(id, "/compact").mustSucceed().undisturbed()
	s.resume(id, agentPrompt).mustAnswer("The archive is in order.").undisturbed()
	repair()

	s.resume(id, nextPrompt).mustAnswer("54177, down.").undisturbed()
	s.checkExported()
	s.checkRebuilt(id)
	s.checkFound(tableFact)
}

// takeAwayStore makes strandline's home unwritable. What a superuser cannot be
// denied by permissions is taken away instead.
func (s *sandbox) takeAwayStore() (repair func()) {
	s.t.Helper()
	if os.Geteuid() == 0 {
		away := s.store + ".away"
		move(s.t, s.store, away)
		s.write(s.store, "a file where a folder should be\n")
		return func() { move(s.t, away, s.store+".back"); s.replace(s.store+".back", s.store) }
	}
	modes := map[string]fs.FileMode{}
	s.walkStore(func(path string, info fs.FileInfo) {
		modes[path] = info.Mode().Perm()
	})
	repair = func() {
		for path, mode := range modes {
			_ = os.Chmod(path, mode) // a removed file needs no mode
		}
	}
	s.t.Cleanup(repair)
	for path, mode := range modes {
		if err := os.Chmod(path, mode&^0o222); err != nil {
			s.t.Fatal(err)
		}
	}
	return repair
}

func (s *sandbox) replace(from, to string) {
	s.t.Helper()
	if err := os.RemoveAll(to); err != nil {
		s.t.Fatal(err)
	}
	move(s.t, from, to)
}

func (s *sandbox) walkStore(visit func(path string, info fs.FileInfo)) {
	s.t.Helper()
	err := filepath.WalkDir(s.store, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			visit(path, info)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// TestCorruptIndex overwrites the index between two turns: the logs keep growing and
// the index is rebuilt from them.
func TestCorruptIndex(t *testing.T) {
	t.Parallel()
	s, id := planted(t, (*sandbox).install)

	for _, name := range []string{"index.db-wal", "index.db-shm"} {
		_ = os.Remove(filepath.Join(s.store, name)) // not there after a clean close
	}
	s.write(filepath.Join(s.store, "index.db"), strings.Repeat("This is no database. ", 4096))

	s.resume(id, rulePrompt).mustAnswer("Understood.").undisturbed()
	s.resume(id, "/compact").mustSucceed().undisturbed()
	s.resume(id, nextPrompt).mustAnswer("54177, down.").undisturbed()
	s.checkExported()
	s.strandline("reindex").mustSucceed()
	s.checkFound(portFact)
	s.checkFound(tableFact)
}

// TestLockedIndex has another process hold the index for the length of a turn.
func TestLockedIndex(t *testing.T) {
	t.Parallel()
	s, id := planted(t, (*sandbox).install)

	unlock := s.lockIndex()
	s.resume(id, rulePrompt).mustAnswer("Understood.").undisturbed()
	s.checkExported()
	unlock()

	s.resume(id, nextPrompt).mustAnswer("54177, down.").undisturbed()
	s.checkExported()
	s.checkFound(tableFact)
}

// lockIndex begins an exclusive write transaction.
func (s *sandbox) lockIndex() (unlock func()) {
	s.t.Helper()
	ctx := context.Background()
	db, err := sql.Open("sqlite", filepath.Join(s.store, "index.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	conn, err := db.Conn(ctx)
	if err == nil {
		_, err = conn.ExecContext(ctx, "PRAGMA busy_timeout = 5000; BEGIN EXCLUSIVE")
	}
	if err != nil {
		s.t.Fatal(err)
	}
	unlock = sync.OnceFunc(func() {
		_, _ = conn.ExecContext(ctx, "ROLLBACK") // closing rolls back as well
		_ = conn.Close()
		_ = db.Close()
	})
	s.t.Cleanup(unlock)
	return unlock
}

// TestKilledHooks has every hook of a turn killed as soon as it has written, to
// the log or to the index.
func TestKilledHooks(t *testing.T) {
	t.Parallel()
	for name, prefix := range map[string]string{"while it logs": "log", "while it indexes": "index.db"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			s.install()
			id := newSession(t)
			s.scriptStory()
			s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed()

			stop := s.killAtWrites(filepath.Join(s.store, prefix))
			killed := s.resume(id, agentPrompt).mustAnswer("The archive is in order.")
			if killed.hooksFailed() == 0 {
				t.Error("no hook was killed: the test shows nothing")
			}
			s.resume(id, rulePrompt).mustAnswer("Understood.")
			s.resume(id, "/compact").mustSucceed()
			stop()
			s.forgiveHookRows()

			s.resume(id, nextPrompt).mustAnswer("54177, down.").undisturbed()
			s.checkExported()
			s.checkRebuilt(id)
			s.strandline("verify", id).mustSucceed()
			s.checkFound(tableFact)
		})
	}
}

// TestKilledClient kills the client while it waits for an answer, so that no hook
// reports the end of the session.
func TestKilledClient(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.install()
	id := newSession(t)
	s.scriptStory()
	never := make(chan struct{})
	s.api.On("Wait for me.", mockapi.Use(mockapi.Bash("echo waited")), mockapi.Say("No.").After(never))

	ctx, kill := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.command(ctx, s.client, "--print", "--session-id", id, "Wait for me.").Run() // it is killed
	}()
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := s.api.Wait(wait, func(req *mockapi.Request) bool { return len(req.ToolResults()) > 0 })
	if err != nil {
		t.Error(err)
	}
	kill()
	<-done

	s.resume(id, rulePrompt).mustAnswer("Understood.").undisturbed()
	s.checkExported()
	s.checkFound(tableFact)
}

// TestClientsSideBySide runs sessions at the same time in the same project.
func TestClientsSideBySide(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.install()
	s.scriptStory()
	var group sync.WaitGroup
	for range 3 {
		id := newSession(t)
		group.Go(func() {
			args := []string{"--print", "--session-id", id, agentPrompt}
			if out, err := s.command(context.Background(), s.client, args...).CombinedOutput(); err != nil {
				t.Errorf("%v: %v\n%s", args, err, out)
			}
		})
	}
	group.Wait()
	if got := len(s.transcripts()); got != 6 {
		t.Errorf("%d transcripts, want 3 and one of a sub-agent for each", got)
	}
	s.checkHookRows()
	s.checkExported()
}

// checkFound fails the test unless a search finds the text. A detached process may
// still be indexing.
func (s *sandbox) checkFound(text string) {
	s.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		found := s.strandline("search", "--json", text).mustSucceed()
		var answer struct {
			Hits []struct {
				Text string `json:"text"`
			} `json:"hits"`
		}
		if err := json.Unmarshal([]byte(found.stdout), &answer); err != nil {
			s.t.Fatalf("search --json printed %q: %v", found.stdout, err)
		}
		for _, hit := range answer.Hits {
			if strings.Contains(hit.Text, text) {
				return
			}
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			s.t.Errorf("search does not find %q:\n%s", text, found.stdout)
			return
		}
	}
}
