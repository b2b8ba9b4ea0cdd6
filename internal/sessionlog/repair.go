package sessionlog

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// RepairReport is the result of Repair.
type RepairReport struct {
	Done     bool  // false: the log is intact, or nothing could be repaired
	Restored int64 // the source's bytes that the log has again
	Lost     int64 // the source's bytes that are still unreadable
}

// Repair rewrites a damaged log. It takes unreadable bytes from the source src, nil if
// there is none, after it compared their checksum or, where that is damaged as well, the
// bytes around them. Forgotten bytes stay forgotten. A lost header is replaced by h. If
// some bytes stay unreadable, a copy of the damaged file is stored beside the log (see
// DamagedCopies); if all do, the log stays as it is. Lock and errors are those of Seal.
func Repair(ctx context.Context, path string, h Header, src io.ReaderAt) (rep RepairReport, err error) {
	sealed, err := rewriteFile(ctx, path, func(r *Reader) (rewriting, bool, error) {
		w := rewriting{}
		if err := r.survey(); err != nil {
			return w, false, readError(path, err)
		}
		if r.header == nil {
			frame, err := encodeHeader(h)
			if err != nil {
				return w, false, err
			}
			w.header = frame[headerFixed:]
		}
		damaged := w.header != nil
		for _, hole := range r.holes {
			if damaged = damaged || hole.Len > 0; hole.RawLen == 0 {
				continue
			}
			text, ok, err := r.restored(hole, src)
			if err != nil {
				return w, false, err
			}
			if !ok {
				rep.Lost += hole.RawLen
				continue
			}
			rep.Restored += hole.RawLen
			w.restore = append(w.restore, patch{span{hole.Raw, hole.Raw + hole.RawLen}, string(text)})
		}
		w.keep, w.exact = damaged && rep.Lost > 0, rep.Lost == 0
		return w, w.header != nil || rep.Restored > 0 || damaged && rep.Lost == 0, nil
	})
	if err != nil {
		return RepairReport{}, err
	}
	rep.Done = sealed.Done
	return rep, nil
}

// aroundHole is how many bytes on each side of a hole are compared with the source.
const aroundHole = 64 << 10

// restored returns the bytes of a hole from the source, and whether they are those that
// were logged.
func (r *Reader) restored(h Hole, src io.ReaderAt) ([]byte, bool, error) {
	if src == nil {
		return nil, false, nil
	}
	b := make([]byte, h.RawLen)
	if err := readFull(src, b, h.Raw); err != nil {
		return nil, false, nil //nolint:nilerr // the source is shorter
	}
	if h.sure && xxhash.Sum64(b) == h.sum {
		return b, true, nil
	}
	blank(b, h.Raw, r.blanks)
	if h.sure && xxhash.Sum64(b) == h.sum {
		return b, true, nil
	}
	if h.sure && !slices.ContainsFunc(r.blanks, func(s span) bool { return s.from < h.Raw+h.RawLen && s.to > h.Raw }) {
		return nil, false, nil
	}
	same, err := r.sameAround(h, src)
	return b, same, err
}

// sameAround reports whether the source has the log's bytes before and after a hole, and
// as many newlines in it.
func (r *Reader) sameAround(h Hole, src io.ReaderAt) (bool, error) {
	from, to := max(0, h.Raw-aroundHole), min(r.last.rawEnd, h.Raw+h.RawLen+aroundHole)
	log, file := make([]byte, to-from), make([]byte, to-from)
	if n, err := r.ReadAt(log, from); n < len(log) {
		return false, err
	}
	if err := readFull(src, file, from); err != nil {
		return false, nil //nolint:nilerr // the source is shorter
	}
	inside := func(b []byte) []byte { return b[h.Raw-from : h.Raw-from+h.RawLen] }
	if bytes.Count(inside(log), []byte{'\n'}) != bytes.Count(inside(file), []byte{'\n'}) {
		return false, nil
	}
	r.Mask(log, from)
	r.Mask(file, from)
	return bytes.Equal(log, file), nil
}
