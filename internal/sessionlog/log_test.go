package sessionlog

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func testLog(t testing.TB) string { return filepath.Join(t.TempDir(), "log", "claude", "s.jsonl.zst") }

func mustOpen(t testing.TB, path string) *Log {
	t.Helper()
	l, err := Open(context.Background(), path, Header{Client: "claude", Session: "s", Kind: KindTranscript, Generation: 1})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestSmoke(t *testing.T) {
	p := testLog(t)
	var want []byte
	for i := range 300 {
		l := mustOpen(t, p)
		line := append(bytes.Repeat([]byte{byte('a' + i%26)}, i*7), '\n')
		if i == 200 {
			line = bytes.Repeat([]byte("hello world this is it\n"), 300000)
		}
		if err := l.Append(context.Background(), line, Source{Inode: 3}); err != nil {
			t.Fatal(err)
		}
		want = append(want, line...)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if i%50 == 49 {
			rep, err := Seal(context.Background(), p)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", rep)
		}
	}
	r, err := OpenReader(p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r.NewSection(0, r.Position().Raw))
	if err != nil || !bytes.Equal(got, want) {
		t.Fatal("not equal", err, len(got), len(want))
	}
	rep, err := Verify(context.Background(), p)
	t.Logf("%+v %v %v", rep, err, Compare(bytes.NewReader(want), int64(len(want)), r.Position()))
	for n := 0; n <= rep.Lines; n += 997 {
		off, err := r.OffsetOfLine(context.Background(), n)
		if err != nil || bytes.Count(want[:off], []byte{'\n'}) != n || off > 0 && want[off-1] != '\n' {
			t.Fatal(n, off, err)
		}
	}
	_ = os.Stdout
}
