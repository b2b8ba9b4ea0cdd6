package capture

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
)

// chunks returns the complete lines of a text, read in chunks of a size.
func chunks(t testing.TB, text string, from, size int64) (got []string, offset int64) {
	t.Helper()
	l := &lineReader{log: strings.NewReader(text), offset: from, end: int64(len(text)), size: size}
	if err := l.resume(); err != nil {
		t.Fatal(err)
	}
	for {
		chunk, at, err := l.next()
		if err != nil {
			t.Fatal(err)
		}
		if len(chunk) == 0 {
			return got, at
		}
		got = append(got, string(chunk))
	}
}

func TestLineReader(t *testing.T) {
	for _, c := range []struct {
		name, text string
		from, size int64
		want       []string
		left       string // after the offset
	}{
		{"nothing", "", 0, 8, nil, ""},
		{"all in one chunk", "{1}\n{2}\n", 0, 100, []string{"{1}\n{2}\n"}, ""},
		{"as many as fit", "{1}\n{2}\n{3}\n", 0, 10, []string{"{1}\n{2}\n", "{3}\n"}, ""},
		{"a chunk that ends with its line", "{1}\n{2}\n", 0, 4, []string{"{1}\n", "{2}\n"}, ""},
		{"a line longer than a chunk", "{1}\n" + strings.Repeat("x", 50) + "\n{2}\n", 0, 8, []string{"{1}\n", strings.Repeat("x", 50) + "\n{2}\n"}, ""},
		{"an unfinished line waits", "{1}\n{\"a\":", 0, 8, []string{"{1}\n"}, `{"a":`},
		{"an unfinished line longer than a chunk waits", `{"a":"` + strings.Repeat("x", 50), 0, 8, nil, `{"a":"` + strings.Repeat("x", 50)},
		{"a whole object needs no newline", "{\"a\":1}\n{\"b\":2}", 0, 8, []string{"{\"a\":1}\n", "{\"b\":2}\n"}, ""},
		{"nor do trailing blanks", "{\"b\":2} \t\r", 0, 8, []string{"{\"b\":2} \t\r\n"}, ""},
		{"a line that is not an object needs its newline", "[1]", 0, 8, nil, "[1]"},
		{"a number might go on", "12", 0, 8, nil, "12"},
		{"empty lines count", "\n\n{}\n", 0, 8, []string{"\n\n{}\n"}, ""},

		{"from a line's beginning", "{1}\n{2}\n", 4, 8, []string{"{2}\n"}, ""},
		{"after an object whose newline was written later", "{\"a\":1}\n{2}\n", 7, 100, []string{"{2}\n"}, ""},
		{"after one whose blanks and newline were written later", "{\"a\":1} \r\n{2}\n", 7, 100, []string{"{2}\n"}, ""},
		{"after one without its newline", "{\"a\":1}", 7, 100, nil, ""},
		{"from the end", "{1}\n", 4, 100, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, offset := chunks(t, c.text, c.from, c.size)
			if strings.Join(got, "|") != strings.Join(c.want, "|") || c.text[offset:] != c.left {
				t.Errorf("chunks %q, left %q; want %q, %q", got, c.text[offset:], c.want, c.left)
			}
		})
	}
}

// TestLineReaderProperty checks that the same lines are read for every chunk size and
// every restart.
func TestLineReaderProperty(t *testing.T) {
	line := rapid.OneOf(
		rapid.SampledFrom([]string{"", "{}", `{"a":"b\n"}`, `{"a":`, "x", "[]", `{"é":"日本"} `, "\r"}),
		rapid.StringMatching(`[a-z{}":]{0,40}`),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(line, 0, 8).Draw(t, "lines"), "\n")
		var whole []byte // complete lines, and a last object with the newline it lacks
		if i := strings.LastIndexByte(text, '\n'); i >= 0 {
			whole = []byte(text[:i+1])
		}
		if tail := text[len(whole):]; isObject([]byte(tail)) {
			whole = append(append(whole, tail...), '\n')
		}
		l := &lineReader{log: strings.NewReader(text), end: int64(len(text))}
		var got []byte
		for {
			l.size = rapid.Int64Range(1, 20).Draw(t, "size")
			chunk, offset, err := l.next()
			if err != nil {
				t.Fatal(err)
			}
			if len(chunk) == 0 {
				break
			}
			if chunk[len(chunk)-1] != '\n' || offset != l.offset {
				t.Fatalf("chunk %q up to %d, the reader is at %d", chunk, offset, l.offset)
			}
			got = append(got, chunk...)
			if rapid.Bool().Draw(t, "another reader") {
				l = &lineReader{log: l.log, offset: offset, end: l.end}
				if err := l.resume(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !bytes.Equal(got, whole) {
			t.Fatalf("of %q came %q, want %q", text, got, whole)
		}
	})
}

func TestIsObject(t *testing.T) {
	for line, want := range map[string]bool{
		`{}`: true, `{"a":{"b":[1,2]}}`: true, "{\"a\":1}\r": true, `{"a":1} 	`: true, "{\"a\":\"\xff\"}": true, `{"a":1,"a":2}`: true,
		``: false, `{`: false, `}`: false, `{"a":1`: false, `{"a":{}`: false, `{"a":"}`: false, `[]`: false, `"x"`: false, `1`: false,
		`{}{}`: false, ` {}`: false, `{"a":1}x`: false, `{a:1}`: false,
	} {
		if got := isObject([]byte(line)); got != want {
			t.Errorf("isObject(%q) = %v", line, got)
		}
	}
}

// TestLongLineSkipped checks that a line too long to index is skipped when it is
// complete; an empty one keeps the line numbers.
func TestLongLineSkipped(t *testing.T) {
	long := strings.Repeat("x", 200<<10) // longer than what is looked through at once
	l := &lineReader{log: strings.NewReader("{1}\n" + long + "\n{2}\n"), offset: 4, end: int64(len(long)) + 9}
	chunk, offset, err := l.skipLine()
	if err != nil || string(chunk) != "\n" || offset != int64(len(long))+5 {
		t.Fatalf("chunk %q up to %d, %v", chunk, offset, err)
	}
	if chunk, _, err = l.next(); err != nil || string(chunk) != "{2}\n" {
		t.Errorf("then %q, %v", chunk, err)
	}
	l = &lineReader{log: strings.NewReader(long), end: int64(len(long))}
	if chunk, offset, err := l.skipLine(); err != nil || len(chunk) != 0 || offset != 0 || l.offset != 0 {
		t.Errorf("without its end: %q up to %d, %v", chunk, offset, err)
	}
}

var errDisk = errors.New("disk on fire")

type broken struct{}

func (broken) ReadAt([]byte, int64) (int, error) { return 0, errDisk }

func TestLineReaderErrors(t *testing.T) {
	for name, read := range map[string]func(l *lineReader) error{
		"resume": func(l *lineReader) error { return l.resume() },
		"next":   func(l *lineReader) error { _, _, err := l.next(); return err },
		"skip":   func(l *lineReader) error { _, _, err := l.skipLine(); return err },
	} {
		l := &lineReader{log: broken{}, offset: 3, end: 10}
		if err := read(l); !errors.Is(err, errDisk) || l.offset != 3 {
			t.Errorf("%s: %v, at %d", name, err, l.offset)
		}
	}
	short := &lineReader{log: strings.NewReader("{1}"), end: 10} // the log lost bytes meanwhile
	if _, _, err := short.next(); !errors.Is(err, io.EOF) {
		t.Errorf("a log that is shorter than it says: %v", err)
	}
}

func FuzzLines(f *testing.F) {
	f.Add("{\"a\":1}\n{\"b\":2}", int64(5), int64(3))
	f.Add("\n\n{}\r\n{", int64(1), int64(0))
	f.Add(strings.Repeat("{}\n", 20), int64(7), int64(9))
	f.Fuzz(func(t *testing.T, text string, size, from int64) {
		if size < 1 || size > 1<<20 || from < 0 || from > int64(len(text)) {
			return
		}
		got, offset := chunks(t, text, from, size)
		if offset < from || offset > int64(len(text)) {
			t.Fatalf("from %d to %d of %d", from, offset, len(text))
		}
		for _, chunk := range got {
			if !strings.HasSuffix(chunk, "\n") || !strings.Contains(text+"\n", chunk) {
				t.Fatalf("%q is not a line of %q", chunk, text)
			}
		}
	})
}

func TestMemoryReadAt(t *testing.T) {
	m := &memory{at: 100, bytes: []byte("0123456789")}
	for _, c := range []struct {
		name string
		off  int64
		n    int
		want string
		err  bool
		eof  bool
	}{
		{"the beginning", 100, 4, "0123", false, false},
		{"the middle", 105, 3, "567", false, false},
		{"up to the end", 106, 4, "6789", false, false},
		{"over the end", 108, 4, "89", true, true},
		{"at the end", 110, 1, "", true, true},
		{"nothing at the end", 110, 0, "", false, false},
		{"before the beginning", 99, 4, "", true, false},
		{"after the end", 111, 1, "", true, false},
	} {
		p := make([]byte, c.n)
		n, err := m.ReadAt(p, c.off)
		if string(p[:n]) != c.want || (err != nil) != c.err || errors.Is(err, io.EOF) != c.eof {
			t.Errorf("%s: %q, %v", c.name, p[:n], err)
		}
	}
	// A section conforms to io.ReaderAt.
	all, err := io.ReadAll(io.NewSectionReader(m, 103, 7))
	if err != nil || string(all) != "3456789" {
		t.Errorf("a section gives %q, %v", all, err)
	}
}

func TestMarkFork(t *testing.T) {
	copyOf := func(session string) archive.Turn { return archive.Turn{Copy: &archive.Ref{Session: session}} }
	for _, c := range []struct {
		name   string
		before archive.Session
		turns  []archive.Turn
		parent string
	}{
		{"no turns", archive.Session{ID: "b"}, nil, ""},
		{"new turns", archive.Session{ID: "b"}, []archive.Turn{{}, {}}, ""},
		{"a copied turn", archive.Session{ID: "b"}, []archive.Turn{{}, copyOf("a")}, "a"},
		{"copies of two: the first counts", archive.Session{ID: "b"}, []archive.Turn{copyOf("a"), copyOf("c")}, "a"},
		{"copies of its former generation", archive.Session{ID: "b"}, []archive.Turn{copyOf("b"), copyOf("b@1")}, ""},
		{"of itself, then of another", archive.Session{ID: "b"}, []archive.Turn{copyOf("b@1"), copyOf("a")}, "a"},
		{"of an older generation of another", archive.Session{ID: "b"}, []archive.Turn{copyOf("a@1")}, "a@1"},
		{"a sub-agent's run keeps its parent", archive.Session{ID: "p~x", Parent: "p", Relation: archive.RelationAgent}, []archive.Turn{copyOf("a")}, "p"},
	} {
		b := archive.Batch{Session: c.before, Turns: c.turns}
		markFork(&b)
		wantRelation := archive.RelationFork
		if c.parent == c.before.Parent {
			wantRelation = c.before.Relation
		}
		if b.Session.Parent != c.parent || b.Session.Relation != wantRelation {
			t.Errorf("%s: parent %q, relation %q", c.name, b.Session.Parent, b.Session.Relation)
		}
	}
}

func TestArchiveIDs(t *testing.T) {
	for want, h := range map[string]sessionlog.Header{
		"p": {Session: "p"}, "p~a1": {Session: "p", Agent: "a1"},
	} {
		if got := archiveID(h); got != want {
			t.Errorf("%+v: %q, want %q", h, got, want)
		}
	}
}
