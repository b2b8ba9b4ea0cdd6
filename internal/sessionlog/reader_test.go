package sessionlog

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"strandline/internal/archive"
)

// bigLog makes a log of n small appends in memory.
func bigLog(t tb, n int) (*memFile, []byte) {
	m := &memFile{}
	l, err := openMem(m, 0)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	var all []byte
	for i := range n {
		p := jsonLines(uint64(i), 30)
		if i%5 == 0 {
			p = p[:len(p)/2] // lines that go on in the next frame
		}
		add(t, l, p)
		all = append(all, p...)
	}
	return m, all
}

func memReader(t tb, m *memFile) *Reader {
	t.Helper()
	r, err := readerOf("mem.zst", m, int64(len(m.b)))
	if err != nil {
		t.Fatalf("open reader: %v", err)
	}
	return r
}

func TestReaderInterfaces(t *testing.T) {
	m, want := bigLog(t, 30)
	r := memReader(t, m)
	defer closeLog(t, r)
	if err := iotest.TestReader(r.NewSection(0, r.Position().Raw), want); err != nil {
		t.Error(err)
	}
	got, err := io.ReadAll(r.NewSection(100, 5000))
	if err != nil || !bytes.Equal(got, want[100:5100]) {
		t.Errorf("section: %v", err)
	}
	if n, err := r.ReadAt(make([]byte, 5), int64(len(want))); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %d, %v", n, err)
	}
	if n, err := r.ReadAt(make([]byte, 5), int64(len(want)-2)); n != 2 || !errors.Is(err, io.EOF) {
		t.Errorf("across the end: %d, %v", n, err)
	}
	if _, err := r.ReadAt(make([]byte, 5), -1); archive.ErrorCode(err) != archive.CodeInvalid {
		t.Errorf("before the beginning: %v", err)
	}
	if _, err := r.WriteTo(failingWriter{}); !errors.Is(err, errWriter) {
		t.Errorf("a writer that fails: %v", err)
	}
}

var errWriter = errors.New("the writer is full")

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errWriter }

func TestReadAt(t *testing.T) {
	m, want := bigLog(t, 1000)
	r := memReader(t, m)
	defer closeLog(t, r)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 3))
			for range 200 {
				off := rnd.IntN(len(want))
				got := make([]byte, min(rnd.IntN(3000), len(want)-off))
				if _, err := r.ReadAt(got, int64(off)); err != nil || !bytes.Equal(got, want[off:off+len(got)]) {
					t.Errorf("ReadAt(%d bytes, %d): %v", len(got), off, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestOffsetOfLine(t *testing.T) {
	m, want := bigLog(t, 500)
	r := memReader(t, m)
	defer closeLog(t, r)
	ctx := context.Background()
	offsets := []int64{0}
	for i, c := range want {
		if c == '\n' {
			offsets = append(offsets, int64(i+1))
		}
	}
	for _, step := range []int{1, 7, len(offsets) - 1} {
		for n := 0; n < len(offsets); n += step {
			if got, err := r.OffsetOfLine(ctx, n); err != nil || got != offsets[n] {
				t.Fatalf("OffsetOfLine(%d) = %d, %v, want %d", n, got, err, offsets[n])
			}
		}
	}
	for n, code := range map[int]archive.Code{-1: archive.CodeInvalid, len(offsets): archive.CodeNotFound} {
		if _, err := r.OffsetOfLine(ctx, n); archive.ErrorCode(err) != code {
			t.Errorf("OffsetOfLine(%d): %v", n, err)
		}
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := r.OffsetOfLine(gone, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
}

// countingFile counts the reads of a file.
type countingFile struct {
	io.ReaderAt
	reads int
	bytes int
}

func (c *countingFile) ReadAt(p []byte, off int64) (int, error) {
	c.reads++
	c.bytes += len(p)
	return c.ReaderAt.ReadAt(p, off)
}

// TestLookupCost checks that the search for a position is logarithmic in the number of
// frames, and that opening a log does not depend on it.
func TestLookupCost(t *testing.T) {
	m, want := bigLog(t, 5000)
	c := &countingFile{ReaderAt: bytes.NewReader(m.b)}
	r, err := readerOf("mem.zst", c, int64(len(m.b)))
	if err != nil {
		t.Fatal(err)
	}
	defer closeLog(t, r)
	if c.reads > 10 {
		t.Errorf("opening takes %d reads", c.reads)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		c.reads, c.bytes = 0, 0
		n := 1 + rnd.IntN(r.Position().Lines)
		if _, err := r.OffsetOfLine(context.Background(), n); err != nil {
			t.Fatal(err)
		}
		if c.reads > 64 || c.bytes > 32<<10 {
			t.Fatalf("line %d of %d takes %d reads, %d bytes", n, r.Position().Lines, c.reads, c.bytes)
		}
	}
	c.reads = 0
	if n, err := r.WriteTo(io.Discard); err != nil || n != int64(len(want)) {
		t.Fatal(err)
	}
	if most := len(m.b)/(32<<10) + 20; c.reads > most {
		t.Errorf("reading it all takes %d reads, want at most %d", c.reads, most)
	}
}

// TestReaderDuringAppends checks that a reader sees the log as it was opened.
func TestReaderDuringAppends(t *testing.T) {
	path := logPath(t)
	build(t, path, []byte("one\n"), jsonLines(1, 100_000))
	want := append([]byte("one\n"), jsonLines(1, 100_000)...)
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer closeLog(t, r)
	half := make([]byte, 50_000)
	if _, err := r.ReadAt(half, 0); err != nil {
		t.Fatal(err)
	}
	l := open(t, path)
	for i := range 20 {
		add(t, l, jsonLines(uint64(i), 9000))
	}
	closeLog(t, l)
	if !closeBeforeRename { // an open file cannot be replaced there
		if rep, err := Seal(context.Background(), path); err != nil || !rep.Done {
			t.Fatalf("Seal: %+v, %v", rep, err)
		}
	}
	wantBytes(t, r, want)
}

func TestReaderEmptyLog(t *testing.T) {
	path := logPath(t)
	closeLog(t, open(t, path))
	wantLog(t, path, nil)
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer closeLog(t, r)
	if off, err := r.OffsetOfLine(context.Background(), 0); off != 0 || err != nil {
		t.Errorf("line 0 at %d, %v", off, err)
	}
	if _, err := r.ReadAt(make([]byte, 1), 0); !errors.Is(err, io.EOF) {
		t.Errorf("first byte: %v", err)
	}
}

func TestCompare(t *testing.T) {
	base := jsonLines(5, 20_000)
	change := func(at int) []byte {
		b := bytes.Clone(base)
		b[at] ^= 1
		return b
	}
	l, err := openMem(&memFile{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	add(t, l, base)
	pos := l.Position()
	stored := pos
	stored.HeadLen, stored.TailLen = 0, 0
	for _, tc := range []struct {
		name string
		src  []byte
		want Match
	}{
		{"the same", base, Same},
		{"more", append(bytes.Clone(base), "more"...), Grown},
		{"less", base[:len(base)-1], Rewritten},
		{"nothing", nil, Rewritten},
		{"first byte changed", change(0), Rewritten},
		{"byte 4095 changed", change(4095), Rewritten},
		{"last byte changed", change(len(base) - 1), Rewritten},
		{"changed and longer", append(change(len(base)-4096), 'x'), Rewritten},
		{"changed between the windows", change(10_000), Same},
	} {
		for _, p := range []Position{pos, stored} {
			if got := Compare(bytes.NewReader(tc.src), int64(len(tc.src)), p); got != tc.want {
				t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
			}
		}
	}
	if got := Compare(bytes.NewReader(base[:100]), int64(len(base)), pos); got != Rewritten {
		t.Errorf("a source that ends early: %v", got)
	}
	if got := Compare(brokenSource{}, int64(len(base)), pos); got != Unreadable {
		t.Errorf("a source that cannot be read: %v", got)
	}
	if got := Compare(strings.NewReader(""), 0, Position{}); got != Same {
		t.Errorf("nothing and nothing: %v", got)
	}
	if got := Compare(brokenSource{}, 7, Position{}); got != Grown {
		t.Errorf("nothing and something: %v", got)
	}
}

type brokenSource struct{}

func (brokenSource) ReadAt([]byte, int64) (int, error) { return 0, errors.New("bad sector") }
