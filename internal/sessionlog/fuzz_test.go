package sessionlog

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"testing"
)

// FuzzDamagedLog damages a valid log and checks that nothing panics, and that records
// before the damage are unchanged.
func FuzzDamagedLog(f *testing.F) {
	m, want := &memFile{}, []byte(nil)
	l, err := openMem(m, 0)
	if err != nil {
		f.Fatal(err)
	}
	ends := []int{len(m.b)}
	raws := []int{0}
	for i := range 6 {
		p := append([]byte("line\n"), noise(uint64(i), 20*i)...)
		add(f, l, p)
		want = append(want, p...)
		ends, raws = append(ends, len(m.b)), append(raws, len(want))
	}
	good := m.b
	f.Add(0, []byte{}, true)
	f.Add(len(good), []byte("garbage"), true)
	f.Add(ends[3], make([]byte, 500), false)
	f.Add(ends[4]-5, good[:200], false)
	f.Add(30, []byte{0xff}, false)
	f.Add(2, good[ends[1]:], true)
	f.Fuzz(func(t *testing.T, at int, with []byte, cut bool) {
		at = min(max(at, 0), len(good))
		b := bytes.Clone(good[:at])
		b = append(b, with...)
		if !cut && len(b) < len(good) {
			b = append(b, good[len(b):]...)
		}
		whole := 0 // records before the damage
		for whole+1 < len(ends) && ends[whole+1] <= at {
			whole++
		}
		mem := &memFile{b}
		_, _ = verify(context.Background(), "fuzz", mem, int64(len(b)))
		if r, err := readerOf("fuzz", mem, int64(len(b))); err == nil {
			_, _ = r.WriteTo(io.Discard)
			_, _ = r.OffsetOfLine(context.Background(), r.Position().Lines)
			keeps(t, r, want[:raws[whole]], at >= ends[0])
		} else if at >= ends[0] {
			t.Fatalf("whole header, but %v", err)
		}
		l, err := openMem(mem, len(b))
		if err != nil {
			return
		}
		v, err := l.reader()
		if err != nil {
			return
		}
		keeps(t, v, want[:raws[whole]], at >= ends[0])
		_ = l.Append(context.Background(), []byte("more\n"), someSource)
	})
}

// keeps checks that r begins with want.
func keeps(t *testing.T, r *Reader, want []byte, header bool) {
	if !header {
		return
	}
	got := make([]byte, len(want))
	if n, err := r.ReadAt(got, 0); n < len(want) || !bytes.Equal(got, want) {
		t.Fatalf("%d of %d bytes before the damage are left: %v", n, len(want), err)
	}
}

// FuzzGarbage reads any file.
func FuzzGarbage(f *testing.F) {
	m, _ := bigLog(f, 3)
	f.Add(m.b)
	f.Add([]byte{})
	f.Add(headerFrame([]byte("{}")))
	f.Add(append(headerFrame([]byte(`{"format":"x"}`)), appendFooter(nil, record{footer: footer{kind: kindTombstone, body: 1}})...))
	f.Fuzz(func(t *testing.T, b []byte) {
		mem := &memFile{bytes.Clone(b)}
		if r, err := readerOf("fuzz", mem, int64(len(b))); err == nil {
			_ = r.Header()
			_, _ = r.WriteTo(io.Discard)
			_, _ = r.OffsetOfLine(context.Background(), r.Position().Lines)
		}
		_, _ = verify(context.Background(), "fuzz", mem, int64(len(b)))
		l, err := openMem(mem, len(b))
		if err != nil {
			return
		}
		raw := l.Position().Raw
		if err := l.Append(context.Background(), []byte("more\n"), someSource); err == nil && l.Position().Raw != raw+5 {
			t.Fatalf("appended 5 bytes at %d, now at %d", raw, l.Position().Raw)
		}
		_ = l.Blank(context.Background(), 0)
	})
}

// FuzzFooter checks that a footer round-trips and that nothing else is accepted.
func FuzzFooter(f *testing.F) {
	good := appendFooter(nil, record{off: 900, footer: footer{kind: kindData, headLen: 7, tailLen: 7, body: 100, rawLen: 7,
		newlines: 1, rawEnd: 7, lines: 1, depth: 1}})
	f.Add(good, int64(900))
	f.Add(good, int64(901))
	f.Fuzz(func(t *testing.T, b []byte, off int64) {
		r, ok := parseFooter(b, off)
		if !ok {
			return
		}
		if again := appendFooter(nil, r); !bytes.Equal(again, b[:footerSize]) && binary.LittleEndian.Uint16(b[18:]) == 0 {
			t.Fatalf("%x became %x", b, again)
		}
	})
}

// FuzzFrameLen checks that frameLen stays within its input and accepts what decoders
// accept.
func FuzzFrameLen(f *testing.F) {
	m, _ := bigLog(f, 2)
	l, err := openMem(m, len(m.b))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(m.b[l.last.bodyOff():l.last.off])
	f.Add(m.b[l.last.off:])
	f.Add(readPlainFrame())
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xc4, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := frameLen(b)
		if err == nil && (n < 8 || n > len(b)) || err != nil && n != 0 {
			t.Fatalf("frameLen = %d, %v of %d bytes", n, err, len(b))
		}
	})
}
