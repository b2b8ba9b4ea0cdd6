package sessionlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"strandline/internal/archive"
)

// Append adds p to the log and returns when it is on disk. p may be of any
// length and end anywhere; nothing at all is no append. Up to 64 KiB are one
// frame, more become several; up to 16 MiB are one write and one fsync.
//
// When Append fails the log is cut back to what it held before; a full disk is
// CodeDenied. When the process dies in it the log holds p whole, a leading part
// of p (of more than 64 KiB), or nothing of it.
func (l *Log) Append(ctx context.Context, p []byte, src Source) error {
	if len(p) == 0 {
		return nil
	}
	return l.transact(ctx, func() error {
		if err := l.needEdges(); err != nil {
			return err
		}
		for len(p) > 0 {
			n := chunkLen(len(p), l.mode.frame)
			if err := l.addData(p[:n], src.Inode); err != nil {
				return err
			}
			p = p[n:]
			if len(p) > 0 && l.last.rawEnd-l.pend.raw >= int64(l.mode.group) {
				if err := l.flush(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// needEdges loads the edges unless they are there.
func (l *Log) needEdges() error {
	if l.edges != nil {
		return nil
	}
	v, err := l.view()
	if err != nil {
		return err
	}
	defer v.Close()
	e, err := loadEdges(v)
	if err != nil {
		return err
	}
	l.edges = &e
	return nil
}

// endsLine reports whether the log ends with a newline, or holds nothing.
func (l *Log) endsLine() (bool, error) {
	if err := l.needEdges(); err != nil {
		return false, err
	}
	if n := len(l.edges.tail); n > 0 {
		return l.edges.tail[n-1] == '\n', nil
	}
	return l.last.rawEnd == 0, nil // a deleted end counts as unfinished
}

// chunkLen returns how many of the n bytes that are left go into the next frame.
// Long appends end with a frame of its own for the tail window, because the next
// process has to decompress that.
func chunkLen(n, most int) int {
	if n <= 64<<10 {
		return n
	}
	return min(n-windowSize, most)
}

// transact runs add, which adds records, and writes what it added. If anything
// fails the log is as before.
func (l *Log) transact(ctx context.Context, add func() error) error {
	if l.f == nil {
		return archive.Invalid("the log is closed", "")
	}
	if l.broken != nil {
		return l.broken
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("append to the log: %w", err)
	}
	before := l.last
	err := add()
	if err == nil {
		err = l.flush(ctx)
	}
	if err == nil {
		return nil
	}
	l.last, l.edges = before, nil
	l.pend.reset(before)
	if terr := l.f.Truncate(before.end()); terr != nil {
		// The file may end with half a record now; only Open mends that.
		l.broken = fileError("restore the log", l.path, errors.Join(err, terr))
	}
	return err
}

// addData adds a data record for p.
func (l *Log) addData(p []byte, inode uint64) error {
	if l.enc == nil {
		enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(l.mode.level), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(l.mode.frame), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return fmt.Errorf("start the compressor: %w", err)
		}
		l.enc = enc
	}
	if l.last.rawEnd > math.MaxInt64-int64(len(p)) {
		return archive.Invalid("the log is as long as a log can be", "")
	}
	r, err := l.draft(kindData)
	if err != nil {
		return err
	}
	r.inode = inode
	r.rawLen = int64(len(p))
	r.rawEnd += r.rawLen
	r.newlines = int64(bytes.Count(p, []byte{'\n'}))
	r.lines += r.newlines
	r.rawSum = xxhash.Sum64(p)
	l.edges.add(p, &r.footer)
	if l.final != nil && r.rawEnd == l.final.rawEnd {
		r.describe(l.final.footer)
	}
	at := len(l.pend.buf)
	l.commit(r, l.enc.EncodeAll(p, slices.Grow(l.pend.buf, len(p)/4+footerSize)), at)
	return nil
}

// describe takes over what f says about the source.
func (r *record) describe(f footer) {
	r.head, r.headLen, r.tail, r.tailLen, r.inode = f.head, f.headLen, f.tail, f.tailLen, f.inode
}

// draft returns the record that comes next, as far as the last one determines it.
func (l *Log) draft(kind byte) (record, error) {
	jump, depth, err := l.chain.nextJump(l.last)
	if err != nil {
		return record{}, readError(l.path, err)
	}
	return record{footer: footer{
		kind: kind, flags: l.mode.flags,
		rawEnd: l.last.rawEnd, lines: l.last.lines,
		head: l.last.head, headLen: l.last.headLen,
		tail: l.last.tail, tailLen: l.last.tailLen, inode: l.last.inode,
		base: l.pend.off, jump: jump, jumpDepth: depth,
		tombs: l.last.newestTombstone(), depth: l.last.depth + 1,
	}}, nil
}

// commit adds r, whose body is buf[at:], buf being all that is pending.
func (l *Log) commit(r record, buf []byte, at int) {
	r.body = int64(len(buf) - at)
	r.bodySum = xxhash.Sum64(buf[at:])
	r.off = l.pend.off + int64(len(buf))
	l.pend.buf = appendFooter(buf, r)
	l.last = r
}

// flush writes what is pending: one write, one fsync.
func (l *Log) flush(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("append to the log: %w", err)
	}
	if len(l.pend.buf) == 0 {
		return nil
	}
	if _, err := l.f.WriteAt(l.pend.buf, l.pend.off); err != nil {
		return fileError("write the log", l.path, err)
	}
	if !l.mode.lazy {
		if err := l.f.Sync(); err != nil {
			return fileError("write the log to disk", l.path, err)
		}
	}
	for _, dir := range l.fresh {
		if err := syncDir(dir); err != nil {
			return fileError("write the folder to disk of", l.path, err)
		}
	}
	l.fresh = nil
	l.pend.reset(l.last)
	return nil
}
