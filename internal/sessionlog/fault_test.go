package sessionlog

import (
	"bytes"
	"context"
	"errors"
	"syscall"
	"testing"

	"strandline/internal/archive"
)

// faulty is a file that fails at a given operation.
type faulty struct {
	memFile
	space       int // bytes that still can be written, -1: no limit
	full        error
	sync, trunc error
}

func (f *faulty) WriteAt(p []byte, off int64) (int, error) {
	if f.space < 0 || len(p) <= f.space {
		return f.memFile.WriteAt(p, off)
	}
	n, err := f.memFile.WriteAt(p[:f.space], off)
	return n, errors.Join(err, f.full)
}

func (f *faulty) Sync() error { return f.sync }

func (f *faulty) Truncate(n int64) error {
	if f.trunc != nil {
		return f.trunc
	}
	return f.memFile.Truncate(n)
}

func TestFailedAppend(t *testing.T) {
	noSpace := &archive.Error{Err: syscall.ENOSPC}
	for _, tc := range []struct {
		name string
		fail func(*faulty)
		code archive.Code
	}{
		{"full at once", func(f *faulty) { f.space, f.full = 0, noSpace }, archive.CodeDenied},
		{"full in the frame", func(f *faulty) { f.space, f.full = 100, noSpace }, archive.CodeDenied},
		{"full in the footer", func(f *faulty) { f.space, f.full = 5100, noSpace }, archive.CodeDenied},
		{"file too large", func(f *faulty) { f.space, f.full = 9, syscall.EFBIG }, archive.CodeDenied},
		{"read-only file system", func(f *faulty) { f.space, f.full = 0, syscall.EROFS }, archive.CodeDenied},
		{"bad disk", func(f *faulty) { f.space, f.full = 10, syscall.EIO }, archive.CodeInternal},
		{"fsync fails", func(f *faulty) { f.sync = syscall.EIO }, archive.CodeInternal},
		{"fsync finds no space", func(f *faulty) { f.sync = syscall.ENOSPC }, archive.CodeDenied},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &faulty{space: -1}
			l, err := openMem(f, 0)
			if err != nil {
				t.Fatal(err)
			}
			add(t, l, []byte("before\n"))
			size, pos := len(f.b), l.Position()
			tc.fail(f)
			for range 2 {
				err = l.Append(context.Background(), noise(1, 5000), someSource)
				wantCode(t, err, tc.code)
				if len(f.b) != size || l.Position() != pos {
					t.Fatalf("file of %d bytes and %+v, want %d and %+v", len(f.b), l.Position(), size, pos)
				}
			}
			f.space = min(f.space, 0)
			err = l.Blank(context.Background(), 0)
			wantCode(t, err, tc.code)
			f.space, f.sync = -1, nil
			add(t, l, []byte("after\n"))
			wantMem(t, f.b, []byte("before\nafter\n"))
		})
	}
}

// TestFailedLongAppend checks that a long append of several writes is atomic too.
func TestFailedLongAppend(t *testing.T) {
	f := &faulty{space: -1}
	l, err := openMem(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	add(t, l, []byte("before\n"))
	f.space, f.full = 17<<20, syscall.ENOSPC // the first write of 16 MiB fits, the rest does not
	p := bytes.Repeat(noise(1, 1<<20), 34)
	writes := &countingWrites{faulty: f}
	l.f = writes
	err = l.Append(context.Background(), p, someSource)
	wantCode(t, err, archive.CodeDenied)
	if writes.n < 2 {
		t.Errorf("%d writes; the test needs several", writes.n)
	}
	wantMem(t, f.b, []byte("before\n"))
}

// countingWrites lets space shrink with each write, as a disk does.
type countingWrites struct {
	*faulty
	n int
}

func (c *countingWrites) WriteAt(p []byte, off int64) (int, error) {
	c.n++
	n, err := c.faulty.WriteAt(p, off)
	c.space -= n
	return n, err
}

func TestFailedTruncate(t *testing.T) {
	f := &faulty{space: -1}
	l, err := openMem(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	add(t, l, []byte("before\n"))
	f.space, f.full, f.trunc = 50, syscall.ENOSPC, syscall.EIO
	for range 2 {
		if err := l.Append(context.Background(), noise(1, 500), someSource); err == nil {
			t.Fatal("appended")
		}
	}
	f.space, f.trunc = -1, nil
	if err := l.Append(context.Background(), []byte("x"), someSource); err == nil {
		t.Error("appended after a torn record")
	}
	l, err = openMem(f, len(f.b))
	if err != nil || l.repaired != 50 {
		t.Fatalf("reopened: %d repaired, %v", l.repaired, err)
	}
	add(t, l, []byte("after\n"))
	wantMem(t, f.b, []byte("before\nafter\n"))
}

func TestFailedHeader(t *testing.T) {
	f := &faulty{space: 20, full: syscall.ENOSPC}
	_, err := openMem(f, 0)
	wantCode(t, err, archive.CodeDenied)
	if len(f.b) != 0 {
		t.Errorf("%d bytes are left", len(f.b))
	}
}

// brokenAt fails to read one block.
type brokenAt struct {
	file
	off int64
}

func (b brokenAt) ReadAt(p []byte, off int64) (int, error) {
	if off < b.off+64 && off+int64(len(p)) > b.off {
		return 0, syscall.EIO
	}
	return b.file.ReadAt(p, off)
}

// TestReadErrors checks that a read error is not taken for damage: nothing is truncated.
func TestReadErrors(t *testing.T) {
	m, want := bigLog(t, 20)
	size := len(m.b)
	for off := 0; off < size; off += 61 {
		broken := brokenAt{m, int64(off)}
		if _, err := verify(context.Background(), "mem.zst", broken, int64(size)); !errors.Is(err, syscall.EIO) || archive.ErrorCode(err) != archive.CodeInternal {
			t.Fatalf("verify with a read error at byte %d: %v", off, err)
		}
		l, err := openMem(broken, size)
		if err == nil && l.repaired != 0 || err != nil && !errors.Is(err, syscall.EIO) || len(m.b) != size {
			t.Fatalf("open with a read error at byte %d: %v, now %d bytes", off, err, len(m.b))
		}
	}
	wantMem(t, m.b, want)
}
