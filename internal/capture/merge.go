package capture

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
)

// Merged is what Merge did.
type Merged struct {
	Added    int64 // bytes that were new
	Created  bool  // the log is new
	Diverged bool  // a generation begins, because both sides have other bytes after a common start
	Early    bool  // nothing was done: no log has the bytes before the part yet
}

// Merge adds a piece of a log that another machine wrote. Bytes that a generation of the
// log has are known; bytes that continue the latest generation are appended to it; other
// bytes begin a generation, with those before them. Nothing is ever removed, so an
// interrupted Merge is repeated. Parts of one log may be merged in any order; one that is
// Early is tried again after others. A deleted session stays deleted. The error is
// CodeCorrupt if the bytes do not have the part's checksum.
func (c *Capture) Merge(ctx context.Context, p Part, text []byte) (out Merged, err error) {
	if c.Forgotten().Has(p.Header.Session) {
		return out, nil
	}
	if sum := sha256.Sum256(text); p.From == 0 && hex.EncodeToString(sum[:]) != p.After {
		return out, errChecksum()
	}
	for range maxStale {
		var again bool
		if out, again, err = c.merge(ctx, p, text); !again {
			return out, err
		}
	}
	return out, &archive.Error{Code: archive.CodeBusy, Msg: "another process keeps writing the log of session " + archive.ShortID(p.Header.Session), Hint: "try again in a moment"}
}

// merge is one attempt of Merge. It returns true if another process changed the log.
func (c *Capture) merge(ctx context.Context, p Part, text []byte) (out Merged, again bool, err error) {
	logs, err := c.logsOf(&p)
	if err != nil {
		return out, false, err
	}
	fit := fitting{none: p.From > 0}
	for _, e := range slices.Backward(logs) {
		f, err := fitPart(ctx, e, p, text)
		if err != nil {
			return out, false, err
		}
		f.grows = f.grows && e.Path == logs[len(logs)-1].Path
		fit = fit.better(f)
	}
	switch {
	case fit.has:
		return out, false, nil
	case fit.none:
		out.Early = true
		return out, false, nil
	case fit.grows:
		again, err = c.grow(ctx, fit.log.Path, p.Header, fit.raw, text[fit.raw-p.From:])
	default:
		out.Created, out.Diverged = true, len(logs) > 0
		p.Header.Generation = 1
		if out.Diverged {
			p.Header.Generation = logs[len(logs)-1].Generation + 1
		}
		again, err = c.begin(ctx, p, fit.log.Path, text)
	}
	if err != nil || again {
		return Merged{}, again, err
	}
	if out.Added = int64(len(text)); fit.grows {
		out.Added -= fit.raw - p.From
		out.Created = fit.raw == 0
	}
	return out, false, nil
}

// logsOf returns the generations of a part's log, oldest first. A session keeps its folder:
// p.Slug becomes that of its latest log, if there is one.
func (c *Capture) logsOf(p *Part) ([]sessionlog.Entry, error) {
	main, err := c.Layout.Find(p.Header.Client, p.File)
	if len(main) > 0 {
		p.Slug = main[len(main)-1].Slug
	}
	p.Header.Slug = p.Slug
	if err != nil || p.Rel == "" {
		slices.SortStableFunc(main, func(a, b sessionlog.Entry) int { return cmp.Compare(a.Generation, b.Generation) })
		return main, err
	}
	return c.Layout.FindChild(p.Header.Client, p.Slug, p.File, p.Rel), nil
}

// fitting is how a part fits a log.
type fitting struct {
	log   sessionlog.Entry
	raw   int64 // length of the log
	has   bool  // the log has the part
	grows bool  // the part continues the log
	none  bool  // the log does not have the bytes before the part
}

// better returns the better one of two.
func (f fitting) better(g fitting) fitting {
	switch {
	case g.none || f.has || f.grows && !g.has:
		return f
	case f.none || f.log.Path == "" || g.has || g.grows:
		return g
	}
	return f
}

// fitPart compares a part with a log. A log that cannot be read does not fit.
func fitPart(ctx context.Context, e sessionlog.Entry, p Part, text []byte) (f fitting, err error) {
	f.log = e
	r, err := sessionlog.OpenReader(e.Path)
	switch archive.ErrorCode(err) {
	case archive.CodeNotFound: // without bytes
		f.none, f.grows = p.From > 0, p.From == 0
		return f, nil
	case archive.CodeCorrupt:
		f.none = true
		return f, nil
	}
	if err != nil {
		return f, err
	}
	defer r.Close()
	if f.raw = r.Position().Raw; f.raw < p.From {
		f.none = true
		return f, nil
	}
	sum := sha256.New()
	if err := hashTo(ctx, r, sum, 0, p.From); err != nil {
		return f, err
	}
	if p.From > 0 && hex.EncodeToString(sum.Sum(nil)) != p.Before {
		f.none = true
		return f, nil
	}
	sum.Write(text)
	if hex.EncodeToString(sum.Sum(nil)) != p.After {
		return f, errChecksum()
	}
	own := make([]byte, min(f.raw, p.To)-p.From)
	if n, err := r.ReadAt(own, p.From); n < len(own) {
		return f, err
	}
	same := bytes.HasPrefix(text, own)
	f.has, f.grows = same && f.raw >= p.To, same && f.raw < p.To
	return f, nil
}

func errChecksum() error {
	return &archive.Error{Code: archive.CodeCorrupt, Msg: "a part does not have its checksum", Hint: "delete the file, and push again from the machine that wrote it"}
}

// hashTo adds the raw bytes of a log between two offsets to a checksum.
func hashTo(ctx context.Context, r *sessionlog.Reader, sum hash.Hash, from, to int64) error {
	buf := make([]byte, min(1<<20, max(0, to-from)))
	for from < to {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.ReadAt(buf[:min(int64(len(buf)), to-from)], from)
		if n == 0 {
			return fmt.Errorf("read log: %w", cmp.Or(err, io.ErrUnexpectedEOF))
		}
		sum.Write(buf[:n])
		from += int64(n)
	}
	return nil
}

// grow appends text to a log that has raw bytes. It returns true if the log has others now.
func (c *Capture) grow(ctx context.Context, path string, h sessionlog.Header, raw int64, text []byte) (again bool, err error) {
	log, err := sessionlog.Open(ctx, path, h)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if log.Position().Raw != raw {
		return true, nil
	}
	if err := log.Append(ctx, text, 0); err != nil || raw > 0 {
		return false, err
	}
	return false, c.Manifest().Add(path, int64(len(text)))
}

// begin writes the first bytes of a generation: those of the log at base before the part,
// and text. It returns true if the generation exists. What a killed process wrote of it is
// continued, or is in a temporary file.
func (c *Capture) begin(ctx context.Context, p Part, base string, text []byte) (again bool, err error) {
	to := logFile{layout: c.Layout, header: p.Header, rel: p.Rel, name: p.File}.path()
	if _, err := os.Lstat(to); err == nil {
		return true, nil
	}
	if p.From == 0 {
		return c.grow(ctx, to, p.Header, 0, text)
	}
	temp := to + ".tmp"
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, fmt.Errorf("begin a generation: %w", err)
	}
	log, err := sessionlog.Open(ctx, temp, p.Header)
	if err != nil {
		return false, err
	}
	err = errors.Join(copyStart(ctx, base, p.From, log), log.Append(ctx, text, 0), log.Close())
	if err == nil {
		err = os.Rename(temp, to)
	}
	if err != nil {
		return false, errors.Join(err, os.Remove(temp))
	}
	return false, c.Manifest().Add(to, p.To)
}

// copyStart appends the first n raw bytes of the log at path.
func copyStart(ctx context.Context, path string, n int64, to *sessionlog.Log) error {
	r, err := sessionlog.OpenReader(path)
	if err != nil {
		return err
	}
	defer r.Close()
	buf := make([]byte, min(readAheadBytes, n))
	for at := int64(0); at < n; {
		k, err := r.ReadAt(buf[:min(int64(len(buf)), n-at)], at)
		if k == 0 {
			return fmt.Errorf("read log: %w", cmp.Or(err, io.ErrUnexpectedEOF))
		}
		if err := to.Append(ctx, buf[:k], 0); err != nil {
			return err
		}
		at += int64(k)
	}
	return nil
}

// Sums returns the checksums of a log's raw bytes up to the given offsets, which are
// sorted, as far as it has them, and up to its end. Damaged bytes are CodeCorrupt.
func Sums(ctx context.Context, r *sessionlog.Reader, offsets []int64) (sums map[int64]string, err error) {
	end := r.Position().Raw
	sums, at, sum := map[int64]string{}, int64(0), sha256.New()
	for _, to := range append(slices.Clip(offsets), end) {
		if to > end || to < at {
			continue
		}
		if err := hashTo(ctx, r, sum, at, to); err != nil {
			return nil, err
		}
		at = to
		sums[to] = hex.EncodeToString(sum.Sum(nil))
	}
	return sums, r.Damage()
}

// CutParts calls add with the pieces of a log after the offset from, whose checksum is
// before.
func CutParts(ctx context.Context, r *sessionlog.Reader, e sessionlog.Entry, from int64, before string, add func(Part, []byte) error) error {
	sum, end := sha256.New(), r.Position().Raw
	if err := hashTo(ctx, r, sum, 0, from); err != nil {
		return err
	}
	for from < end {
		text := make([]byte, min(PackText, end-from))
		if n, err := r.ReadAt(text, from); n < len(text) {
			return fmt.Errorf("read log: %w", err)
		}
		sum.Write(text)
		p := Part{Slug: e.Slug, File: e.Session, Rel: e.Rel, Generation: e.Generation, Header: r.Header(), From: from, To: from + int64(len(text)), Before: before, After: hex.EncodeToString(sum.Sum(nil))}
		if err := add(p, text); err != nil {
			return err
		}
		from, before = p.To, p.After
	}
	return r.Damage()
}
