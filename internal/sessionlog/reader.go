package sessionlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"

	"strandline/internal/archive"
)

// Reader reads the bytes that a log held when it was opened. It takes no lock:
// another process may append or seal meanwhile. Its methods may be called
// concurrently, and all but Close do not change what the others see.
type Reader struct {
	chain
	path   string
	header []byte
	last   record
	blanks []span // of all tombstones
	hidden []span // those whose bytes are in the data frames still
	torn   int64
	close  func() error

	mu    sync.Mutex
	dec   *zstd.Decoder // made at the first use
	cur   record        // the record that raw holds the bytes of
	raw   []byte        // in buf
	buf   []byte
	ahead ahead
}

// OpenReader opens the log at path. A log that was created but holds nothing
// yet, not even its header, is CodeNotFound as a missing one; a file whose
// header is damaged is CodeCorrupt. Damage further behind shows when it is read.
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
	if err != nil {
		return nil, headerError(path, err)
	}
	c := chain{f, start}
	last, err := c.end(size)
	if err != nil {
		return nil, readError(path, err)
	}
	reader, err := newReader(c, path, js, last)
	if err != nil {
		return nil, err
	}
	reader.torn = size - last.end()
	return reader, nil
}

func newReader(c chain, path string, js []byte, last record) (*Reader, error) {
	blanks, hidden, err := c.tombstones(last)
	if err != nil {
		return nil, readError(path, err)
	}
	return &Reader{chain: c, path: path, header: js, last: last, blanks: blanks, hidden: hidden, ahead: ahead{r: c.r}}, nil
}

// openRead opens a regular file for reading. Anything else is refused before it
// is opened, as opening a pipe would wait for its other end.
func openRead(path string) (*os.File, int64, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, 0, fileError("open the log", path, err)
	}
	if !fi.Mode().IsRegular() {
		return nil, 0, notRegular(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fileError("open the log", path, err)
	}
	if fi, err = f.Stat(); err != nil {
		return nil, 0, errors.Join(fileError("open the log", path, err), f.Close())
	}
	return f, fi.Size(), nil
}

// ReadPosition returns the position of the log at path. It takes no lock and reads
// only the first and the last bytes of the file.
func ReadPosition(path string) (Position, error) {
	_, last, err := readEnds(path)
	return last.position(), err
}

// ReadHeader is ReadPosition with the log's header.
func ReadHeader(path string) (Header, Position, error) {
	js, last, err := readEnds(path)
	if err != nil {
		return Header{}, Position{}, err
	}
	return decodeHeader(js), last.position(), nil
}

// readEnds returns the header's JSON and the last record of the log at path.
func readEnds(path string) (js []byte, last record, err error) {
	f, size, err := openRead(path)
	if err != nil {
		return nil, record{}, err
	}
	defer f.Close()
	js, start, err := readHeader(f, size)
	if err != nil {
		return nil, record{}, headerError(path, err)
	}
	last, err = (chain{newTailBlock(f, size), start}).end(size)
	if err != nil {
		return nil, record{}, readError(path, err)
	}
	return js, last, nil
}

// Header returns the facts that the log was created with.
func (r *Reader) Header() Header { return decodeHeader(r.header) }

// Position returns how far the log had come when it was opened.
func (r *Reader) Position() Position { return r.last.position() }

// Torn returns the number of bytes of the file behind its last whole append: what
// a crash left of an append, or the damaged end of one. The next Open cuts them
// off, and a capture brings their text in again while the client has its file.
func (r *Reader) Torn() int64 { return r.torn }

// Close releases the file.
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

// Mask writes spaces over the bytes of p, which begins at raw offset off, that
// were deleted or rewritten: what a source still holds is the same as what the log
// holds where both look the same with it.
func (r *Reader) Mask(p []byte, off int64) { blank(p, off, r.blanks) }

// ReadAt implements io.ReaderAt over the raw bytes. Deleted bytes are spaces, or
// what Rewrite put in their place.
// It decompresses only the frames that hold the bytes asked for.
func (r *Reader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, archive.Invalid("a negative offset", "")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
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

// NewSection returns a reader of n raw bytes from off on.
func (r *Reader) NewSection(off, n int64) io.Reader { return io.NewSectionReader(r, off, n) }

// WriteTo implements io.WriterTo: it writes all raw bytes to w.
func (r *Reader) WriteTo(w io.Writer) (int64, error) {
	// The frames are passed on one by one under the lock; a copy through ReadAt
	// would need a second buffer as large as a frame.
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
	return n, nil
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

// OffsetOfLine returns the raw offset at which line n begins, counted from 0.
// The line behind the last newline counts, though it may hold nothing yet; a
// later one is CodeNotFound.
func (r *Reader) OffsetOfLine(ctx context.Context, n int) (int64, error) {
	switch {
	case n < 0:
		return 0, archive.Invalid(fmt.Sprintf("%d is no line number", n), "lines count from 0")
	case n == 0:
		return 0, nil
	case int64(n) > r.last.lines:
		return 0, archive.NotFound(fmt.Sprintf("line %d is not in the log, which has %d lines", n, r.last.lines), "lines count from 0")
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := r.cur
	if rec.depth == 0 || int64(n) > rec.lines || int64(n) <= rec.lineStart() {
		var err error
		if rec, err = r.seekLine(r.last, int64(n)); err != nil {
			return 0, readError(r.path, err)
		}
	}
	if rec.off != r.cur.off {
		body, err := r.body(rec)
		if err == nil {
			err = r.use(rec, body)
		}
		if err != nil {
			return 0, readError(r.path, err)
		}
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
