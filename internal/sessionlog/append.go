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

// Append adds p to the log and returns when it is on disk. p may have any length and end
// anywhere; an empty p is ignored. inode is that of the source, 0 if unknown. Up to 64 KiB
// become one frame, more become several; up to 16 MiB are one write and one fsync.
//
// If Append fails, the log is truncated to its former end; a full disk is CodeDenied. If
// the process dies in Append, the log holds all of p, a prefix of p (of more than 64
// KiB), or none of it.
func (l *Log) Append(ctx context.Context, p []byte, inode uint64) error {
	if len(p) == 0 {
		return nil
	}
	return l.transact(ctx, func() error {
		if err := l.needPrints(); err != nil {
			return err
		}
		most := frameSize(int64(len(p)), l.mode.frame)
		for len(p) > 0 {
			n := chunkLen(len(p), most)
			if err := l.addData(p[:n], inode); err != nil {
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

// needPrints loads the fingerprints unless they are loaded.
func (l *Log) needPrints() error {
	if l.prints != nil {
		return nil
	}
	v, err := l.reader()
	if err != nil {
		return err
	}
	defer v.Close()
	l.prints, err = loadFingerprints(v)
	return err
}

// endsLine reports whether the log is empty or ends with a newline.
func (l *Log) endsLine() (bool, error) {
	if err := l.needPrints(); err != nil {
		return false, err
	}
	if n := len(l.prints.tail); n > 0 {
		return l.prints.tail[n-1] == '\n', nil
	}
	return l.last.rawEnd == 0, nil // a blanked end counts as unfinished
}

// frameSize returns the maximum raw bytes of a frame of n bytes: an eighth, so that damage
// of one frame costs little, within 128 KiB and most.
func frameSize(n int64, most int) int { return int(min(max(n/8, 128<<10), int64(most))) }

// chunkLen returns how many of the n remaining bytes go into the next frame. A long
// append ends with a separate frame for the tail fingerprint, because the next process
// decompresses that frame.
func chunkLen(n, most int) int {
	if n <= 64<<10 {
		return n
	}
	return min(n-windowSize, most)
}

// transact calls add, which adds records, and writes them. After an error the log is
// unchanged.
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
	l.last, l.prints = before, nil
	l.pend.reset(before)
	if terr := l.f.Truncate(before.end()); terr != nil {
		// The file may end with a torn record, which only Open repairs.
		l.broken = fileError("restore the log", l.path, errors.Join(err, terr))
	}
	return err
}

// addData adds a data record with the bytes p.
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
		return archive.Invalid("the log has reached its maximum length", "")
	}
	r, err := l.nextRecord(kindData)
	if err != nil {
		return err
	}
	r.inode, r.rawLen, r.newlines, r.rawSum = inode, int64(len(p)), int64(bytes.Count(p, []byte{'\n'})), xxhash.Sum64(p)
	r.rawEnd += r.rawLen
	r.lines += r.newlines
	l.prints.add(p, &r.footer)
	if f := l.final; f != nil && r.rawEnd == f.rawEnd { // the same source
		r.head, r.headLen, r.tail, r.tailLen, r.inode = f.head, f.headLen, f.tail, f.tailLen, f.inode
	}
	at := len(l.pend.buf)
	l.commit(r, l.enc.EncodeAll(p, slices.Grow(l.pend.buf, len(p)/4+footerSize)), at)
	return nil
}

// nextRecord returns the next record with the fields that follow from the last one.
func (l *Log) nextRecord(kind byte) (record, error) {
	jump, depth, err := l.chain.nextJump(l.last)
	if err != nil && unlessDamaged(err) == nil {
		jump, depth, err = l.last.off, l.last.depth, nil // a shorter jump that is not damaged
	}
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

// commit adds the record r with the body buf[at:]; buf is all that is pending.
func (l *Log) commit(r record, buf []byte, at int) {
	r.body = int64(len(buf) - at)
	r.bodySum = xxhash.Sum64(buf[at:])
	r.off = l.pend.off + int64(len(buf))
	l.pend.buf = appendFooter(buf, r)
	l.last = r
}

// flush writes the pending records with one write and one fsync.
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
			return fileError("sync the log", l.path, err)
		}
	}
	for _, dir := range l.newDirs {
		if err := syncDir(dir); err != nil {
			return fileError("sync the folder of", l.path, err)
		}
	}
	l.newDirs = nil
	l.pend.reset(l.last)
	return nil
}
