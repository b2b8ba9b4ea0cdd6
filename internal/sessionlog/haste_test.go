package sessionlog

import (
	"math/rand/v2"
	"testing"
)

// countedFile counts the bytes that are read.
type countedFile struct {
	memFile
	read int
}

func (f *countedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.memFile.ReadAt(p, off)
	f.read += n
	return n, err
}

// A hook in haste reads 32 KB of a log. What is damaged before them is found by Open.
func TestHasteReadsTheEndOnly(t *testing.T) {
	whole := &countedFile{}
	l, err := openMem(whole, 0)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.NewChaCha8([32]byte{})
	for range 60 {
		chunk := make([]byte, 20<<10)
		_, _ = random.Read(chunk) // never fails
		add(t, l, chunk)
	}
	for name, c := range map[string]struct {
		haste   Haste
		flip    int // bytes from the end, 0: none
		damaged bool
		most    int // bytes read
	}{
		"whole":              {Haste{}, 0, false, 3 << 20},
		"damaged before":     {Haste{}, 500 << 10, true, 3 << 20},
		"quick":              {Haste{Quick: true}, 0, false, 100 << 10},
		"quick, before":      {Haste{Quick: true}, 500 << 10, false, 100 << 10},
		"quick, at the end":  {Haste{Quick: true}, 10 << 10, true, 100 << 10},
		"quick and unsynced": {Haste{Quick: true, Unsynced: true}, 10 << 10, true, 100 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			f := &countedFile{memFile: memFile{append([]byte(nil), whole.b...)}}
			if c.flip > 0 {
				f.b[len(f.b)-c.flip] ^= 1
			}
			l := &Log{path: "mem.zst", f: f, mode: appendMode()}
			if err := l.attach(int64(len(f.b)), someHeader, c.haste.check()); err != nil {
				t.Fatal(err)
			}
			if l.Damaged() != c.damaged || f.read > c.most {
				t.Errorf("damaged %t after %d bytes, want %t after at most %d", l.Damaged(), f.read, c.damaged, c.most)
			}
		})
	}
}
