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

// Reader reads the bytes of a log as it was opened. It takes no lock: another process
// may append or seal meanwhile. Its methods may be called concurrently, except Close.
type Reader struct {
	chain
	path   string
	header []byte
	last   record
	blanks []span // of all tombstones
	hidden []span // those whose bytes are still in the data frames
	torn   int64
	close  func() error

	mu    sync.Mutex
	dec   *zstd.Decoder // created at the first use
	cur   record        // the record in raw
	raw   []byte        // in buf
	buf   []byte
	ahead readAhead
}

// OpenReader opens the log at path. A missing log and one that is still empty are
// CodeNotFound; a file with a damaged header is CodeCorrupt. Other damage is reported
// when it is read.
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
	return &Reader{chain: c, path: path, header: js, last: last, blanks: blanks, hidden: hidden, ahead: readAhead{r: c.r}}, nil
}

// openRead opens a regular file for reading. It checks the type before, because opening
// a FIFO would block.
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
	_, pos, err := ReadHeader(path)
	return pos, err
}

// ReadHeader is ReadPosition with the log's header.
func ReadHeader(path string) (h Header, pos Position, err error) {
	f, size, err := openRead(path)
	if err != nil {
		return h, pos, err
	}
	defer f.Close()
	js, start, err := readHeader(f, size)
	if err != nil {
		return h, pos, headerError(path, err)
	}
	last, err := (chain{newTailBlock(f, size), start}).end(size)
	if err != nil {
		return h, pos, readError(path, err)
	}
	return decodeHeader(js), last.position(), nil
}

// Header returns the stored header.
func (r *Reader) Header() Header { return decodeHeader(r.header) }

// Position returns the end of the log as it was opened.
func (r *Reader) Position() Position { return r.last.position() }

// Torn returns the number of bytes of the file after its last complete append: a torn
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
// blanked or rewritten. A source and its log are equal if both are equal after Mask.
func (r *Reader) Mask(p []byte, off int64) { blank(p, off, r.blanks) }

// ReadAt implements io.ReaderAt for the raw bytes. Blanked bytes are spaces, rewritten
// ones their replacement. It decompresses only the frames that it needs.
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

// NewSection returns a reader of n raw bytes from off.
func (r *Reader) NewSection(off, n int64) io.Reader { return io.NewSectionReader(r, off, n) }

// WriteTo implements io.WriterTo: it writes all raw bytes to w.
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
	rec := r.cur
	if rec.depth == 0 || int64(n) > rec.lines || int64(n) <= rec.lineStart() {
		var err error
		if rec, err = r.seek(r.last, func(_, lines int64) bool { return lines >= int64(n) }); err != nil {
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
