package sessionlog

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"strandline/internal/archive"
)

// These appends are small and varied, and hold bytes that a reader could mistake for its
// own: a log, and a footer that is valid at its position.
func trickyAppends(t *testing.T) [][]byte {
	chunks := [][]byte{
		[]byte("{\"type\":\"user\"}\n"),
		append(aLog(t), '\n'),
		[]byte("unfinished"),
		[]byte(" line\n\n\n"),
		noise(9, 300),
		jsonLines(9, 900),
	}
	probe := filepath.Join(t.TempDir(), "probe.zst")
	sizes := build(t, probe, chunks...)
	r, err := OpenReader(probe)
	if err != nil {
		t.Fatal(err)
	}
	defer closeLog(t, r)
	fake := r.last
	fake.base, fake.depth = 0, 1
	for i := range 64 { // one of these is at the offset it names, inside a raw block
		fake.off = sizes[len(sizes)-1] + int64(i)
		chunks = append(chunks, append(appendFooter(nil, fake), noise(uint64(i), 40)...))
	}
	return chunks[:12]
}

func TestTruncatedLog(t *testing.T) {
	full := logPath(t)
	chunks := trickyAppends(t)
	sizes := build(t, full, chunks...)
	file := readFile(t, full)
	for _, tail := range []struct {
		name string
		make func(cut int) []byte
	}{
		{"nothing", func(int) []byte { return nil }},
		{"zeros", func(int) []byte { return make([]byte, 200) }},
		{"noise", func(int) []byte { return noise(1, 150) }},
		{"zeros to the old end", func(cut int) []byte { return make([]byte, len(file)-cut) }},
	} {
		t.Run(tail.name, func(t *testing.T) {
			step := 3
			if tail.name == "nothing" && !testing.Short() {
				step = 1
			}
			for cut := 0; cut < len(file); cut += step {
				m := &memFile{slices.Concat(file[:cut], tail.make(cut))}
				done := 0 // appends that are whole
				for done < len(chunks) && sizes[done+1] <= int64(cut) {
					done++
				}
				// A whole frame is kept, even if other bytes are in the place of its footer.
				unsigned := done < len(chunks) && int64(cut) >= sizes[done+1]-footerSize && int64(len(m.b)) >= sizes[done+1]
				want := bytes.Join(chunks[:done], nil)
				inHeader := int64(cut) < sizes[0]
				if unsigned {
					done++
					want = bytes.Join(chunks[:done], nil)
				} else if !inHeader && tail.name == "nothing" {
					wantMem(t, m.b, want)
				}
				l, err := openMem(m, len(m.b))
				if err != nil && inHeader && tail.name == "noise" {
					continue // half a header and noise may look like anything
				}
				if err != nil {
					t.Fatalf("cut at %d: %v", cut, err)
				}
				if got := int64(len(m.b)); got != max(sizes[done], sizes[0]) {
					t.Fatalf("cut at %d: the file has %d bytes now, want %d", cut, got, sizes[done])
				}
				add(t, l, []byte("on\n"))
				wantMem(t, m.b, append(want, "on\n"...))
			}
		})
	}
}

func TestRepaired(t *testing.T) {
	path := logPath(t)
	sizes := build(t, path, []byte("a\n"), []byte("b\n"))
	if err := os.Truncate(path, sizes[2]-1); err != nil {
		t.Fatal(err)
	}
	if rep, err := Verify(context.Background(), path); err != nil || rep.Torn != sizes[2]-1-sizes[1] || rep.Raw != 2 {
		t.Errorf("Verify before the repair: %+v, %v", rep, err)
	}
	l := open(t, path)
	defer closeLog(t, l)
	if got, want := l.repaired, sizes[2]-1-sizes[1]; got != want {
		t.Errorf("repaired = %d, want %d", got, want)
	}
}

// TestTruncatedLongAppend checks that a long append is a prefix after a crash, without
// gaps.
func TestTruncatedLongAppend(t *testing.T) {
	path := logPath(t)
	p := jsonLines(1, 5<<20)
	build(t, path, []byte("first\n"), p)
	file := readFile(t, path)
	want := append([]byte("first\n"), p...)
	for cut := len(file) - 1; cut > 2000; cut -= 30011 {
		writeFile(t, path, file[:cut])
		r, err := OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		raw := r.Position().Raw
		wantBytes(t, r, want[:raw])
		closeLog(t, r)
	}
}

// TestLostPages simulates a file system that writes a footer to disk but loses pages of
// the body before it: the log says which bytes, and takes them from the source.
func TestLostPages(t *testing.T) {
	path := logPath(t)
	before := noise(1, 3000)
	sizes := build(t, path, before, noise(2, 300_000))
	file := readFile(t, path)
	for off := sizes[1]; off < sizes[2]; off += 4096 {
		b := bytes.Clone(file)
		clear(b[off:min(off+4096, sizes[2])])
		writeFile(t, path, b)
		l := open(t, path)
		raw, seen := l.Position().Raw, l.Damaged()
		closeLog(t, l)
		source := append(slices.Clip(before), noise(2, 300_000)...)
		if raw == int64(len(source)) && !seen {
			t.Fatalf("hole at %d: not noticed", off)
		}
		if _, err := Repair(context.Background(), path, someHeader, bytes.NewReader(source)); err != nil {
			t.Fatalf("hole at %d: %v", off, err)
		}
		wantLog(t, path, source[:raw])
	}
}

func TestEarlierDamage(t *testing.T) {
	path := logPath(t)
	chunks := [][]byte{}
	for i := range 40 {
		chunks = append(chunks, jsonLines(uint64(i), 700))
	}
	sizes := build(t, path, chunks...)
	file := readFile(t, path)
	file[sizes[5]+30] ^= 1 // inside the body of append 5
	writeFile(t, path, file)
	want := bytes.Join(chunks, nil)

	l := open(t, path)
	if l.repaired != 0 || l.Position().Raw != int64(len(want)) {
		t.Fatalf("whole appends were cut: %+v", l.Position())
	}
	add(t, l, []byte("more\n"))
	closeLog(t, l)

	err := second(Verify(context.Background(), path))
	wantCode(t, err, archive.CodeCorrupt)
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer closeLog(t, r)
	bad := int64(len(bytes.Join(chunks[:5], nil)))
	if _, err = r.ReadAt(make([]byte, 10), bad); err != nil {
		t.Error(err)
	}
	wantCode(t, r.Damage(), archive.CodeCorrupt)
	if h := r.Holes(); len(h) != 1 || h[0].Raw != bad || h[0].RawLen != int64(len(chunks[5])) || h[0].Off != sizes[5] || h[0].Len != sizes[6]-sizes[5]-footerSize {
		t.Errorf("holes: %v", h)
	}
	after := bad + int64(len(chunks[5]))
	got := make([]byte, int64(len(want))-after)
	if _, err := r.ReadAt(got, after); err != nil || !bytes.Equal(got, want[after:]) {
		t.Errorf("the bytes after the damage cannot be read: %v", err)
	}
	err = second(r.WriteTo(new(bytes.Buffer)))
	wantCode(t, err, archive.CodeCorrupt)
	err = second(Seal(context.Background(), path))
	wantCode(t, err, archive.CodeCorrupt)
}

// TestAppendAfterDamage checks that a wrong byte within the tail fingerprint does not
// block appending.
func TestAppendAfterDamage(t *testing.T) {
	path := logPath(t)
	chunks := [][]byte{noise(1, 500), noise(2, 500), noise(3, 500), noise(4, 500)}
	sizes := build(t, path, chunks...)
	file := readFile(t, path)
	file[sizes[1]+30] ^= 1
	writeFile(t, path, file)
	build(t, path, []byte("more\n"), []byte("and more\n"))
	want := append(bytes.Join(chunks, nil), "more\nand more\n"...)
	pos, err := ReadPosition(path)
	if m := Compare(bytes.NewReader(want), int64(len(want)), pos); err != nil || m != Same || pos.TailLen == 0 {
		t.Errorf("%+v compares as %v, %v", pos, m, err)
	}
}

// TestEveryByteChecked changes each single byte: Verify reports it, or Open truncates
// the record.
func TestEveryByteChecked(t *testing.T) {
	path := logPath(t)
	l := open(t, path)
	for i := range 5 {
		add(t, l, append(jsonLines(uint64(i), 100)[:100], '\n'))
	}
	if err := l.Blank(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	add(t, l, []byte("last\n"))
	closeLog(t, l)
	file := readFile(t, path)
	for i := range file {
		b := bytes.Clone(file)
		b[i] ^= 0x10
		rep, err := verify(context.Background(), path, bytes.NewReader(b), int64(len(b)))
		if err == nil && rep.Torn == 0 {
			t.Fatalf("byte %d of %d may be wrong unseen", i, len(file))
		}
	}
}
