package sessionlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"sync"

	"github.com/klauspost/compress/zstd"

	"strandline/internal/archive"
)

// Reader reads the bytes of a log as it was opened. It takes no lock: another process
// may append or seal meanwhile. Its methods may be called concurrently, except Close.
type Reader struct {
	chain
	path   string
	header []byte
	size   int64 // of the file when it was opened
	last   record
	tombs
	torn  int64
	close func() error

	// Set by survey, after the first damage.
	surveyed bool
	recs     []record // data and holes
	tail     []record // intact frames after the last valid footer
	holes    []Hole

	mu    sync.Mutex
	dec   *zstd.Decoder // created at the first use
	cur   record        // the record in raw
	raw   []byte        // in buf
	buf   []byte
	ahead readAhead
}

// OpenReader opens the log at path. A missing log and one that is still empty are
// CodeNotFound; a file that holds no log is CodeCorrupt. Damaged bytes are read as spaces
// and newlines; see Holes. A damaged header is read as a zero one.
func OpenReader(path string) (*Reader, error) {
	f, size, err := openRead(path)
	if err != nil {
		return nil, err
	}
	r, err := readerOf(path, f, size)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r.close = f.Close
	return r, nil
}

// readerOf returns a reader of the log in f, a file of the given size.
func readerOf(path string, f io.ReaderAt, size int64) (*Reader, error) {
	js, start, err := readHeader(f, size)
	if err != nil && !errors.Is(err, errHeaderLost) {
		return nil, headerError(path, err)
	}
	c := chain{f, start}
	last, err := c.end(size)
	if err != nil {
		return nil, readError(path, err)
	}
	return newReader(c, path, js, last, size)
}

// newReader returns a reader of the log that ends with last, in a file of the given size.
func newReader(c chain, path string, js []byte, last record, size int64) (*Reader, error) {
	r := &Reader{chain: c, path: path, header: js, last: last, size: size, torn: size - last.end(), ahead: readAhead{r: c.r}}
	var err error
	r.tombs, err = c.tombstones(last)
	if e := unlessDamaged(err); e != nil {
		return nil, readError(path, e)
	}
	if err != nil || js == nil || r.torn > footerSize { // frames at the end may lack only their footers
		if err := r.survey(); err != nil {
			return nil, readError(path, err)
		}
	}
	return r, nil
}

// openRead opens a regular file for reading. It checks the type before, because opening
// a FIFO would block.
func openRead(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, 0, fileError("open the log", path, err)
	}
	fi, err := f.Stat()
	switch {
	case err != nil:
		err = fileError("open the log", path, err)
	case !fi.Mode().IsRegular():
		err = notRegular(path)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, fi.Size(), nil
}

// ReadPosition returns the position of the log at path. It takes no lock and reads
// only the first and the last bytes of the file.
func ReadPosition(path string) (Position, error) {
	_, pos, err := ReadHeader(path)
	if errors.Is(err, errHeaderLost) {
		err = nil
	}
	return pos, err
}

// ReadHeader is ReadPosition with the log's header. If only the header is damaged, it
// returns the position with a CodeCorrupt error.
func ReadHeader(path string) (h Header, pos Position, err error) {
	f, size, err := openRead(path)
	if err != nil {
		return h, pos, err
	}
	defer f.Close()
	js, start, herr := readHeader(f, size)
	if herr != nil && !errors.Is(herr, errHeaderLost) {
		return h, pos, headerError(path, herr)
	}
	last, err := (chain{f, start}).end(size)
	if err != nil {
		return h, pos, readError(path, err)
	}
	if herr != nil {
		return h, last.position(), headerError(path, herr)
	}
	return decodeHeader(js), last.position(), nil
}

// Header returns the stored header.
func (r *Reader) Header() Header { return decodeHeader(r.header) }

// Position returns the end of the log as it was opened.
func (r *Reader) Position() Position { return r.last.position() }

// Torn returns the number of bytes of the file after its last readable record: a torn
// append, or a damaged end. The next Open truncates them, and a capture logs their
// content again while the client has its file.
func (r *Reader) Torn() int64 { return r.torn }

// Close closes the file.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dec != nil {
		r.dec.Close()
		r.dec = nil
	}
	r.raw, r.buf, r.cur, r.ahead.buf = nil, nil, record{}, nil
	if r.close == nil {
		return nil
	}
	err := r.close()
	r.close = nil
	return err
}

// Mask writes spaces over the bytes of p, which begins at raw offset off, that were
// blanked, rewritten or are unreadable. A source and its log are equal if both are equal
// after Mask.
func (r *Reader) Mask(p []byte, off int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	blank(p, off, r.blanks)
	for _, h := range r.allHoles() { // the places of their newlines are unknown
		for i := max(h.Raw, off); i < min(h.Raw+h.RawLen, off+int64(len(p))); i++ {
			p[i-off] = ' '
		}
	}
}

// ReadAt implements io.ReaderAt for the raw bytes. Blanked bytes are spaces, rewritten
// ones their replacement, damaged ones filler. It decompresses only the frames that it
// needs.
func (r *Reader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, archive.Invalid("a negative offset", "")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.readAt(p, off)
}

func (r *Reader) readAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		if off >= r.last.rawEnd {
			return n, io.EOF
		}
		if err := r.load(off); err != nil {
			return n, readError(r.path, err)
		}
		k := copy(p[n:], r.raw[off-r.cur.rawStart():])
		n += k
		off += int64(k)
	}
	return n, nil
}

// NewSection returns a reader of n raw bytes from off.
func (r *Reader) NewSection(off, n int64) io.Reader { return io.NewSectionReader(r, off, n) }

// WriteTo implements io.WriterTo: it writes all raw bytes to w. If some are damaged, it
// writes filler in their place, continues, and returns the error of Damage at the end.
func (r *Reader) WriteTo(w io.Writer) (int64, error) {
	// Write frame by frame under the lock; copying with ReadAt would need a second
	// buffer of a frame.
	r.mu.Lock()
	defer r.mu.Unlock()
	var n int64
	for n < r.last.rawEnd {
		if err := r.load(n); err != nil {
			return n, readError(r.path, err)
		}
		k, err := w.Write(r.raw[n-r.cur.rawStart():])
		n += int64(k)
		if err != nil {
			return n, err
		}
	}
	return n, lossOf(r.path, r.allHoles())
}

// Range returns the raw offsets at which the lines [from, to) begin and end. A to of
// 0, or after the last line, means the end of the log.
func (r *Reader) Range(ctx context.Context, from, to int) (start, end int64, err error) {
	if start, err = r.OffsetOfLine(ctx, from); err != nil {
		return 0, 0, err
	}
	if to <= 0 || int64(to) > r.last.lines {
		return start, r.Position().Raw, nil
	}
	end, err = r.OffsetOfLine(ctx, to)
	return start, end, err
}

func (r *Reader) missingLine(n int) error {
	return archive.NotFound(fmt.Sprintf("line %d is not in the log, which has %d lines", n, r.last.lines), "lines count from 0")
}

// OffsetOfLine returns the raw offset of line n, counted from 0. The position after the
// last newline is a line as well; a later one is CodeNotFound.
func (r *Reader) OffsetOfLine(ctx context.Context, n int) (int64, error) {
	switch {
	case n < 0:
		return 0, archive.Invalid(fmt.Sprintf("invalid line number %d", n), "lines count from 0")
	case n == 0:
		return 0, nil
	case int64(n) > r.last.lines:
		return 0, r.missingLine(n)
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	rec, err := r.withLine(int64(n))
	if err == nil && rec.kind == kindHole {
		return rec.newlineFrom() + int64(n) - rec.lineStart(), nil
	}
	if err != nil {
		return 0, readError(r.path, err)
	}
	at := 0
	for range int64(n) - rec.lineStart() {
		i := bytes.IndexByte(r.raw[at:], '\n')
		if i < 0 {
			return 0, readError(r.path, &errDamaged{rec.bodyOff(), "a wrong line count"})
		}
		at += i + 1
	}
	return rec.rawStart() + int64(at), nil
}

// withLine makes the record that ends line n-1 the current one, unless it is a hole.
func (r *Reader) withLine(n int64) (record, error) {
	for {
		rec, err := r.findLine(n)
		if err == nil && rec.kind != kindHole {
			if rec.off != r.cur.off {
				var body []byte
				if body, err = r.body(rec); err == nil {
					err = r.use(rec, body)
				}
			}
		}
		if again, serr := r.surveyAfter(err); !again || serr != nil {
			return rec, serr
		}
	}
}

// findLine returns the record that ends line n-1.
func (r *Reader) findLine(n int64) (record, error) {
	if r.surveyed {
		i := sort.Search(len(r.recs), func(i int) bool { return r.recs[i].lines >= n })
		if i == len(r.recs) {
			return record{}, &errDamaged{off: r.size, what: "a wrong line count"}
		}
		return r.recs[i], nil
	}
	if rec := r.cur; rec.depth > 0 && n <= rec.lines && n > rec.lineStart() {
		return rec, nil
	}
	return r.seek(r.last, func(_, lines int64) bool { return lines >= n })
}

// surveyAfter surveys the log after the first error that is damage. It reports whether
// the caller can try again; err is the error otherwise.
func (r *Reader) surveyAfter(err error) (again bool, _ error) {
	if err == nil || r.surveyed || unlessDamaged(err) != nil {
		return false, err
	}
	return true, r.survey()
}
