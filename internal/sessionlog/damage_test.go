package sessionlog

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"strandline/internal/archive"
)

// part is a record of an intact log, as the property tests know it.
type part struct {
	bodyFrom, footFrom, end int64 // in the file
	rawFrom, rawEnd         int64
}

// layoutOf lists the records of an intact log.
func layoutOf(t tb, b []byte) (header int64, parts []part) {
	r, err := readerOf("mem.zst", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	for rec := rootRecord(r.start); rec.off < r.last.off; {
		nxt, _, err := r.step(rec)
		if err != nil {
			t.Fatalf("step: %v", err)
		}
		parts = append(parts, part{nxt.bodyOff(), nxt.off, nxt.end(), nxt.rawStart(), nxt.rawEnd})
		rec = nxt
	}
	return r.start, parts
}

// wantAround checks that got has every byte of want outside the damaged parts.
func wantAround(t tb, got, want []byte, hurt func(part) bool, parts []part) {
	for _, p := range parts {
		if p.rawEnd <= int64(len(got)) && !hurt(p) && !bytes.Equal(got[p.rawFrom:p.rawEnd], want[p.rawFrom:p.rawEnd]) {
			t.Fatalf("bytes %d to %d are intact in the log, but read wrongly", p.rawFrom, p.rawEnd)
		}
		if p.rawEnd > int64(len(got)) && !hurt(p) {
			t.Fatalf("bytes %d to %d are intact in the log, but not read", p.rawFrom, p.rawEnd)
		}
	}
}

// someLog writes a log of several appends, some of them long, and maybe sealed.
func someLog(t tb, path string, chunks [][]byte, sealAfter int) {
	for i, c := range chunks {
		l := open(t, path)
		add(t, l, c)
		closeLog(t, l)
		if i == sealAfter {
			if _, err := Seal(context.Background(), path); err != nil {
				t.Fatalf("seal: %v", err)
			}
		}
	}
}

// TestDamageProperty damages 1 to 64 bytes of a log anywhere: whatever is outside the
// damaged records is read exactly, the holes are reported with their places, the log
// goes on growing, and Repair makes it exact again.
func TestDamageProperty(t *testing.T) {
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n), "s.jsonl.zst")
		chunks := rapid.SliceOfN(rapid.Custom(chunk), 1, 6).Draw(t, "chunks")
		someLog(t, path, chunks, rapid.IntRange(-1, 6).Draw(t, "seal after"))
		want := bytes.Join(chunks, nil)
		file := readFile(t, path)
		header, parts := layoutOf(t, file)

		count, spread := rapid.IntRange(1, 64).Draw(t, "damaged bytes"), rapid.Bool().Draw(t, "spread")
		at := rapid.IntRange(0, len(file)-1).Draw(t, "at")
		hit := map[int64]bool{}
		for i := range count {
			off := (at + i) % len(file)
			if spread && i > 0 {
				off = rapid.IntRange(0, len(file)-1).Draw(t, "also at")
			}
			if !hit[int64(off)] {
				file[off] ^= byte(rapid.IntRange(1, 255).Draw(t, "xor"))
				hit[int64(off)] = true
			}
		}
		writeFile(t, path, file)
		hitIn := func(from, to int64) bool {
			for off := range hit {
				if off >= from && off < to {
					return true
				}
			}
			return false
		}
		hurt := func(p part) bool { return hitIn(p.bodyFrom, p.end) }
		checkDamaged(t, path, want, parts, hurt, hitIn(0, header))
	})
}

// TestEveryBit flips one bit of every byte: only a damaged body costs bytes, those of its
// record.
func TestEveryBit(t *testing.T) {
	path := logPath(t)
	chunks := [][]byte{jsonLines(1, 900), []byte("one\n"), jsonLines(2, 300), []byte("unfinished")}
	someLog(t, path, chunks, 1)
	want := bytes.Join(chunks, nil)
	file := readFile(t, path)
	header, parts := layoutOf(t, file)
	for off := 0; off < len(file); off += 1 + off%11 { // each byte of a footer is hit in one of them
		b := bytes.Clone(file)
		b[off] ^= 1 << (off % 8)
		if err := os.RemoveAll(filepath.Dir(path)); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, b)
		at := int64(off)
		hurt := func(p part) bool { return at >= p.bodyFrom && at < p.footFrom }
		checkDamaged(t, path, want, parts, hurt, at < header)
		if t.Failed() {
			t.Fatalf("byte %d of %d", off, len(file))
		}
	}
}

// checkDamaged checks what TestDamageProperty promises of the damaged log at path.
func checkDamaged(t tb, path string, want []byte, parts []part, hurt func(part) bool, headerHurt bool) {
	t.Helper()
	ctx := context.Background()
	r, err := OpenReader(path)
	if err != nil {
		if allHurt(parts, hurt) && headerHurt {
			return // nothing of the log is left
		}
		t.Fatalf("OpenReader: %v", err)
	}
	var out bytes.Buffer
	_, werr := r.WriteTo(&out)
	wantAround(t, out.Bytes(), want, hurt, parts)
	rep, verr := Verify(ctx, path)
	lost := false
	for _, p := range parts {
		if p.rawEnd > int64(out.Len()) || !bytes.Equal(out.Bytes()[p.rawFrom:p.rawEnd], want[p.rawFrom:p.rawEnd]) {
			lost = true
			named := rep.Torn > 0 && p.end > rep.Size-rep.Torn
			for _, h := range rep.Holes {
				named = named || h.Off < p.end && h.Off+h.Len > p.bodyFrom && h.RawLen > 0 && h.Raw <= p.rawFrom && h.Raw+h.RawLen >= p.rawEnd
			}
			if !named {
				t.Fatalf("bytes %d to %d are lost and not reported: %+v, %v", p.rawFrom, p.rawEnd, rep, verr)
			}
		}
	}
	if verr == nil && rep.Torn == 0 {
		t.Fatalf("Verify found nothing")
	}
	if lost && archive.ErrorCode(werr) != archive.CodeCorrupt && int64(out.Len()) == int64(len(want)) {
		t.Fatalf("WriteTo left out bytes without an error")
	}
	closeLog(t, r)

	// The log goes on: a capture appends what the source has after its end.
	source := append(bytes.Clone(want), "more\n"...)
	if l, err := Open(ctx, path, someHeader); err == nil {
		if Compare(bytes.NewReader(source), int64(len(source)), l.Position()) != Grown {
			t.Fatalf("the source is not recognized: %+v", l.Position())
		}
		add(t, l, source[l.Position().Raw:])
		closeLog(t, l)
	} else if archive.ErrorCode(err) != archive.CodeCorrupt || !headerHurt {
		t.Fatalf("Open: %v", err)
	}
	if _, err := Repair(ctx, path, someHeader, bytes.NewReader(source)); err != nil {
		t.Fatalf("Repair: %v", err)
	}
	l := open(t, path)
	add(t, l, append(source[l.Position().Raw:], "and more\n"...))
	closeLog(t, l)
	wantLog(t, path, append(source, "and more\n"...))
	if r, err = OpenReader(path); err != nil || r.Header().Session != someHeader.Session {
		t.Fatalf("header %+v, %v", r.Header(), err)
	}
	closeLog(t, r)
}

func allHurt(parts []part, hurt func(part) bool) bool {
	for _, p := range parts {
		if !hurt(p) {
			return false
		}
	}
	return true
}
