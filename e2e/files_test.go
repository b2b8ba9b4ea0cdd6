package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// clientFiles lists every file below the client's projects folder that belongs to
// a session.
func (s *sandbox) clientFiles() []string {
	var files []string
	_ = filepath.WalkDir(s.projects(), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			files = append(files, path)
		}
		return nil // a file that vanished meanwhile is not there
	})
	return files
}

// transcripts maps session ids to the paths of their transcripts. A sub-agent's
// id is "<session>~<agent>".
func (s *sandbox) transcripts() map[string]string {
	found := map[string]string{}
	for _, path := range s.clientFiles() {
		if id, ok := sessionOf(path); ok {
			found[id] = path
		}
	}
	return found
}

// sessionOf returns the session whose transcript the file is.
func sessionOf(path string) (string, bool) {
	name, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
	if !ok {
		return "", false
	}
	folder := filepath.Dir(path)
	if filepath.Base(folder) != "subagents" {
		return name, true
	}
	return filepath.Base(filepath.Dir(folder)) + "~" + strings.TrimPrefix(name, "agent-"), true
}

// transcript returns the path of a main session's transcript.
func (s *sandbox) transcript(session string) string {
	s.t.Helper()
	path, ok := s.transcripts()[session]
	if !ok {
		s.t.Fatalf("the client wrote no transcript of session %s", session)
	}
	return path
}

// sideFiles lists the files of a session beside its transcript, relative to the
// folder that the transcript stands in.
func (s *sandbox) sideFiles(session string) []string {
	s.t.Helper()
	folder := filepath.Dir(s.transcript(session))
	var files []string
	for _, path := range s.clientFiles() {
		rel, err := filepath.Rel(folder, path)
		if err == nil && strings.HasPrefix(rel, session+string(filepath.Separator)) {
			files = append(files, rel)
		}
	}
	return files
}

// checkExported holds every transcript of the client against what strandline
// gives back for it.
func (s *sandbox) checkExported() {
	s.t.Helper()
	for _, difference := range s.notExported() {
		s.t.Error(difference)
	}
}

// awaitExported is checkExported for a client that writes on when its hooks have
// ended: what it wrote last is captured by a process that outlives it.
func (s *sandbox) awaitExported() {
	s.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for len(s.notExported()) > 0 {
		select {
		case <-tick.C:
		case <-deadline.C:
			s.checkExported()
			return
		}
	}
}

// notExported describes the transcripts that strandline does not give back.
func (s *sandbox) notExported() []string {
	s.t.Helper()
	var differences []string
	transcripts := s.transcripts()
	if len(transcripts) == 0 {
		differences = append(differences, "the client wrote no transcript at all")
	}
	for id, path := range transcripts {
		want := s.read(path)
		got := s.strandline("export", id)
		switch {
		case got.err != nil:
			differences = append(differences, fmt.Sprintf("export %s: %v\n%s", id, got.err, got.stderr))
		case got.stdout != want:
			differences = append(differences, fmt.Sprintf("export %s: %d bytes that are not the %d of %s: %s",
				id, len(got.stdout), len(want), filepath.Base(path), firstDifference(got.stdout, want)))
		}
	}
	return differences
}

// checkRebuilt rebuilds a session in an empty folder and holds every file of it,
// side files included, against the client's.
func (s *sandbox) checkRebuilt(session string) {
	s.t.Helper()
	transcript := s.transcript(session)
	folder := filepath.Dir(transcript)
	to := s.t.TempDir()
	s.strandline("rebuild", session, "--to", to).mustSucceed()
	found := map[string]string{}
	_ = filepath.WalkDir(to, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			found[suffixBelow(path, session)] = path
		}
		return err
	})
	for _, rel := range append(s.sideFiles(session), filepath.Base(transcript)) {
		path, ok := found[rel]
		if !ok {
			s.t.Errorf("rebuild %s: %s is missing", session, rel)
			continue
		}
		if got, want := s.read(path), s.read(filepath.Join(folder, rel)); got != want {
			s.t.Errorf("rebuild %s: %s: %s", session, rel, firstDifference(got, want))
		}
	}
}

// suffixBelow cuts the path in front of the element that starts with name.
func suffixBelow(path, name string) string {
	if i := strings.LastIndex(path, string(filepath.Separator)+name); i >= 0 {
		return path[i+1:]
	}
	return path
}

// forget deletes a session's files as the client does when they have become old.
func (s *sandbox) forget(session string) {
	s.t.Helper()
	transcript := s.transcript(session)
	for _, path := range []string{transcript, strings.TrimSuffix(transcript, ".jsonl")} {
		if err := os.RemoveAll(path); err != nil {
			s.t.Fatal(err)
		}
	}
}

// firstDifference describes where two texts part.
func firstDifference(got, want string) string {
	n := min(len(got), len(want))
	for i := range n {
		if got[i] != want[i] {
			return "they differ from " + excerpt(got, i) + " / " + excerpt(want, i)
		}
	}
	if len(got) < len(want) {
		return "the end is missing: " + excerpt(want, n)
	}
	return "there is more: " + excerpt(got, n)
}

func excerpt(s string, at int) string {
	return strings.ToValidUTF8(s[max(at-20, 0):min(at+120, len(s))], "?")
}
