package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"strandline/internal/sessionlog"
)

// maxHookCompare is how much of a file that was replaced under its name is
// compared byte by byte when the caller is in a hurry; that takes about 10 ms.
const maxHookCompare = 8 << 20

// Log appends the new bytes of a file to its log. A file that no longer begins
// with what was logged starts a new generation; what was logged stays. A copy in
// another folder that holds nothing new starts none.
func (c *Capture) Log(ctx context.Context, src Source) (Logged, error) {
	k, err := c.sessionLogs(src, src.Rel != "")
	if err != nil || k.forgotten {
		return Logged{}, err
	}
	return c.logInto(ctx, k, src)
}

func (c *Capture) logInto(ctx context.Context, k sessionLogs, src Source) (Logged, error) {
	if k.isForgotten(src) {
		return Logged{}, nil
	}
	f, _, err := openSource(src.Path)
	if err != nil {
		return Logged{}, err
	}
	defer f.Close()
	place, err := c.locate(k, src, f)
	if err != nil {
		return Logged{}, err
	}
	if id := place.header.Session; id != src.Session && c.Forgotten().Has(id) {
		return Logged{}, nil // a run that an older client kept beside the transcripts
	}
	var out Logged
	for {
		out.Log, out.Generation = place.path(), place.header.Generation
		fits, err := c.appendNew(ctx, f, place, len(k.parts) > 0, &out)
		if err != nil {
			return out, fmt.Errorf("log %s: %w", src.Path, err)
		}
		if fits {
			err := c.takeOut(ctx, k, &out)
			return out, err
		}
		if !out.Rewritten {
			done, err := c.isCopy(f, k, src, &out)
			if done || err != nil {
				return out, err
			}
		}
		place = place.next(out.header, src.Path, c.Now())
		out.Rewritten = true
	}
}

// takeOut takes what was forgotten out of what was appended.
func (c *Capture) takeOut(ctx context.Context, k sessionLogs, out *Logged) error {
	if len(k.parts) == 0 || out.Added == 0 {
		return nil
	}
	changed, err := c.removeForgotten(ctx, out.Log, out.line, k.parts)
	if changed {
		out.fresh = nil // it is as the file has it
	}
	return err
}

// appendNew brings one generation of a log up to its file. It reports false
// when the file is not a continuation of that generation. holed says that lines of
// the log may have been forgotten.
func (c *Capture) appendNew(ctx context.Context, f *os.File, p logFile, holed bool, out *Logged) (fits bool, err error) {
	log, err := sessionlog.Open(ctx, p.path(), p.header)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	out.header, out.Position = log.Header(), log.Position()
	out.Session, out.line = archiveID(out.header), out.Position.Lines
	// Asked under the log's lock: a size from before could be smaller than what
	// another process has logged since, and would look like a truncated file.
	info, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("read transcript: %w", err)
	}
	size, ino := info.Size(), inode(info)
	switch sessionlog.Compare(f, size, out.Position) {
	case sessionlog.Rewritten:
		// An emptied file has nothing to keep; if it grows again it is other
		// content, and that starts the generation.
		if size == 0 || !holed || size < out.Position.Raw {
			return size == 0, nil
		}
		// The session was rebuilt from a log with holes, which nothing recognises
		// at a glance.
		if same, err := beginsWith(f, p.path(), out.Position.Raw); err != nil || !same || size == out.Position.Raw {
			return same, err
		}
	case sessionlog.Same:
		return true, nil
	case sessionlog.Unreadable:
		return true, fmt.Errorf("read transcript: its bytes cannot be read")
	case sessionlog.Grown:
	}
	if c.MaxLog > 0 && size-out.Position.Raw > c.MaxLog {
		out.Deferred = true
		return true, nil
	}
	if replaced := out.Position.Inode != 0 && ino != 0 && out.Position.Inode != ino; replaced {
		if c.MaxLog > 0 && out.Position.Raw > maxHookCompare {
			out.Deferred = true
			return true, nil
		}
		same, err := beginsWith(f, p.path(), out.Position.Raw)
		if err != nil || !same {
			return false, err
		}
	}
	return true, c.copyNew(ctx, f, size, ino, log, out)
}

// copyNew appends what the file holds behind the log's end. What fits into memory
// is kept for the index, with the byte before it, so that a hook need not
// decompress what it has just compressed.
func (c *Capture) copyNew(ctx context.Context, f io.ReaderAt, size int64, ino uint64, log *sessionlog.Log, out *Logged) error {
	start := out.Position.Raw
	from := max(start-1, 0)
	buf := make([]byte, min(size-from, readAheadBytes))
	for out.Position.Raw < size {
		if err := ctx.Err(); err != nil && out.Added > 0 {
			return err // what was appended is whole; the next capture goes on
		}
		n, err := f.ReadAt(buf[:min(int64(len(buf)), size-from)], from)
		chunk := buf[min(out.Position.Raw-from, int64(n)):n]
		if len(chunk) == 0 {
			if err == nil || errors.Is(err, io.EOF) {
				return nil // the file shrank while it was read: the next capture sees to it
			}
			return fmt.Errorf("read transcript: %w", err)
		}
		if err := log.Append(ctx, chunk, sessionlog.Source{Inode: ino}); err != nil {
			return err
		}
		out.fresh = nil
		if out.Added == 0 {
			out.fresh = &memory{at: from, bytes: buf[:n]}
		}
		out.Added += int64(len(chunk))
		out.Position = log.Position()
		from = out.Position.Raw
	}
	return nil
}

// memory is a part of a transcript.
type memory struct {
	at    int64 // offset of the first byte
	bytes []byte
}

// ReadAt implements io.ReaderAt.
func (m *memory) ReadAt(p []byte, off int64) (int, error) {
	if off < m.at || off > m.at+int64(len(m.bytes)) {
		return 0, fmt.Errorf("offset %d is not in memory", off)
	}
	n := copy(p, m.bytes[off-m.at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// beginsWith reports whether a file still begins with the first n bytes of its
// log, comparing all of them that were not forgotten.
func beginsWith(f io.ReaderAt, logPath string, n int64) (bool, error) {
	r, err := sessionlog.OpenReader(logPath)
	if err != nil {
		return false, err
	}
	defer r.Close()
	a, b := make([]byte, 256<<10), make([]byte, 256<<10)
	logged := r.NewSection(0, n)
	for off := int64(0); off < n; {
		k, err := io.ReadFull(logged, a[:min(int64(len(a)), n-off)])
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return false, fmt.Errorf("read log: %w", err)
		}
		m, err := f.ReadAt(b[:k], off)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, &unreadError{err}
		}
		// What was forgotten stands in the file still.
		r.Mask(a[:k], off)
		r.Mask(b[:m], off)
		if m != k || !bytes.Equal(a[:k], b[:k]) {
			return false, nil
		}
		off += int64(k)
	}
	return true, nil
}
