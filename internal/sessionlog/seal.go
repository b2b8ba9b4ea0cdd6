package sessionlog

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"

	"strandline/internal/archive"
)

// SealReport is the result of Seal or Rewrite.
type SealReport struct {
	Done          bool  // false: nothing to do
	Before, After int64 // bytes of the compressed file
	Raw           int64 // bytes of the transcript
	Blanked       int64 // raw bytes covered by tombstones, now removed from the file
	Frames        int   // data frames of the new file
}

// sealMode is the mode of logs that will hardly grow. Level "better" with 4 MiB frames
// compresses by 10.9, appends of 1 MiB by 7.9 and appends of 2 KB by 2.3.
func sealMode() mode {
	return mode{level: zstd.SpeedBetterCompression, frame: 4 << 20, group: 1, flags: flagSealed, lazy: true}
}

// Seal rewrites the log at path with large, better compressed frames and removes blanked
// bytes for good. The new file replaces the old one atomically and under the lock, after
// it was read back and compared; after an error the old one is unchanged. Sealing again
// does nothing until something is appended or blanked; a sealed log allows both. Lock
// and errors are those of Open, but a missing log is CodeNotFound.
func Seal(ctx context.Context, path string) (SealReport, error) { return rewriteLog(ctx, path, nil) }

// rewriteLog is Seal with replacements of lines.
func rewriteLog(ctx context.Context, path string, lines map[int]string) (SealReport, error) {
	f, lk, _, err := acquire(ctx, path, false)
	if err != nil {
		return SealReport{}, err
	}
	l := &Log{path: path, f: f, lk: lk, mode: appendMode()}
	defer l.Close()
	fi, err := f.Stat()
	if err != nil {
		return SealReport{}, fileError("read the log", path, err)
	}
	if err := l.attach(fi.Size(), nil); err != nil {
		return SealReport{}, err
	}
	rep := SealReport{Before: l.last.end(), After: l.last.end(), Raw: l.last.rawEnd}
	if l.last.depth == 0 || l.last.flags&flagSealed != 0 && len(lines) == 0 {
		return rep, nil
	}
	tmp := path + ".tmp"
	rep, err = l.rewrite(ctx, tmp, lines)
	if err == nil {
		err = l.replace(tmp)
	}
	if err != nil {
		if rerr := os.Remove(tmp); rerr != nil && !errors.Is(rerr, os.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
		return SealReport{}, err
	}
	return rep, nil
}

// rewrite writes the sealed log to tmp and verifies it.
func (l *Log) rewrite(ctx context.Context, tmp string, lines map[int]string) (SealReport, error) {
	v, err := l.reader()
	if err != nil {
		return SealReport{}, err
	}
	defer v.Close()
	put, err := v.patches(ctx, lines)
	if err != nil {
		return SealReport{}, err
	}
	// A crash may have left a file here; truncate it.
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return SealReport{}, fileError("create", tmp, err)
	}
	out := &Log{path: tmp, f: f, mode: sealMode(), final: &l.last}
	defer out.Close()
	if err := out.begin(headerFrame(l.header)); err != nil {
		return SealReport{}, err
	}
	out.prints = &fingerprints{head: []byte{}}
	sum := sha256.New()
	if err := out.copyFrom(ctx, v, put, sum); err != nil {
		return SealReport{}, err
	}
	if err := f.Sync(); err != nil {
		return SealReport{}, fileError("sync", tmp, err)
	}
	if err := out.Close(); err != nil {
		return SealReport{}, fileError("close", tmp, err)
	}
	got, err := Verify(ctx, tmp)
	if err != nil {
		return SealReport{}, fmt.Errorf("check the sealed log: %w", err)
	}
	if [sha256.Size]byte(sum.Sum(nil)) != got.SHA256 || got.Raw != l.last.rawEnd || int64(got.Lines) != l.last.lines || got.Torn != 0 {
		return SealReport{}, &archive.Error{Code: archive.CodeInternal,
			Msg:  "sealing " + filepath.Base(l.path) + " changed its content; the log is unchanged",
			Hint: "run 'strandline verify' and report this"}
	}
	return SealReport{Done: true, Before: l.last.end(), After: got.Size, Raw: got.Raw, Blanked: got.Blanked, Frames: got.Frames}, nil
}

// copyFrom appends the content of v with the patches applied, and its tombstones. It
// writes the raw bytes to sum.
func (l *Log) copyFrom(ctx context.Context, v *Reader, put []patch, sum io.Writer) error {
	buf := make([]byte, min(int64(l.mode.frame), v.last.rawEnd))
	for off := int64(0); off < v.last.rawEnd; {
		n := chunkLen(int(min(v.last.rawEnd-off, 2*int64(l.mode.frame))), l.mode.frame)
		if err := readFull(v, buf[:n], off); err != nil {
			return err
		}
		apply(put, buf[:n], off)
		if _, err := sum.Write(buf[:n]); err != nil {
			return err
		}
		if err := l.transact(ctx, func() error { return l.addData(buf[:n], v.last.inode) }); err != nil {
			return err
		}
		off += int64(n)
	}
	gone := slices.Clone(v.blanks)
	for _, x := range put {
		gone = append(gone, x.span)
	}
	return l.transact(ctx, func() error { return l.addTombstones(mergeSpans(gone), tombstoneApplied) })
}

// replace renames tmp over the log and closes the log.
func (l *Log) replace(tmp string) error {
	if closeBeforeRename {
		if err := l.f.Close(); err != nil {
			return fileError("close the log", l.path, err)
		}
	}
	if err := os.Rename(tmp, l.path); err != nil {
		return fileError("replace the log", l.path, err)
	}
	if err := syncDir(filepath.Dir(l.path)); err != nil {
		return fileError("sync the folder of", l.path, err)
	}
	return nil
}
