package eval

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"strandline/bench/synth"
)

// line is one thing said in a conversation, with the name that the answers to
// questions use for it.
type line struct {
	id    string
	text  string
	reply bool // said by the agent, not by the person
	// command, if it is not empty, was run by the agent, and text is its output.
	command string
}

// talk is a conversation that becomes one transcript.
type talk struct {
	name  string // the session's id follows from it
	cwd   string
	start time.Time
	lines []line
}

// session is the id of a talk's session.
func (t *talk) session() string {
	h := sha256.Sum256([]byte(t.name))
	return fmt.Sprintf("%x-%x-4%x-8%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])[:36]
}

// places maps a session to the transcript lines of its talk.
type places map[string][]place

type place struct {
	id       string
	from, to int // transcript lines, end exclusive
}

// at returns the ids of the talk lines in the lines [from, to) of a session.
func (p places) at(session string, from, to int) []string {
	var ids []string
	for _, x := range p[session] {
		if x.from < to && x.to > from {
			ids = append(ids, x.id)
		}
	}
	return ids
}

// write writes transcripts of talks to dir and returns the position of each line.
func write(dir string, talks []talk) (places, error) {
	where := places{}
	for i := range talks {
		t := &talks[i]
		var b bytes.Buffer
		s := synth.New(&b, synth.Options{
			Session: t.session(), Cwd: t.cwd, Branch: "main", Version: "2.1.329", Model: "claude-opus-4-6", Start: t.start, Seed: uint64(i), Context: 12_000,
		})
		s.Begin()
		for _, l := range t.lines {
			from := s.Lines()
			switch {
			case l.command != "":
				call := s.Use("Bash", synth.Row{}.Str("command", l.command))
				s.Respond()
				out := synth.Row{}.Str("stdout", l.text).Str("stderr", "").Bool("interrupted", false).Bool("isImage", false)
				s.Answer(call, l.text, false, out)
			case l.reply:
				s.Say(l.text)
				s.Respond()
			default:
				s.Prompt(l.text)
			}
			where[t.session()] = append(where[t.session()], place{l.id, from, s.Lines()})
		}
		if err := s.Err(); err != nil {
			return nil, fmt.Errorf("write a transcript: %w", err)
		}
		folder := filepath.Join(dir, "-eval")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, fmt.Errorf("write a transcript: %w", err)
		}
		if err := os.WriteFile(filepath.Join(folder, t.session()+".jsonl"), b.Bytes(), 0o600); err != nil {
			return nil, fmt.Errorf("write a transcript: %w", err)
		}
	}
	return where, nil
}
