package times

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"strandline/bench/synth"
)

// Transcript writes one invented session, turn by turn.
type Transcript struct {
	s      *synth.Session
	words  *words
	turns  int
	number int // of the next turn, as needles have it
	seed   uint64
	marked int
}

// NewTranscript begins a session that is written to w. The seed determines
// its content.
func NewTranscript(w io.Writer, session, cwd string, seed uint64) *Transcript {
	s := synth.New(w, synth.Options{
		Session: session, Cwd: cwd, Branch: "main", Version: "2.1.329", Model: "claude-opus-5-5",
		Start: time.Date(2026, 8, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(seed) * time.Hour), Seed: seed, Context: 21_000,
	})
	s.Begin()
	return &Transcript{s: s, words: newWords(s.Rand(), cwd), seed: seed}
}

// Bytes returns the number of bytes written.
func (t *Transcript) Bytes() int64 { return t.s.Bytes() }

// Turns returns the number of turns so far.
func (t *Transcript) Turns() int { return t.turns }

// Messages returns the number of rows so far that hold a prompt, a block of a
// response or a tool's result.
func (t *Transcript) Messages() int { return t.marked }

// Redirect writes the following turns to another writer.
func (t *Transcript) Redirect(w io.Writer) { t.s.Redirect(w) }

// Reseed makes the following turns equal to those of every transcript with the
// same seed.
func (t *Transcript) Reseed(seed uint64) {
	t.s.Reseed(seed)
	t.number = 10_000_000
}

// Needle returns a word that occurs in one turn of one session only, or "" for
// turns without one.
func Needle(seed uint64, turn int) string {
	if turn%10 != 3 {
		return ""
	}
	return fmt.Sprintf("needle%dx%d", seed, turn)
}

// Turn writes one turn: a prompt, up to twelve responses with a tool call each,
// and a closing reply. A context that is full is compacted.
func (t *Transcript) Turn() error {
	s, w, rnd := t.s, t.words, t.s.Rand()
	needle := Needle(t.seed, t.number)
	t.turns++
	t.number++
	s.Wait(time.Duration(20+rnd.IntN(200)) * time.Second)
	s.Prompt(w.prompt())
	t.marked++
	// Most turns are short, a few are long tool loops.
	steps := []int{0, 1, 1, 2, 2, 3, 3, 4, 4, 6, 8, 12}[rnd.IntN(12)]
	if needle != "" {
		steps = max(steps, 1)
	}
	for i := range steps {
		if rnd.IntN(10) < 3 {
			s.Think(w.paragraph(1 + rnd.IntN(6)))
			t.marked++
		}
		if rnd.IntN(10) < 6 {
			s.Say(w.paragraph(1 + rnd.IntN(3)))
			t.marked++
		}
		mark := ""
		if i == 0 {
			mark = needle
		}
		t.step(mark)
		if s.Context() > 165_000 {
			s.Compact("auto", s.Context(), 3_200, w.paragraph(40))
		}
	}
	s.Say(w.paragraph(2 + rnd.IntN(7)))
	t.marked++
	s.Respond()
	s.EndTurn()
	return s.Err()
}

// step writes one response with a tool call and its result.
func (t *Transcript) step(mark string) {
	s, w, rnd := t.s, t.words, t.s.Rand()
	t.marked += 2
	kind := rnd.IntN(100)
	if mark != "" {
		kind = 40
	}
	file := w.file()
	switch {
	case kind < 32:
		text := w.code(20 + rnd.IntN(200))
		id := s.Use("Read", synth.Row{}.Str("file_path", file))
		s.Respond()
		part := synth.Row{}.Str("filePath", file).Str("content", text).Int("startLine", 1)
		s.Answer(id, text, false, synth.Row{}.Str("type", "text").Obj("file", part))
	case kind < 64:
		command := w.command()
		if mark != "" {
			command += " -run " + mark
		}
		text := w.output(3 + rnd.IntN(90))
		id := s.Use("Bash", synth.Row{}.Str("command", command).Str("description", w.sentence(5)))
		s.Respond()
		if rnd.IntN(100) < 6 {
			s.Answer(id, "Exit code 1\n"+text, true, nil)
			return
		}
		s.Answer(id, text, false, synth.Row{}.Str("stdout", text).Str("stderr", "").Bool("interrupted", false))
	case kind < 84:
		before, after := w.code(1+rnd.IntN(8)), w.code(1+rnd.IntN(14))
		id := s.Use("Edit", synth.Row{}.Str("file_path", file).Str("old_string", before).Str("new_string", after).Bool("replace_all", false))
		s.Respond()
		s.Answer(id, "Changed "+file, false, synth.Row{}.Str("filePath", file).Str("oldString", before).Str("newString", after))
	case kind < 94:
		text := w.matches(1 + rnd.IntN(60))
		id := s.Use("Grep", synth.Row{}.Str("pattern", w.word()).Str("output_mode", "content"))
		s.Respond()
		s.Answer(id, text, false, synth.Row{}.Str("mode", "content").Str("content", text))
	default:
		text := w.code(20 + rnd.IntN(140))
		id := s.Use("Write", synth.Row{}.Str("file_path", file).Str("content", text))
		s.Respond()
		s.Answer(id, "Wrote "+file, false, synth.Row{}.Str("type", "create").Str("filePath", file))
	}
}

// Fill writes turns until the session has at least so many bytes.
func (t *Transcript) Fill(w io.Writer, bytes int64) error {
	buffered := bufio.NewWriterSize(w, 1<<20)
	t.Redirect(buffered)
	for t.Bytes() < bytes {
		if err := t.Turn(); err != nil {
			return err
		}
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	return nil
}
