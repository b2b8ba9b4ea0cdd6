package sessionlog

import (
	"bytes"
	"context"
	"testing"

	"pgregory.net/rapid"
)

// model is the expected state of a log: its bytes, the number of bytes at each state of
// the file, and the blanked ones.
type model struct {
	t    *rapid.T
	m    *memFile
	l    *Log
	src  []byte        // as appended
	seen []byte        // as readers give it
	ends map[int64]int // file size -> raw bytes
}

func (s *model) reopen() {
	var err error
	if s.l, err = openMem(s.m, len(s.m.b)); err != nil {
		s.t.Fatalf("open: %v", err)
	}
}

func (s *model) noteEnd() { s.ends[int64(len(s.m.b))] = len(s.src) }

// TestHistoryProperty applies random appends, crashes and reopenings to a log and
// compares it with the model after each step.
func TestHistoryProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &model{t: t, m: &memFile{}, ends: map[int64]int{}}
		s.reopen()
		s.noteEnd()
		lastWrite := int64(len(s.m.b))
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				p := chunk(t)
				lastWrite = int64(len(s.m.b))
				add(t, s.l, p)
				s.src, s.seen = append(s.src, p...), append(s.seen, p...)
				s.noteEnd()
			},
			"reopen": func(t *rapid.T) { s.reopen() },
			"crash": func(t *rapid.T) {
				// A crash keeps the bytes before the last write and any part of
				// that write.
				cut := rapid.Int64Range(lastWrite, int64(len(s.m.b))).Draw(t, "cut")
				tail := rapid.SampledFrom([][]byte{nil, make([]byte, 300), noise(1, 99), {0x59, 0x2a, 0x4d, 0x18}}).Draw(t, "tail")
				s.m.b = append(s.m.b[:cut], tail...)
				raw := 0
				for size, n := range s.ends {
					if size <= cut {
						raw = max(raw, n)
					} else {
						delete(s.ends, size)
					}
				}
				s.reopen()
				// Complete frames of the last append are kept, with or without footers.
				raw = max(raw, int(s.l.Position().Raw))
				s.src, s.seen = s.src[:raw], s.seen[:raw]
				s.noteEnd()
				lastWrite = int64(len(s.m.b))
			},
			"blank": func(t *rapid.T) {
				lines := bytes.Count(s.src, []byte{'\n'})
				if lines == 0 {
					t.Skip("no lines")
				}
				n := rapid.IntRange(0, lines-1).Draw(t, "line")
				if err := s.l.Blank(context.Background(), n); err != nil {
					t.Fatalf("blank line %d: %v", n, err)
				}
				from, to := lineAt(s.src, n)
				blank(s.seen, 0, []span{{int64(from), int64(to)}})
				s.noteEnd()
				lastWrite = int64(len(s.m.b)) // a crash in it would need the model to forget
			},
			"seal": func(t *rapid.T) {
				out := &memFile{}
				to := &Log{path: "sealed", f: out, mode: sealMode(), final: &s.l.last}
				v, err := s.l.reader()
				if err != nil {
					t.Fatalf("view: %v", err)
				}
				defer v.Close()
				if err := to.begin(headerFrame(s.l.header)); err != nil {
					t.Fatalf("begin: %v", err)
				}
				to.prints = &fingerprints{head: []byte{}}
				if err := to.copyFrom(context.Background(), v, rewriting{}, new(bytes.Buffer)); err != nil {
					t.Fatalf("seal: %v", err)
				}
				s.m, s.ends = out, map[int64]int{}
				s.noteEnd()
				lastWrite = int64(len(s.m.b))
				s.reopen()
			},
			"": func(t *rapid.T) {
				wantMem(t, s.m.b, s.seen)
				pos := s.l.Position()
				if got := Compare(bytes.NewReader(s.src), int64(len(s.src)), pos); got != Same {
					t.Fatalf("the source compares as %v with %+v", got, pos)
				}
				r := memReader(t, s.m)
				defer r.Close()
				if r.Position() != pos {
					t.Fatalf("writer at %+v, reader at %+v", pos, r.Position())
				}
				for _, n := range []int{pos.Lines / 3, pos.Lines} {
					from, _ := lineAt(s.src, n)
					if off, err := r.OffsetOfLine(context.Background(), n); err != nil || off != int64(from) {
						t.Fatalf("line %d at %d, %v, want %d", n, off, err, from)
					}
				}
				third, _ := lineAt(s.src, pos.Lines/3)
				last, _ := lineAt(s.src, pos.Lines)
				for to, want := range map[int]int64{0: pos.Raw, pos.Lines + 1: pos.Raw, max(pos.Lines, 1): int64(last)} {
					if to == 1 && pos.Lines == 0 {
						want = pos.Raw
					}
					if from, end, err := r.Range(context.Background(), pos.Lines/3, to); err != nil || from != int64(third) || end != want {
						t.Fatalf("lines %d to %d of %d from %d to %d, %v, want %d to %d", pos.Lines/3, to, pos.Lines, from, end, err, third, want)
					}
				}
			},
		})
	})
}

func chunk(t *rapid.T) []byte {
	switch rapid.IntRange(0, 5).Draw(t, "size") {
	case 0:
		return noise(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 9000).Draw(t, "n"))
	case 1:
		return jsonLines(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 150_000).Draw(t, "n"))
	default:
		return []byte(rapid.StringMatching(`([a-c]{0,6}\n?){1,8}.`).Draw(t, "text"))
	}
}

// lineAt returns where line n begins and ends, its newline included.
func lineAt(b []byte, n int) (from, to int) {
	for range n {
		from += bytes.IndexByte(b[from:], '\n') + 1
	}
	if i := bytes.IndexByte(b[from:], '\n'); i >= 0 {
		return from, from + i + 1
	}
	return from, len(b)
}
