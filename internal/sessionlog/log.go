package sessionlog

import (
	"context"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

// file is what a log needs of the file it is written to.
type file interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Close() error
}

// Log is a log that is open for appending. It holds the log's lock until Close.
// It is for one goroutine; open it again elsewhere, and the lock orders the two.
type Log struct {
	path     string
	f        file
	lk       *lock
	header   []byte // JSON
	pend     pending
	chain    chain // over pend
	last     record
	repaired int64
	fresh    []string // folders to make durable with the first append
	edges    *edges   // nil until needed
	enc      *zstd.Encoder
	broken   error // why nothing can be appended any more

	mode  mode
	final *record // while sealing: the last record of the log that is rewritten
}

// mode says how a log compresses and groups its frames.
type mode struct {
	level zstd.EncoderLevel
	frame int  // most raw bytes of a frame
	group int  // raw bytes after which frames are written and synced
	flags byte // of every footer
	lazy  bool // do not sync, the caller does
}

// appendMode is for hooks and imports. Level "fastest" gives 2.3 for 2 KB and
// 7.9 for 1 MiB of transcripts, "default" 2.35 and 8.5 at a fifth less speed and
// four times the memory.
func appendMode() mode { return mode{level: zstd.SpeedFastest, frame: 1 << 20, group: 16 << 20} }

// Open opens the log at path for appending and locks it, waiting for another
// writer until ctx is done (CodeBusy). A missing log is created with mode 0600,
// its folders with 0700, and described by h; an existing one keeps its header.
// A torn end is cut off, see Repaired. A log whose header is damaged is
// CodeCorrupt and stays as it is; a folder or disk that cannot be written is
// CodeDenied.
func Open(ctx context.Context, path string, h Header) (*Log, error) {
	f, lk, fresh, err := acquire(ctx, path, true)
	if err != nil {
		return nil, err
	}
	l := &Log{path: path, f: f, lk: lk, fresh: fresh, mode: appendMode()}
	fi, err := f.Stat()
	if err == nil {
		err = l.attach(fi.Size(), &h)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// attach reads the state of a file of the given size and cuts off its torn end.
// A file without a header gets h. With nil, for a log that need not grow, it is
// left as it is, and so is an end that holds whole records behind damaged ones.
func (l *Log) attach(size int64, h *Header) error {
	tail := newTailBlock(l.f, size)
	js, start, err := readHeader(l.f, size)
	if errors.Is(err, errHeaderTorn) && h != nil {
		return l.restart(size, *h)
	}
	if err != nil {
		return headerError(l.path, err)
	}
	last, err := (chain{tail, start}).end(size)
	if err != nil {
		return readError(l.path, err)
	}
	if l.repaired = size - last.end(); l.repaired > 0 {
		if h == nil && (chain{tail, last.end()}).hasRecord(size) {
			// No unfinished append: something that was on disk is damaged, and
			// perhaps no source is left to take it from again.
			return readError(l.path, &errDamaged{last.end(), "a damaged frame"})
		}
		if err := l.f.Truncate(last.end()); err != nil {
			return fileError("cut the torn end of", l.path, err)
		}
	}
	tail.trim(last.end())
	l.start(tail, js, start, last)
	return nil
}

// restart gives a header to a file of which a crash has left nothing.
func (l *Log) restart(size int64, h Header) error {
	frame, err := encodeHeader(h)
	if err != nil {
		return err
	}
	if l.repaired = size; size > 0 {
		if err := l.f.Truncate(0); err != nil {
			return fileError("cut the torn header of", l.path, err)
		}
	}
	return l.begin(frame)
}

// begin writes the header frame into an empty file.
func (l *Log) begin(frame []byte) error {
	// No fsync: the one of the first append covers the header. Until then the
	// log holds nothing that could be lost.
	if _, err := l.f.WriteAt(frame, 0); err != nil {
		return errors.Join(fileError("write the log", l.path, err), l.f.Truncate(0))
	}
	start := int64(len(frame))
	l.start(l.f, frame[headerFixed:], start, rootRecord(start))
	return nil
}

// start sets the state behind last.
func (l *Log) start(r io.ReaderAt, js []byte, start int64, last record) {
	l.header, l.last = js, last
	l.pend = pending{r: r}
	l.pend.reset(last)
	l.chain = chain{&l.pend, start}
}

// Header returns the facts that the log was created with.
func (l *Log) Header() Header { return decodeHeader(l.header) }

// Position returns how far the log has come.
func (l *Log) Position() Position { return l.last.position() }

// Repaired returns how many bytes of the compressed file Open cut off because a
// crash had left them unfinished. The source still holds what they stood for,
// behind Position.
func (l *Log) Repaired() int64 { return l.repaired }

// view returns a reader of what the log holds now.
func (l *Log) view() (*Reader, error) { return newReader(l.chain, l.path, l.header, l.last) }

// Close gives the lock back. Everything appended is on disk already.
func (l *Log) Close() error {
	if l.f == nil {
		return nil
	}
	err := l.f.Close()
	if l.lk != nil {
		err = errors.Join(err, l.lk.release())
	}
	l.f, l.lk = nil, nil
	return err
}

// pending is a file with bytes behind its end that are not written yet.
type pending struct {
	r   io.ReaderAt
	off int64 // file offset of buf
	raw int64 // raw bytes of the log up to off
	buf []byte
}

// reset makes p end with last, and empty.
func (p *pending) reset(last record) { p.off, p.raw, p.buf = last.end(), last.rawEnd, p.buf[:0] }

// ReadAt implements io.ReaderAt. No record lies across the border.
func (p *pending) ReadAt(b []byte, off int64) (int, error) {
	if off < p.off {
		return p.r.ReadAt(b, off)
	}
	if off >= p.off+int64(len(p.buf)) {
		return 0, io.EOF
	}
	n := copy(b, p.buf[off-p.off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}
