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
		return nil // the file vanished meanwhile
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

// sideFiles lists a session's files next to its transcript, relative to the
// transcript's folder.
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

// checkExported compares every transcript of the client with its export.
func (s *sandbox) checkExported() {
	s.t.Helper()
	for _, difference := range s.notExported() {
		s.t.Error(difference)
	}
}

// awaitExported is checkExported for a client that writes rows after its last hook;
// a detached process captures them.
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

// notExported describes the transcripts whose export differs.
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

// checkRebuilt rebuilds a session in an empty folder and compares every file,
// including side files, with the client's.
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

// suffixBelow returns the part of path from the element that starts with name.
func suffixBelow(path, name string) string {
	if i := strings.LastIndex(path, string(filepath.Separator)+name); i >= 0 {
		return path[i+1:]
	}
	return path
}

// forget deletes a session's files as the client does when they are old.
func (s *sandbox) forget(session string) {
	s.t.Helper()
	transcript := s.transcript(session)
	for _, path := range []string{transcript, strings.TrimSuffix(transcript, ".jsonl")} {
		if err := os.RemoveAll(path); err != nil {
			s.t.Fatal(err)
		}
	}
}

// firstDifference describes the first difference of two texts.
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
