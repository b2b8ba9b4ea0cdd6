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
// does nothing until something is appended or blanked; a sealed log allows both. A damaged
// log is CodeCorrupt and stays as it is. Lock and other errors are those of Open, but a
// missing log is CodeNotFound.
func Seal(ctx context.Context, path string) (SealReport, error) {
	return rewriteFile(ctx, path, func(r *Reader) (rewriting, bool, error) {
		if r.last.depth == 0 || r.last.flags&flagSealed != 0 && !r.surveyed {
			return rewriting{}, false, nil
		}
		if err := r.survey(); err != nil {
			return rewriting{}, false, readError(path, err)
		}
		return rewriting{}, true, damaged(path, archive.Select(r.holes, func(h Hole) bool { return h.Len > 0 }))
	})
}

// Rewrite replaces lines, counted from 0, and removes their bytes from the file. A
// replacement shorter than its line is padded with spaces, so that offsets and line
// numbers do not change; "" leaves only spaces. The log's fingerprints still describe
// the source's former bytes. Like Seal it replaces the file atomically; unlike Seal it
// accepts a damaged log, and drops its unreadable bytes, which may be those to remove. A
// replacement that is too long or holds a newline is CodeInvalid, a missing line
// CodeNotFound.
func Rewrite(ctx context.Context, path string, lines map[int]string) (SealReport, error) {
	return rewriteFile(ctx, path, func(r *Reader) (w rewriting, do bool, err error) {
		if w.replace, err = r.patches(ctx, lines); err == nil && len(w.replace) > 0 {
			err = r.survey() // finds all holes
		}
		return w, len(w.replace) > 0, err
	})
}

// rewriting lists the differences between a rewritten log and the old one.
type rewriting struct {
	header  []byte  // JSON; nil: unchanged
	restore []patch // the source's bytes for holes
	exact   bool    // restore fills all holes
	replace []patch // of lines; the old bytes are deleted for good
	keep    bool    // store a copy of the old file
}

// rewriteFile rewrites the log at path as plan says, unless it returns false.
func rewriteFile(ctx context.Context, path string, plan func(*Reader) (rewriting, bool, error)) (SealReport, error) {
	f, lk, _, err := acquire(ctx, path, false)
	if err != nil {
		return SealReport{}, err
	}
	l := &Log{path: path, f: f, lk: lk}
	defer l.Close()
	fi, err := f.Stat()
	if err != nil {
		return SealReport{}, fileError("read the log", path, err)
	}
	r, err := readerOf(path, f, fi.Size())
	if err != nil {
		return SealReport{}, err
	}
	defer r.Close()
	w, do, err := plan(r)
	rep := SealReport{Before: fi.Size(), After: fi.Size(), Raw: r.last.rawEnd}
	if err == nil && r.header == nil && w.header == nil {
		err = headerError(path, errHeaderLost)
	}
	if err != nil || !do {
		return rep, err
	}
	if from := r.size - r.torn; w.keep || r.torn > 0 && len(w.replace) == 0 {
		if w.keep {
			from = 0
		}
		b := make([]byte, r.size-from)
		if err = readFull(f, b, from); err == nil && worthKeeping(b) {
			err = keepDamaged(path, b)
		}
	}
	tmp := path + ".tmp"
	if err == nil {
		rep, err = w.write(ctx, r, tmp)
	}
	if err == nil {
		err = l.replace(tmp)
	}
	if err != nil {
		return SealReport{}, errors.Join(err, state.Remove(tmp))
	}
	return rep, nil
}

// write writes the new log to tmp and verifies it.
func (w rewriting) write(ctx context.Context, r *Reader, tmp string) (SealReport, error) {
	// A crash may have left a file here; truncate it.
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return SealReport{}, fileError("create", tmp, err)
	}
	out := &Log{path: tmp, f: f, mode: sealMode()}
	if !w.exact || len(r.blanks) > 0 {
		out.final = &r.last
	}
	defer out.Close()
	header := w.header
	if header == nil {
		header = r.header
	}
	if err := out.begin(headerFrame(header)); err != nil {
		return SealReport{}, err
	}
	out.prints = &fingerprints{head: []byte{}}
	sum := sha256.New()
	if err := out.copyFrom(ctx, r, w, sum); err != nil {
		return SealReport{}, err
	}
	if err := errors.Join(f.Sync(), out.Close()); err != nil {
		return SealReport{}, fileError("write", tmp, err)
	}
	got, err := Verify(ctx, tmp)
	if n := len(got.Holes); n > 0 && !slices.ContainsFunc(got.Holes, func(h Hole) bool { return h.Len > 0 }) {
		err = nil // bytes that the old log had lost
	}
	if err != nil {
		return SealReport{}, fmt.Errorf("check the sealed log: %w", err)
	}
	if [sha256.Size]byte(sum.Sum(nil)) != got.SHA256 || got.Raw != r.last.rawEnd || int64(got.Lines) != out.last.lines || got.Torn != 0 {
		return SealReport{}, &archive.Error{Code: archive.CodeInternal,
			Msg:  "sealing " + filepath.Base(r.path) + " changed its content; the log is unchanged",
			Hint: "run 'strandline verify' and report this"}
	}
	return SealReport{Done: true, Before: r.size, After: got.Size, Raw: got.Raw, Blanked: got.Blanked}, nil
}

// copyFrom appends the content of v with the changes of w, and its tombstones. It writes
// the raw bytes to sum.
func (l *Log) copyFrom(ctx context.Context, v *Reader, w rewriting, sum io.Writer) error {
	most := frameSize(v.last.rawEnd, l.mode.frame)
	buf := make([]byte, min(int64(most), v.last.rawEnd))
	for off := int64(0); off < v.last.rawEnd; {
		n := chunkLen(int(min(v.last.rawEnd-off, 2*int64(l.mode.frame))), most)
		if err := readFull(v, buf[:n], off); err != nil {
			return err
		}
		apply(w.restore, buf[:n], off)
		apply(w.replace, buf[:n], off)
		_, _ = sum.Write(buf[:n]) // a hash never fails
		if err := l.transact(ctx, func() error { return l.addData(buf[:n], v.last.inode) }); err != nil {
			return err
		}
		off += int64(n)
	}
	gone := slices.Clone(v.blanks)
	for _, x := range w.replace {
		gone = append(gone, x.span)
	}
	var lost []span
	for _, h := range v.Holes() {
		s := span{h.Raw, h.Raw + h.RawLen}
		if h.RawLen > 0 && !slices.ContainsFunc(w.restore, func(p patch) bool { return p.span == s }) {
			lost = append(lost, s)
		}
	}
	return l.transact(ctx, func() error {
		err := l.addTombstones(mergeSpans(gone), tombstoneApplied)
		if err == nil {
			err = l.addTombstones(mergeSpans(lost), tombstoneApplied|tombstoneLost)
		}
		return err
	})
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
	Raw     int64             // bytes of the transcript, including unreadable ones
	Lines   int               // newlines among them
	Frames  int               // data frames
	Size    int64             // bytes of the file, including torn ones
	Torn    int64             // bytes of the file after the last complete append
	Blanked int64             // raw bytes covered by tombstones
	Holes   []Hole            // damaged parts
	Sealed  bool              // nothing was appended or blanked since Seal
	SHA256  [sha256.Size]byte // of the stored bytes, as "zstd -dc" prints them; zero if some are unreadable
}

// Verify decompresses the whole log at path and checks every checksum, count and pointer
// in it. It takes no lock and reads the log as it is when called. It reports a torn end,
// which the next Open repairs, without an error. A damaged log is CodeCorrupt; Holes lists
// the damaged parts.
func Verify(ctx context.Context, path string) (VerifyReport, error) {
	f, size, err := openRead(path)
	if err != nil {
		return VerifyReport{}, err
	}
	defer f.Close()
	return verify(ctx, path, f, size)
}

// VerifyLocked is Verify while no process writes the log. It waits for a writer until ctx
// is done (CodeBusy).
func VerifyLocked(ctx context.Context, path string) (VerifyReport, error) {
	f, lk, _, err := acquire(ctx, path, false)
	if err != nil {
		return VerifyReport{}, err
	}
	defer func() { _, _ = f.Close(), lk.Release() }()
	fi, err := f.Stat()
	if err != nil {
		return VerifyReport{}, fileError("read the log", path, err)
	}
	return verify(ctx, path, f, fi.Size())
}

func verify(ctx context.Context, path string, f io.ReaderAt, size int64) (VerifyReport, error) {
	rep := VerifyReport{Size: size}
	r, err := readerOf(path, f, size)
	if err != nil {
		return rep, err
	}
	defer r.Close()
	if err = r.verify(ctx, &rep); err != nil && unlessDamaged(err) == nil {
		first := err
		if err = r.survey(); err == nil && len(r.holes) == 0 {
			err = first // such as a wrong pointer between intact records
		}
	}
	rep.Raw, rep.Lines, rep.Torn, rep.Sealed, rep.Holes = r.last.rawEnd, int(r.last.lines), r.torn, r.last.flags&flagSealed != 0, r.allHoles()
	for _, s := range r.blanks {
		rep.Blanked += s.to - s.from
	}
	switch {
	case err != nil:
		return rep, readError(path, err)
	case r.header == nil:
		return rep, headerError(path, errHeaderLost)
	}
	return rep, damaged(path, rep.Holes)
}

// verify checks the records up to the first damage.
func (r *Reader) verify(ctx context.Context, rep *VerifyReport) error {
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
		if len(r.blanks)+len(r.lost) == 0 && want != rec.footer {
			return &errDamaged{rec.off, "a wrong fingerprint"}
		}
		sum.Write(raw)
		rep.Frames++
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
