package sessionlog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"strandline/internal/archive"
	"strandline/internal/state"
)

// SealReport is the result of Seal or Rewrite.
type SealReport struct {
	Done          bool  // false: nothing to do
	Before, After int64 // bytes of the compressed file
	Raw           int64 // bytes of the transcript
	Blanked       int64 // raw bytes covered by tombstones, now removed from the file
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
func Seal(ctx context.Context, path string) (SealReport, error) { return Rewrite(ctx, path, nil) }

// Rewrite replaces lines, counted from 0, and removes their bytes from the file. A
// replacement shorter than its line is padded with spaces, so that offsets and line
// numbers do not change; "" leaves only spaces. The log's fingerprints still describe
// the source's former bytes. Like Seal it replaces the file atomically. A replacement
// that is too long or holds a newline is CodeInvalid, a missing line CodeNotFound.
func Rewrite(ctx context.Context, path string, lines map[int]string) (SealReport, error) {
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
		return SealReport{}, errors.Join(err, state.Remove(tmp))
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
	if err := errors.Join(f.Sync(), out.Close()); err != nil {
		return SealReport{}, fileError("write", tmp, err)
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
	return SealReport{Done: true, Before: l.last.end(), After: got.Size, Raw: got.Raw, Blanked: got.Blanked}, nil
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
		_, _ = sum.Write(buf[:n]) // a hash never fails
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
	var err error
	if closeBeforeRename {
		err = l.f.Close()
	}
	if err == nil {
		err = os.Rename(tmp, l.path)
	}
	if err == nil {
		err = syncDir(filepath.Dir(l.path))
	}
	if err != nil {
		return fileError("replace the log", l.path, err)
	}
	return nil
}

// VerifyReport describes the content of a log.
type VerifyReport struct {
	Raw     int64             // bytes of the transcript
	Lines   int               // newlines among them
	Frames  int               // data frames
	Size    int64             // bytes of the file, including torn ones
	Torn    int64             // bytes of the file after the last complete append
	Blanked int64             // raw bytes covered by tombstones
	Sealed  bool              // nothing was appended or blanked since Seal
	SHA256  [sha256.Size]byte // of the stored bytes, as "zstd -dc" prints them
}

// Verify decompresses the whole log at path and checks every checksum, count and pointer
// in it. It takes no lock and reads the log as it is when called. It reports a torn end,
// which the next Open repairs, without an error. With an error (CodeCorrupt for a
// damaged log) the report covers the part before.
func Verify(ctx context.Context, path string) (VerifyReport, error) {
	f, size, err := openRead(path)
	if err != nil {
		return VerifyReport{}, err
	}
	defer f.Close()
	return verify(ctx, path, f, size)
}

func verify(ctx context.Context, path string, f io.ReaderAt, size int64) (VerifyReport, error) {
	rep := VerifyReport{Size: size}
	r, err := readerOf(path, f, size)
	if err != nil {
		return rep, err
	}
	defer r.Close()
	rep.Torn, rep.Sealed = size-r.last.end(), r.last.flags&flagSealed != 0
	if err := r.verify(ctx, &rep); err != nil {
		return rep, readError(path, err)
	}
	return rep, nil
}

func (r *Reader) verify(ctx context.Context, rep *VerifyReport) error {
	for _, s := range r.blanks {
		rep.Blanked += s.to - s.from
	}
	sum := sha256.New()
	ends := fingerprints{head: []byte{}}
	for rec := rootRecord(r.start); rec.off < r.last.off; {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("verify the log: %w", err)
		}
		nxt, body, err := r.step(rec)
		if err != nil {
			return err
		}
		if err := r.checkLinks(rec, nxt, body); err != nil {
			return err
		}
		if rec = nxt; rec.kind != kindData {
			continue
		}
		raw, err := r.decode(rec, body)
		if err != nil {
			return err
		}
		if int64(bytes.Count(raw, []byte{'\n'})) != rec.newlines {
			return &errDamaged{rec.off, "a wrong line count"}
		}
		want := rec.footer
		ends.add(raw, &want)
		// The bytes of the fingerprints may have been deleted.
		if len(r.blanks) == 0 && want != rec.footer {
			return &errDamaged{rec.off, "a wrong fingerprint"}
		}
		sum.Write(raw)
		rep.Frames++
		rep.Raw, rep.Lines = rec.rawEnd, int(rec.lines)
	}
	copy(rep.SHA256[:], sum.Sum(nil))
	return nil
}

// checkLinks checks the body and the pointers of nxt, the record after rec.
func (r *Reader) checkLinks(rec, nxt record, body []byte) error {
	if xxhash.Sum64(body) != nxt.bodySum {
		return &errDamaged{nxt.bodyOff(), "a damaged frame"}
	}
	jump, depth, err := r.nextJump(rec)
	if err != nil {
		return err
	}
	if jump != nxt.jump || depth != nxt.jumpDepth || nxt.tombs != rec.newestTombstone() || nxt.base > nxt.bodyOff() {
		return &errDamaged{nxt.off, "a pointer to the wrong record"}
	}
	if nxt.kind == kindTombstone {
		if _, ok := decodeTombstone(body, nxt.rawEnd); !ok {
			return &errDamaged{nxt.bodyOff(), "a damaged tombstone"}
		}
	}
	return nil
}
