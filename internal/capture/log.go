package capture

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// maxHookCompare is the largest size of a replaced file that a call with a limit
// compares with its log byte by byte. That takes about 10 ms.
const maxHookCompare = 8 << 20

// logInto appends the new bytes of a file to its log. A file that does not continue the
// log starts a new generation; the old log is kept. So does a log that cannot be read or
// repaired. An older copy of the file, in its own or another folder, starts none until it
// gets rows that no log has.
func (c *Capture) logInto(ctx context.Context, k sessionLogs, src Source) (Logged, error) {
	if k.isForgotten(src) {
		return Logged{}, nil
	}
	f, _, err := c.open(src.Client, src.Path, k.of(src.Rel))
	if err == nil && len(k.parts) > 0 && src.stored() {
		f, err = c.withoutForgotten(f, k, src)
	}
	if err != nil {
		return Logged{}, err
	}
	defer f.Close()
	to, err := c.locate(k, src, f)
	if err != nil {
		return Logged{}, err
	}
	if id := to.header.Session; id != src.Session && c.Forgotten().Has(id) {
		return Logged{}, nil // a run that an older client stored beside the transcripts
	}
	var out Logged
	for {
		out.Log, out.Generation = to.path(), to.header.Generation
		continues, err := c.appendNew(ctx, f, to, len(k.parts) > 0, &out)
		if archive.ErrorCode(err) == archive.CodeCorrupt {
			if continues, err = c.reopen(ctx, f, &to, k, src, &out); out.Deferred {
				return out, nil
			}
		}
		if err != nil {
			return out, fmt.Errorf("log %s: %w", src.Path, err)
		}
		if continues {
			c.noteLog(to)
			err = errors.Join(c.mend(ctx, f, to, &out), c.forgetAppended(ctx, k, &out))
			return out, err
		}
		if !out.Rewritten {
			if done, err := c.isCopy(f, k, src, &out); done || err != nil {
				return out, err
			}
		}
		to = to.next(out.header, src.Path, c.Now())
		out.Rewritten = true
	}
}

// reopen gives a log whose header is damaged another header and appends to it. It reports
// false if the log has to stay as it is, with out.header for the next generation.
func (c *Capture) reopen(ctx context.Context, f *os.File, to *logFile, k sessionLogs, src Source, out *Logged) (continues bool, err error) {
	if info, err := os.Stat(to.path()); c.MaxLog > 0 && err == nil && info.Size() > maxHookCompare {
		out.Deferred = true
		return false, nil
	}
	to.header.Created = time.Time{}
	if err := c.describe(&to.header, src, f); err != nil {
		return false, err
	}
	if _, err = sessionlog.Repair(ctx, to.path(), to.header, f); err == nil {
		continues, err = c.appendNew(ctx, f, *to, len(k.parts) > 0, out)
	}
	if archive.ErrorCode(err) == archive.CodeCorrupt {
		out.header, out.Rewritten = to.header, true
		return false, nil
	}
	return continues, err
}

// mend repairs the end of a log that a crash or the disk damaged, from the client's file.
// What that file does not have stays as it is.
func (c *Capture) mend(ctx context.Context, f *os.File, to logFile, out *Logged) error {
	if !out.damaged {
		return nil
	}
	if c.MaxLog > 0 && out.Position.Raw > maxHookCompare {
		out.Deferred = true
		return nil
	}
	_, err := sessionlog.Repair(ctx, to.path(), to.header, f)
	return err
}

// forgetAppended removes forgotten parts from the appended lines, because the client's
// file still has them.
func (c *Capture) forgetAppended(ctx context.Context, k sessionLogs, out *Logged) error {
	if len(k.parts) == 0 || out.Added == 0 {
		return nil
	}
	lines, err := c.ForgottenLines(ctx, out.Log, out.line, k.parts)
	if err != nil || len(lines) == 0 {
		return err
	}
	out.fresh = nil // it holds the client's lines
	_, err = sessionlog.Rewrite(ctx, out.Log, lines)
	return err
}

// withoutForgotten returns the lines of a session in a database without those after its
// log's end that belong to forgotten parts: the database still has their rows, but the log
// no longer does. It closes f.
func (c *Capture) withoutForgotten(f *os.File, k sessionLogs, src Source) (*os.File, error) {
	defer f.Close()
	latest, _ := k.latest("")
	pos, err := c.position(latest.Path)
	if err != nil {
		pos.Raw = 0 // the lines begin a generation
	}
	keys := map[string]bool{}
	for _, p := range k.parts {
		for _, key := range p.Keys {
			keys[key] = true
		}
	}
	if _, err := f.Seek(pos.Raw, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	var kept bytes.Buffer
	common := c.ClientOf(src.Client).Common()
	for lines := bufio.NewReader(f); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break // the last line ends with a newline
		}
		drop := false
		claude.Rows(common(line), 0, func(r transcript.Row) {
			drop = drop || slices.ContainsFunc(rowKeys(r), func(key string) bool { return keys[key] })
		})
		if !drop {
			kept.Write(line)
		}
	}
	return transcript.TempFile(io.MultiReader(io.NewSectionReader(f, 0, pos.Raw), &kept))
}

// appendNew appends the new bytes of a file to one generation of its log. It reports
// false if the file does not continue that generation. With forgotten set, lines of
// the log may have been removed.
func (c *Capture) appendNew(ctx context.Context, f *os.File, to logFile, forgotten bool, out *Logged) (continues bool, err error) {
	log, err := c.Haste.Open(ctx, to.path(), to.header)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	out.header, out.Position, out.damaged = log.Header(), log.Position(), log.Damaged()
	created := out.Position.Raw == 0
	out.Session, out.line = archiveID(out.header), out.Position.Lines
	// Read the size under the log's lock. An earlier size could be less than another
	// process has logged since, which would look like a truncated file.
	info, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("read transcript: %w", err)
	}
	size, ino, logged := info.Size(), inode(info), out.Position.Raw
	switch sessionlog.Compare(f, size, out.Position) {
	case sessionlog.Rewritten:
		// An empty file is not a new generation. Its next content is one.
		if size == 0 || !forgotten || size < logged {
			return size == 0, nil
		}
		// The session was rebuilt from a log with removed lines, so the fingerprints
		// do not match.
		if same, err := beginsWith(f, to.path(), logged); err != nil || !same || size == logged {
			return same, err
		}
	case sessionlog.Same:
		return true, nil
	case sessionlog.Unreadable:
		return true, fmt.Errorf("read transcript: its bytes cannot be read")
	case sessionlog.Grown:
	}
	replaced := out.Position.Inode != 0 && ino != 0 && out.Position.Inode != ino
	if c.MaxLog > 0 && (size-logged > c.MaxLog || replaced && logged > maxHookCompare) {
		out.Deferred = true
		return true, nil
	}
	if replaced {
		if same, err := beginsWith(f, to.path(), logged); err != nil || !same {
			return false, err
		}
	}
	err = c.copyNew(ctx, f, size, ino, log, out)
	if created && out.Added > 0 {
		err = errors.Join(err, c.Manifest().Add(to.path(), out.Position.Raw))
	}
	return true, err
}

// copyNew appends the bytes of a file after the log's end. If they fit into memory
// it keeps them, with the byte before, so that a hook indexes them without
// decompressing the log.
func (c *Capture) copyNew(ctx context.Context, f io.ReaderAt, size int64, ino uint64, log *sessionlog.Log, out *Logged) error {
	from := max(out.Position.Raw-1, 0)
	buf := make([]byte, min(size-from, readAheadBytes))
	for out.Position.Raw < size {
		if err := ctx.Err(); err != nil && out.Added > 0 {
			return err // the next capture continues after the appended bytes
		}
		n, err := f.ReadAt(buf[:min(int64(len(buf)), size-from)], from)
		chunk := buf[min(out.Position.Raw-from, int64(n)):n]
		if len(chunk) == 0 {
			if err == nil || errors.Is(err, io.EOF) {
				return nil // the file shrank meanwhile; the next capture compares it
			}
			return fmt.Errorf("read transcript: %w", err)
		}
		if err := log.Append(ctx, chunk, ino); err != nil {
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

// memory is a part of a transcript in memory.
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

// beginsWith reports whether a file begins with the first n bytes of its log. It
// ignores forgotten lines and damaged bytes of the log.
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
		// The file still holds the forgotten lines.
		r.Mask(a[:k], off)
		r.Mask(b[:m], off)
		if m != k || !bytes.Equal(a[:k], b[:k]) {
			return false, nil
		}
		off += int64(k)
	}
	return true, nil
}
