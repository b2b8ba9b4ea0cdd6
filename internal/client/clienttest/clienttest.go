// Package clienttest checks the translators of clients: what a sample yields, that reading
// in pieces gives the same, and that no bad line loses the lines after it.
package clienttest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/text"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

var update = flag.Bool("update", false, "write the golden files")

// Rows are the rows of one transcript, each in its last state.
type Rows struct {
	Session     archive.Session
	Turns       []archive.Turn
	Steps       []archive.Step
	Calls       []archive.Call
	Passages    []archive.Passage
	Files       []archive.FileTouch
	Tasks       []archive.TaskEvent
	Compactions []archive.Compaction
	Cursor      archive.Cursor
}

// Read reads the pieces of a transcript one after the other, each with a new reader at the
// cursor of the piece before.
func Read(tb testing.TB, open func() transcript.Translator, pieces ...[]byte) Rows {
	tb.Helper()
	base := archive.Session{ID: "session", Client: "client"}
	var all Rows
	for _, piece := range pieces {
		r, err := transcript.NewTranslated(open(), all.Cursor, func(cur archive.Cursor) (transcript.Reader, error) {
			return claude.NewReader(base, cur, nil)
		})
		if err != nil {
			tb.Fatal(err)
		}
		b, err := r.Read(tb.Context(), piece, nil)
		if err != nil {
			tb.Fatal(err)
		}
		if b.From != all.Cursor.Offset {
			tb.Fatalf("the batch begins at %d, not at the cursor %d", b.From, all.Cursor.Offset)
		}
		all.add(b)
	}
	return all
}

// add adds a batch: a row replaces the one at its place.
func (all *Rows) add(b archive.Batch) {
	all.Session, all.Cursor = b.Session, b.Cursor
	all.Turns = merge(all.Turns, b.Turns, func(t archive.Turn) [3]int { return [3]int{t.Index} })
	all.Steps = merge(all.Steps, b.Steps, func(s archive.Step) [3]int { return [3]int{s.Turn, s.Index} })
	all.Calls = merge(all.Calls, b.Calls, func(c archive.Call) [3]int { return [3]int{c.Turn, c.Step, c.Seq} })
	all.Passages = merge(all.Passages, b.Passages, func(p archive.Passage) [3]int { return [3]int{p.Turn, p.Step, p.Seq} })
	all.Compactions = merge(all.Compactions, b.Compactions, func(c archive.Compaction) [3]int { return [3]int{c.Index} })
	all.Files = append(all.Files, b.Files...)
	all.Tasks = append(all.Tasks, b.Tasks...)
	for i := range all.Turns {
		all.Turns[i].Dead = all.Turns[i].Dead || slices.Contains(b.DeadTurns, all.Turns[i].Index)
	}
}

func merge[T any](list, more []T, key func(T) [3]int) []T {
	for _, row := range more {
		if i := slices.IndexFunc(list, func(old T) bool { return key(old) == key(row) }); i >= 0 {
			list[i] = row
		} else {
			list = append(list, row)
		}
	}
	slices.SortStableFunc(list, func(a, b T) int { ka, kb := key(a), key(b); return slices.Compare(ka[:], kb[:]) })
	return list
}

// String lists the rows, one a line.
func (all Rows) String() string {
	var b strings.Builder
	s := all.Session
	fmt.Fprintf(&b, "session %q cwd %s model %s version %s branch %s\n", s.Title, s.Cwd, s.Model, s.Version, s.GitBranch)
	fmt.Fprintf(&b, "%d turns, %d steps, %d calls, %d compactions, tokens %v, %s to %s\n", s.Turns, s.Steps, s.Calls, s.Compacts, s.Usage,
		s.First.Format("2006-01-02T15:04:05"), s.Last.Format("2006-01-02T15:04:05"))
	for _, t := range all.Turns {
		fmt.Fprintf(&b, "\nturn %d [%d,%d) %q", t.Index, t.LineFrom, t.LineTo, t.Title)
		if t.Dead {
			b.WriteString(" dead")
		}
		b.WriteString("\n")
		for _, p := range all.Passages {
			if p.Turn == t.Index && p.Step < 0 {
				fmt.Fprintf(&b, "  %s\n", passage(p))
			}
		}
		for _, s := range all.Steps {
			if s.Turn == t.Index {
				all.step(&b, s)
			}
		}
	}
	for _, c := range all.Compactions {
		fmt.Fprintf(&b, "\ncompaction %d line %d turn %d trigger %q tokens %d to %d summary line %d\n", c.Index, c.Line, c.Turn, c.Trigger, c.PreTokens, c.PostTokens, c.SummaryLine)
	}
	for _, f := range all.Files {
		fmt.Fprintf(&b, "file %s %s turn %d\n", f.Kind, f.Path, f.Turn)
	}
	for _, e := range all.Tasks {
		fmt.Fprintf(&b, "task %s %s %q line %d\n", e.TaskID, e.Status, e.Subject, e.Line)
	}
	return b.String()
}

func (all Rows) step(b *strings.Builder, s archive.Step) {
	fmt.Fprintf(b, "  step %d [%d,%d) %s %v %s", s.Index, s.LineFrom, s.LineTo, s.Model, s.Usage, s.Stop)
	for _, flag := range []struct {
		set  bool
		name string
	}{{s.APIError, "error"}, {s.Sidechain, "sidechain"}} {
		if flag.set {
			b.WriteString(" " + flag.name)
		}
	}
	b.WriteString("\n")
	for _, c := range all.Calls {
		if c.Turn != s.Turn || c.Step != s.Index {
			continue
		}
		fmt.Fprintf(b, "    call %s (%s) lines %d %d %s", c.Name, c.Kind, c.LineUse, c.LineResult, strings.Join(append(c.Files, text.OneLine(c.Command)), " "))
		if c.Exit != nil {
			fmt.Fprintf(b, " exit %d", *c.Exit)
		}
		if c.Failed {
			fmt.Fprintf(b, " FAILED %s", c.Error)
		}
		b.WriteString("\n")
	}
	for _, p := range all.Passages {
		if p.Turn == s.Turn && p.Step == s.Index {
			fmt.Fprintf(b, "    %s\n", passage(p))
		}
	}
}

func passage(p archive.Passage) string {
	return fmt.Sprintf("%s %s %q", p.Kind, p.Label, text.Prefix(text.OneLine(p.Text), 90))
}

// Golden reads testdata/session.jsonl and compares the rows with testdata/session.golden.
// Reading it line by line, and with bad lines between its lines, must give the same.
func Golden(t *testing.T, open func() transcript.Translator) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "session.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "session.golden")
	got := Read(t, open, data).String()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the rows differ from %s:\n%s", golden, got)
	}
	if pieces := Read(t, open, bytes.SplitAfter(data, []byte("\n"))...).String(); pieces != got {
		t.Errorf("reading line by line gives other rows:\n%s", pieces)
	}
}

// badLines are lines that no client writes, or only when it is interrupted.
var badLines = []string{
	"", " ", "null", "[]", "{", `{"type":`, `"text"`, `{"type":7,"id":[],"timestamp":{},"message":"x","data":9}`, "\x1e{}", "\x00\xff",
	`{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall"},7,null]}}`, `{"type":"assistant","message":{"parts":[7,{}]}}`,
	`[{"type":"user","message":{"content":"not a row"}}]`,
}

// Fuzz checks that a translator survives any line, that every line remains one line, and
// that the lines after it are read.
func Fuzz(f *testing.F, open func() transcript.Translator) {
	f.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "session.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		f.Add(bytes.TrimSuffix(line, []byte("\n")))
		f.Add(line[:len(line)/2])
	}
	for _, line := range badLines {
		f.Add([]byte(line))
	}
	whole := Read(f, open, data).Session
	f.Fuzz(func(t *testing.T, bad []byte) {
		bad = append(bytes.ReplaceAll(bad, []byte("\n"), []byte(" ")), '\n')
		if out := transcript.Translate(open(), bad); bytes.Count(out, []byte("\n")) != 1 {
			t.Fatalf("%q became %q", bad, out)
		}
		got := Read(t, open, bad, data)
		if got.Session.Lines != whole.Lines+1 || got.Cursor.Offset != int64(len(bad)+len(data)) {
			t.Fatalf("after %q: %d lines, cursor %d", bad, got.Session.Lines, got.Cursor.Offset)
		}
		for _, p := range got.Passages {
			if len(p.Text) > archive.MaxPassage || p.LineTo <= p.LineFrom || p.LineTo > got.Session.Lines {
				t.Fatalf("after %q: bad passage %+v", bad, p)
			}
		}
	})
}
