package sessionlog

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"strandline/internal/archive"
	"strandline/internal/state"
)

// file is the part of os.File that a log needs.
type file interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Close() error
}

// Log is a log opened for appending. It holds the log's lock until Close. It is not safe
// for concurrent use; several Logs of one path are ordered by the lock.
type Log struct {
	path     string
	f        file
	lk       *state.Lock
	header   []byte // JSON
	pend     pending
	chain    chain // over pend
	last     record
	repaired int64 // bytes of the file that Open truncated
	damaged  bool
	keep     func(damaged []byte) error // stores a copy of bytes that Open truncates; nil: none
	newDirs  []string                   // folders to sync with the first append
	prints   *fingerprints              // nil until needed
	enc      *zstd.Encoder
	broken   error // why appending is not possible any more

	mode  mode
	final *record // while sealing: the last record of the original log
}

// mode configures the compression and grouping of frames.
type mode struct {
	level zstd.EncoderLevel
	frame int  // maximum raw bytes of a frame
	group int  // raw bytes after which frames are written and synced
	flags byte // of every footer
	lazy  bool // the caller syncs
}

// appendMode is the mode of hooks and imports. Level "fastest" compresses 2 KB of a
// transcript by 2.3 and 1 MiB by 7.9; "default" by 2.35 and 8.5, with a fifth less speed
// and four times the memory.
func appendMode() mode { return mode{level: zstd.SpeedFastest, frame: 1 << 20, group: 16 << 20} }

// Open opens the log at path for appending and locks it. It waits for another writer until
// ctx is done (CodeBusy). A missing log is created with mode 0600, its folders with 0700,
// and header h; an existing log keeps its header. Open truncates a torn end. A log with a
// damaged header is CodeCorrupt and is not changed; a folder or disk that cannot be written
// is CodeDenied.
func Open(ctx context.Context, path string, h Header) (*Log, error) {
	return Haste{}.Open(ctx, path, h)
}

// Haste says what to leave out for a process that the user waits for.
type Haste struct {
	// Quick checks only the last 32 KB of a log. Open checks 1 MB, which costs 500 page
	// faults, half of those of a hook.
	Quick bool
	// Unsynced leaves appended bytes to the operating system. They survive the process but
	// not the machine until Sync is called.
	Unsynced bool
}

// Open is the function Open, done in haste.
func (o Haste) Open(ctx context.Context, path string, h Header) (*Log, error) {
	f, lk, newDirs, err := acquire(ctx, path, true)
	if err != nil {
		return nil, err
	}
	l := &Log{path: path, f: f, lk: lk, newDirs: newDirs, mode: appendMode()}
	l.mode.lazy = o.Unsynced
	l.keep = func(b []byte) error { return keepDamaged(path, b) }
	fi, err := f.Stat()
	if err == nil {
		err = l.attach(fi.Size(), h, o.check())
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (o Haste) check() endCheck {
	if o.Quick {
		return endCheck{bytes: tailBlockSize}
	}
	return endCheck{bytes: checkedBytes, writes: 2}
}

// endCheck is the part of a log's end to check: its last bytes, and at least so many of the
// last writes.
type endCheck struct {
	bytes  int64
	writes int
}

// Sync makes the appended bytes of a log durable.
func Sync(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fileError("sync the log", path, err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fileError("sync the log", path, err)
	}
	return nil
}

// checkedBytes is how much of a log's end Open checks: all of most logs, in less than half
// a millisecond.
const checkedBytes = 1 << 20

// attach reads the state of a file of the given size and mends its end. A file without a
// header gets h.
func (l *Log) attach(size int64, h Header, check endCheck) error {
	tail := newTailBlock(l.f, size, check.bytes)
	js, start, err := readHeader(l.f, size)
	if errors.Is(err, errHeaderTorn) {
		return l.restart(size, h)
	}
	if err != nil {
		return headerError(l.path, err)
	}
	last, err := (chain{tail, start}).end(size)
	if err != nil {
		return readError(l.path, err)
	}
	if last.end() < size {
		l.start(l.f, js, start, last)
		if err = l.mendEnd(size); err != nil {
			return err
		}
	} else {
		l.start(tail, js, start, last)
	}
	if l.last.depth > 0 {
		whole, err := l.chain.isComplete(l.last, size-check.bytes, check.writes)
		if err != nil {
			return readError(l.path, err)
		}
		l.damaged = !whole
	}
	return nil
}

// mendEnd gives the intact frames after the last valid footer new footers, and truncates
// the rest, which a crash left torn or which is damaged.
func (l *Log) mendEnd(size int64) error {
	r, err := newReader(chain{l.f, l.chain.start}, l.path, l.header, l.last, size)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, rec := range r.tail {
		body, err := r.body(rec)
		if err == nil {
			err = l.recommit(r, rec, body)
		}
		if err != nil {
			return readError(l.path, err)
		}
	}
	if err := l.flush(context.Background()); err != nil {
		return err
	}
	return l.cut(l.last.end(), size)
}

// recommit adds a record whose body is in place and whose footer is damaged.
func (l *Log) recommit(r *Reader, rec record, body []byte) error {
	next, err := l.nextRecord(rec.kind)
	if err != nil {
		return err
	}
	at := len(l.pend.buf)
	if l.prints = nil; rec.kind == kindData {
		if err := l.needPrints(); err != nil {
			return err
		}
		raw, err := r.decode(rec, body)
		if err != nil {
			return err
		}
		next.rawLen, next.newlines, next.rawSum, next.rawEnd, next.lines = rec.rawLen, rec.newlines, rec.rawSum, rec.rawEnd, rec.lines
		l.prints.add(raw, &next.footer)
	}
	l.commit(next, append(l.pend.buf, body...), at)
	return nil
}

// cut truncates the file to end. It stores a copy of the removed bytes if they are more
// than an unfinished append.
func (l *Log) cut(end, size int64) error {
	if l.repaired = size - end; l.repaired == 0 {
		return nil
	}
	b := make([]byte, l.repaired)
	if err := readFull(l.f, b, end); err != nil {
		return readError(l.path, err)
	}
	if l.keep != nil && worthKeeping(b) {
		if err := l.keep(b); err != nil {
			return fileError("copy the damaged end of", l.path, err)
		}
	}
	if err := l.f.Truncate(end); err != nil {
		return fileError("truncate the torn end of", l.path, err)
	}
	return nil
}

// worthKeeping reports whether the end b of a log is more than an unfinished append.
func worthKeeping(b []byte) bool {
	n, err := frameLen(b)
	unfinished := errors.Is(err, io.ErrUnexpectedEOF) || err == nil && len(b) < n+footerSize
	return !unfinished && len(bytes.Trim(b, "\x00")) > 0
}

// damagedExt is between a log's name and a random number in the names of copies of its
// damaged bytes.
const damagedExt = ".damaged-"

// keepDamaged stores damaged bytes of the log at path beside it.
func keepDamaged(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+damagedExt+"*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

// moveDamaged renames a file that is not a log.
func moveDamaged(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+damagedExt+"*")
	if err == nil {
		err = errors.Join(f.Close(), os.Rename(path, f.Name()))
	}
	if err != nil {
		return fileError("move away", path, err)
	}
	return nil
}

// DamagedCopies returns the paths of the copies of damaged bytes of the log at path.
func DamagedCopies(path string) ([]string, error) {
	list, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, fileError("list the folder of", path, err)
	}
	var found []string
	for _, d := range list {
		if strings.HasPrefix(d.Name(), filepath.Base(path)+damagedExt) {
			found = append(found, filepath.Join(filepath.Dir(path), d.Name()))
		}
	}
	return found, nil
}

// restart writes a header to a file that a crash left empty or torn.
func (l *Log) restart(size int64, h Header) error {
	frame, err := encodeHeader(h)
	if err != nil {
		return err
	}
	if err := l.cut(0, size); err != nil {
		return err
	}
	return l.begin(frame)
}

// begin writes the header frame to an empty file.
func (l *Log) begin(frame []byte) error {
	// The fsync of the first append covers the header. Until then the log has no
	// data to lose.
	if _, err := l.f.WriteAt(frame, 0); err != nil {
		return errors.Join(fileError("write the log", l.path, err), l.f.Truncate(0))
	}
	start := int64(len(frame))
	l.start(l.f, frame[headerFixed:], start, rootRecord(start))
	return nil
}

// start sets the state after the record last.
func (l *Log) start(r io.ReaderAt, js []byte, start int64, last record) {
	l.header, l.last = js, last
	l.pend = pending{r: r}
	l.pend.reset(last)
	l.chain = chain{&l.pend, start}
}

// Header returns the stored header.
func (l *Log) Header() Header { return decodeHeader(l.header) }

// Position returns the end of the log.
func (l *Log) Position() Position { return l.last.position() }

// reader returns a reader of the log's current content.
func (l *Log) reader() (*Reader, error) {
	return newReader(l.chain, l.path, l.header, l.last, l.last.end())
}

// Damaged reports whether the end of the log is damaged, at least 1 MiB or two writes of
// it, which Open checks. Repair mends it while the source exists.
func (l *Log) Damaged() bool { return l.damaged }

// Close releases the lock. All appended bytes are on disk already.
func (l *Log) Close() error {
	if l.f == nil {
		return nil
	}
	err := errors.Join(l.f.Close(), l.lk.Release())
	l.f, l.lk = nil, nil
	return err
}

// pending is a file with unwritten bytes after its end.
type pending struct {
	r   io.ReaderAt
	off int64 // file offset of buf
	raw int64 // raw bytes of the log up to off
	buf []byte
}

// reset empties p and sets its start to the end of last.
func (p *pending) reset(last record) { p.off, p.raw, p.buf = last.end(), last.rawEnd, p.buf[:0] }

// ReadAt implements io.ReaderAt. A record is either written or pending as a whole.
func (p *pending) ReadAt(b []byte, off int64) (int, error) {
	if off < p.off {
		return p.r.ReadAt(b, off)
	}
	return bytes.NewReader(p.buf).ReadAt(b, off-p.off)
}

// acquire opens the log at path for writing and locks it. It waits for the lock until
// ctx is done. With create it creates a missing log; newDirs are the folders that got a
// new entry.
func acquire(ctx context.Context, path string, create bool) (f *os.File, lk *state.Lock, newDirs []string, err error) {
	const first, most = 200 * time.Microsecond, 5 * time.Millisecond
	for wait := first; ; wait = min(2*wait, most) {
		var made []string
		f, made, err = openWrite(path, create)
		if err != nil {
			return nil, nil, nil, err
		}
		newDirs = append(newDirs, made...)
		lk, err = tryLock(f)
		if err == nil && names(path, f) {
			return f, lk, newDirs, nil
		}
		replaced := err == nil // Seal replaced the file
		if replaced {
			err = lk.Release()
		}
		if cerr := f.Close(); cerr != nil && (replaced || errors.Is(err, state.ErrHeld)) {
			err = cerr
		}
		if replaced && err == nil {
			wait = first
			continue
		}
		if !errors.Is(err, state.ErrHeld) {
			return nil, nil, nil, fileError("lock", path, err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, nil, nil, &archive.Error{Code: archive.CodeBusy, Err: ctx.Err(),
				Msg:  "another process is writing " + filepath.Base(path),
				Hint: "try again; the next hook logs the missing bytes"}
		}
	}
}

// names reports whether f is still the file at path.
func names(path string, f *os.File) bool {
	a, err1 := os.Stat(path)
	b, err2 := f.Stat()
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

// openWrite opens a regular file for writing. With create it creates the file and its
// folders if they are missing, and returns the folders that got a new entry.
func openWrite(path string, create bool) (f *os.File, newDirs []string, err error) {
	doing, flags := "open the log", os.O_RDWR
	fi, err := os.Stat(path)
	switch {
	case err == nil && !fi.Mode().IsRegular():
		return nil, nil, notRegular(path)
	case create && errors.Is(err, fs.ErrNotExist):
		doing, flags = "create the log", os.O_RDWR|os.O_CREATE
		if newDirs, err = makeDirs(filepath.Dir(path)); err != nil {
			return nil, nil, fileError("create the folder of", path, err)
		}
	}
	if f, err = os.OpenFile(path, flags, 0o600); err != nil {
		return nil, nil, fileError(doing, path, err)
	}
	return f, newDirs, nil
}

// makeDirs creates dir and missing folders above it with mode 0700. It returns dir and
// the folders that got a new entry.
func makeDirs(dir string) ([]string, error) {
	touched := []string{dir}
	for d, parent := dir, filepath.Dir(dir); d != parent; d, parent = parent, filepath.Dir(parent) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		touched = append(touched, parent)
	}
	return touched, os.MkdirAll(dir, 0o700)
}
