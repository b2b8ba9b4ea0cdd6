package onnx

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"strandline/internal/archive"
)

// Fetch opens an address from a byte on. It returns from where it begins indeed,
// which is 0 where the server cannot go on in the middle, and the size of the
// whole file, -1 if the server does not say.
type Fetch func(ctx context.Context, url string, from int64) (body io.ReadCloser, begins, size int64, err error)

// AddRequest is a model to be added.
type AddRequest struct {
	Name string
	// Model and Vocab are paths or addresses.
	Model, Vocab string
	// SHA256 is what the model's file must be, in hexadecimal; empty: whatever it
	// is, which is noted.
	SHA256 string
	// Fetch opens addresses; nil where there are none.
	Fetch Fetch
	Now   func() time.Time
	// Progress, if set, is told how much of which file is there; size is -1 where
	// nobody knows.
	Progress func(what string, done, size int64)
}

// Add brings a model in. What was fetched stays when it is interrupted, and the
// next Add of the same address goes on behind it. A model of the same name has to
// be removed before.
func (d Models) Add(ctx context.Context, w AddRequest) (Model, error) {
	if err := CheckName(w.Name); err != nil {
		return Model{}, err
	}
	w.SHA256 = strings.ToLower(w.SHA256)
	if w.SHA256 != "" && !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(w.SHA256) {
		return Model{}, archive.Invalid("a SHA-256 has 64 hexadecimal digits", "sha256sum FILE prints one")
	}
	if _, err := d.Get(w.Name); archive.ErrorCode(err) != archive.CodeNotFound {
		return Model{}, archive.Invalid("there is a model "+w.Name+" already", "strandline model remove "+w.Name+", or --name another")
	}
	if err := missing(w.Model, "give the path of the .onnx file, or an address"); err != nil {
		return Model{}, err
	}
	if err := missing(w.Vocab, "--vocab names the model's vocab.txt where that is not beside it"); err != nil {
		return Model{}, err
	}
	home := filepath.Join(string(d), w.Name)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return Model{}, fmt.Errorf("make the model's folder: %w", err)
	}
	m := Model{Name: w.Name, Added: w.Now().UTC().Truncate(time.Second), Path: filepath.Join(home, modelFile), VocabPath: filepath.Join(home, vocabFile)}
	var err error
	if m.Vocab, err = w.bring(ctx, "vocabulary", w.Vocab, m.VocabPath, ""); err != nil {
		return Model{}, err
	}
	if m.Model, err = w.bring(ctx, "model", w.Model, m.Path, w.SHA256); err != nil {
		return Model{}, err
	}
	note, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return Model{}, fmt.Errorf("note the model: %w", err)
	}
	// The note comes last: without it there is no model.
	if err := os.WriteFile(filepath.Join(home, noteFile), append(note, '\n'), 0o600); err != nil {
		return Model{}, fmt.Errorf("note the model: %w", err)
	}
	return m, nil
}

// missing says so when a source is a file that is not there.
func missing(source, hint string) error {
	if IsURL(source) {
		return nil
	}
	if _, err := os.Stat(source); err != nil {
		return &archive.Error{Code: archive.CodeNotFound, Msg: "cannot read " + source, Err: err, Hint: hint}
	}
	return nil
}

// bring puts one file in place and returns what it is.
func (w AddRequest) bring(ctx context.Context, what, source, path, want string) (File, error) {
	// A part belongs to one source: another one begins anew.
	id := sha256.Sum256([]byte(source))
	part := path + "." + hex.EncodeToString(id[:4]) + ".part"
	if err := w.copy(ctx, what, source, part); err != nil {
		return File{}, err
	}
	f, err := sum(ctx, part)
	if err != nil {
		return File{}, err
	}
	if reason := w.wrong(what, part, f, want); reason != "" {
		return File{}, errors.Join(&archive.Error{
			Code: archive.CodeCorrupt, Msg: fmt.Sprintf("the %s file from %s %s", what, shown(source), reason),
			Hint: "what was brought in is deleted; check the source",
		}, os.Remove(part))
	}
	if err := os.Rename(part, path); err != nil {
		return File{}, fmt.Errorf("put the %s in place: %w", what, err)
	}
	f.Source = shown(source)
	return f, nil
}

// shown is an address without what may be a secret in it.
func shown(source string) string {
	if IsURL(source) {
		source, _, _ = strings.Cut(source, "?")
	}
	return source
}

// wrong says why a file cannot be what it should be, "" if it may.
func (w AddRequest) wrong(what, path string, f File, want string) string {
	switch {
	case f.Bytes == 0:
		return "is empty"
	case want != "" && f.SHA256 != want:
		return "has another checksum: " + f.SHA256
	}
	head := make([]byte, 64)
	r, err := os.Open(path)
	if err != nil {
		return "cannot be read"
	}
	defer r.Close()
	n, _ := io.ReadFull(r, head) // shorter files are whole heads
	head = bytes.TrimLeft(head[:n], " \r\n\t")
	if bytes.HasPrefix(head, []byte("<")) || bytes.HasPrefix(head, []byte("version https://git-lfs")) {
		return "is a page or a pointer, not the file itself"
	}
	if what == "vocabulary" && !bytes.HasPrefix(head, []byte("[PAD]")) {
		return "is no vocab.txt of a BERT model"
	}
	return ""
}

// copy makes part the whole of source, going on where an earlier one ended.
func (w AddRequest) copy(ctx context.Context, what, source, part string) (err error) {
	out, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("write the %s: %w", what, err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	have, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("write the %s: %w", what, err)
	}
	in, begins, size, err := w.open(ctx, source, have)
	if err != nil {
		return err
	}
	defer in.Close()
	if begins < 0 || begins > have {
		return fmt.Errorf("fetch the %s: it begins at %d, %d was asked for", what, begins, have)
	}
	if err := out.Truncate(begins); err != nil {
		return fmt.Errorf("write the %s: %w", what, err)
	}
	if _, err := out.Seek(begins, io.SeekStart); err != nil {
		return fmt.Errorf("write the %s: %w", what, err)
	}
	to := &counter{w: out, done: begins, tell: func(done int64) {
		if w.Progress != nil {
			w.Progress(what, done, size)
		}
	}}
	if _, err := io.Copy(to, reader{ctx, in}); err != nil {
		return &archive.Error{Code: archive.CodeInternal, Msg: fmt.Sprintf("the %s file broke off after %d bytes", what, to.done), Err: err,
			Hint: "run the same command again: it goes on from there"}
	}
	if size >= 0 && to.done != size {
		return &archive.Error{Code: archive.CodeCorrupt, Msg: fmt.Sprintf("the %s file has %d bytes, %d were announced", what, to.done, size),
			Hint: "run the same command again: it goes on from there"}
	}
	return nil
}

// counter tells how far a copy is.
type counter struct {
	w    io.Writer
	done int64
	tell func(int64)
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.done += int64(n)
	c.tell(c.done)
	return n, err
}

func (w AddRequest) open(ctx context.Context, source string, from int64) (io.ReadCloser, int64, int64, error) {
	if IsURL(source) {
		return w.Fetch(ctx, source, from)
	}
	f, err := os.Open(source)
	if err != nil {
		return nil, 0, 0, archive.NotFound("cannot read "+source, "give the path of the file")
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, 0, 0, errors.Join(archive.Invalid(source+" is no file", "give the path of the file itself"), f.Close())
	}
	return f, 0, info.Size(), nil // a copy is quick: it begins anew
}
