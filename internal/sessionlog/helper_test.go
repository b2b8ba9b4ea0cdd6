package sessionlog

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
)

// tb has the methods that *testing.T and *rapid.T share.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

var (
	someHeader = Header{
		Client: "claude", Session: "7f3a12cd-0000-4000-8000-000000000001", Slug: "-home-dev-project",
		Source: "/home/dev/.claude/projects/-home-dev-project/7f3a12cd.jsonl", Kind: KindTranscript,
		Cwd: "/home/dev/project", Generation: 1,
		Project: archive.Project{Key: "git:/home/dev/project/.git", Name: "project"},
		Created: time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC),
	}
	someSource = uint64(42)
)

func logPath(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "log", "claude", "s.jsonl.zst")
}

func open(t tb, path string) *Log {
	t.Helper()
	l, err := Open(context.Background(), path, someHeader)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return l
}

func closeLog(t tb, l io.Closer) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

func add(t tb, l *Log, p []byte) {
	t.Helper()
	if err := l.Append(context.Background(), p, someSource); err != nil {
		t.Fatalf("Append of %d bytes: %v", len(p), err)
	}
}

// memFile is a file in memory, for tests that create thousands of files.
type memFile struct{ b []byte }

func (m *memFile) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(m.b).ReadAt(p, off)
}

func (m *memFile) WriteAt(p []byte, off int64) (int, error) {
	if end := int(off) + len(p); end > len(m.b) {
		m.b = append(m.b, make([]byte, end-len(m.b))...)
	}
	return copy(m.b[off:], p), nil
}

func (m *memFile) Truncate(size int64) error {
	m.b = append(m.b[:min(int(size), len(m.b))], make([]byte, max(0, int(size)-len(m.b)))...)
	return nil
}

func (m *memFile) Sync() error  { return nil }
func (m *memFile) Close() error { return nil }

// openMem opens the log in m as Open would.
func openMem(m file, size int) (*Log, error) {
	l := &Log{path: "mem.zst", f: m, mode: appendMode()}
	err := l.attach(int64(size), someHeader, Haste{}.check())
	return l, err
}

// wantMem checks that the log in b holds exactly want.
func wantMem(t tb, b []byte, want []byte) {
	t.Helper()
	r, err := readerOf("mem.zst", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatalf("open reader: %v", err)
	}
	defer closeLog(t, r)
	wantBytes(t, r, want)
	rep, err := verify(context.Background(), "mem.zst", bytes.NewReader(b), int64(len(b)))
	if err != nil || rep.Raw != int64(len(want)) {
		t.Fatalf("verify = %+v, %v, want %d bytes", rep, err, len(want))
	}
}

// build makes a log of these appends, each by a new Log, and returns the sizes of the
// file before the first and after each.
func build(t tb, path string, chunks ...[]byte) []int64 {
	t.Helper()
	l := open(t, path)
	sizes := []int64{l.last.end()}
	for _, c := range chunks {
		closeLog(t, l)
		l = open(t, path)
		add(t, l, c)
		sizes = append(sizes, l.last.end())
	}
	closeLog(t, l)
	return sizes
}

// wantLog checks, with all readers, that the log at path holds exactly want.
func wantLog(t tb, path string, want []byte) {
	t.Helper()
	r, err := OpenReader(path)
	if err != nil {
		t.Fatalf("OpenReader: %v", err)
	}
	defer closeLog(t, r)
	wantBytes(t, r, want)
	pos, err := ReadPosition(path)
	if err != nil || pos != r.Position() {
		t.Fatalf("ReadPosition = %+v, %v; the reader says %+v", pos, err, r.Position())
	}
	rep, err := Verify(context.Background(), path)
	if err != nil || rep.Raw != int64(len(want)) || rep.Lines != bytes.Count(want, []byte{'\n'}) {
		t.Fatalf("Verify = %+v, %v; want %d bytes, %d lines", rep, err, len(want), bytes.Count(want, []byte{'\n'}))
	}
}

func wantBytes(t tb, r *Reader, want []byte) {
	t.Helper()
	var got bytes.Buffer
	if _, err := r.WriteTo(&got); err != nil {
		t.Fatalf("WriteTo: %v", err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Fatalf("the log holds %d bytes, want %d; they differ from byte %d on", got.Len(), len(want), differ(got.Bytes(), want))
	}
	if pos := r.Position(); pos.Raw != int64(len(want)) || pos.Lines != bytes.Count(want, []byte{'\n'}) {
		t.Fatalf("Position = %+v, want %d bytes, %d lines", pos, len(want), bytes.Count(want, []byte{'\n'}))
	}
}

func differ(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func wantCode(t tb, err error, code archive.Code) {
	t.Helper()
	if got := archive.ErrorCode(err); got != code {
		t.Fatalf("error %v has code %q, want %q", err, got, code)
	}
	if code != "" && code != archive.CodeInternal && code != archive.CodeNotFound && archive.ErrorHint(err) == "" {
		t.Errorf("error %v has no hint", err)
	}
}

func readFile(t tb, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return b
}

func writeFile(t tb, path string, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatalf("make folder: %v", err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatalf("write: %v", err)
	}
}

// jsonLines returns about n bytes that compress like a transcript.
func jsonLines(seed uint64, n int) []byte {
	rnd := rand.New(rand.NewPCG(seed, 1))
	words := strings.Fields("the log holds every byte of what was said and done func return error nil context path test file open close append")
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `{"type":"assistant","uuid":"%08x-%04x","message":{"role":"assistant","content":[{"type":"text","text":"`, rnd.Uint32(), rnd.IntN(1<<16))
		for range 20 + rnd.IntN(200) {
			b.WriteString(words[rnd.IntN(len(words))])
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, `"}],"usage":{"input_tokens":%d,"output_tokens":%d}}}`+"\n", rnd.IntN(200000), rnd.IntN(4000))
	}
	return b.Bytes()
}

// noise makes n bytes that do not compress.
func noise(seed uint64, n int) []byte {
	rnd := rand.New(rand.NewPCG(seed, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}
