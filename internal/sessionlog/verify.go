package sessionlog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"
)

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
