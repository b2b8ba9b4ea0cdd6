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
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/state"
)

// Models is the folder of the models that the user has added. Each model is a folder
// with an .onnx file, its vocabulary, and a note of their sources and checksums. A
// file that has changed is not used.
type Models string

// The files of a model.
const (
	modelFile    = "model.onnx"
	vocabFile    = "vocab.txt"
	noteFile     = "model.json"
	verifiedFile = "seen" // sizes and times of the files at their last verification
)

// File describes a file of a model.
type File struct {
	Source string `json:"source"` // path or URL, without a query
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Model is an added model.
type Model struct {
	Name  string    `json:"name"`
	Added time.Time `json:"added"`
	Model File      `json:"model"`
	Vocab File      `json:"vocab"`

	Path      string `json:"-"` // of the .onnx file
	VocabPath string `json:"-"`
}

// Embedder returns the model's name in vector rows, which identifies its file.
func (m Model) Embedder() string { return "onnx/" + m.Name + "@" + m.Model.SHA256[:8] }

// checkName returns an error if a model cannot have this name.
func checkName(name string) error {
	if !regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`).MatchString(name) || slices.Contains([]string{"static", "http"}, name) {
		return archive.Invalid(fmt.Sprintf("%q cannot be a model's name", archive.Clip(name, 70)),
			"use lower-case letters, digits, dots and dashes; static and http are reserved")
	}
	return nil
}

// List returns the complete models, by name.
func (d Models) List() ([]Model, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list models: %w", err)
	}
	var out []Model
	for _, e := range entries {
		if m, err := d.Get(e.Name()); err == nil {
			out = append(out, m)
		}
	}
	return out, nil
}

func (d Models) file(model, name string) string { return filepath.Join(string(d), model, name) }

// Get returns the model with this name.
func (d Models) Get(name string) (Model, error) {
	if err := checkName(name); err != nil {
		return Model{}, err
	}
	data, err := os.ReadFile(d.file(name, noteFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Model{}, archive.NotFound("there is no model "+name, "run strandline model list to see the models, strandline model add to add one")
	}
	if err != nil {
		return Model{}, fmt.Errorf("read model %s: %w", name, err)
	}
	m := Model{}
	if err := json.Unmarshal(data, &m); err != nil || m.Name != name || len(m.Model.SHA256) != 2*sha256.Size {
		return Model{}, corrupt("the note of model "+name+" is damaged", name)
	}
	m.Path, m.VocabPath = d.file(name, modelFile), d.file(name, vocabFile)
	return m, nil
}

func corrupt(msg, name string) error {
	return &archive.Error{Code: archive.CodeCorrupt, Msg: msg, Hint: "run strandline model remove " + name + ", then add it again"}
}

// Verify reads a model's files and compares their sizes and checksums with its note.
func (m Model) Verify(ctx context.Context) error {
	for _, f := range []struct {
		kind, path string
		want       File
	}{{"model", m.Path, m.Model}, {"vocabulary", m.VocabPath, m.Vocab}} {
		got, err := describe(ctx, f.path)
		if err != nil {
			return corrupt(fmt.Sprintf("the %s file of %s cannot be read", f.kind, m.Name), m.Name)
		}
		if got.Bytes != f.want.Bytes || got.SHA256 != f.want.SHA256 {
			return corrupt(fmt.Sprintf("the %s file of %s has changed since it was added", f.kind, m.Name), m.Name)
		}
	}
	return nil
}

// Check verifies a model, unless its files have the sizes and times of their last
// verification. Files written less than clockError before that are always read,
// because a later change could have the same time.
func (m Model) Check(ctx context.Context) error {
	now, newest, err := m.stat()
	if err != nil {
		return corrupt("the files of "+m.Name+" cannot be read", m.Name)
	}
	path := filepath.Join(filepath.Dir(m.Path), verifiedFile)
	if before, err := os.ReadFile(path); err == nil && string(before) == now {
		if info, err := os.Stat(path); err == nil && info.ModTime().Sub(newest) > clockError {
			return nil
		}
	}
	if err := m.Verify(ctx); err != nil {
		return err
	}
	_ = state.Replace(path, []byte(now)) // without it the files are read again
	return nil
}

// clockError is more than the resolution of any file system's clock.
const clockError = 3 * time.Second

// stat describes the files without reading them, and returns the newer one's time.
func (m Model) stat() (text string, newest time.Time, err error) {
	for _, path := range []string{m.Path, m.VocabPath} {
		info, err := os.Stat(path)
		if err != nil {
			return "", newest, err
		}
		text += fmt.Sprintf("%d %d\n", info.Size(), info.ModTime().UnixNano())
		if info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return text + m.Model.SHA256 + " " + m.Vocab.SHA256 + "\n", newest, nil
}

// describe returns a file's size and checksum.
func describe(ctx context.Context, path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, fmt.Errorf("read a model's file: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, readUntil(ctx, f, func(int) {}))
	if err != nil {
		return File{}, fmt.Errorf("read a model's file: %w", err)
	}
	return File{SHA256: hex.EncodeToString(h.Sum(nil)), Bytes: n}, nil
}

// readerFunc implements io.Reader.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// readUntil returns a reader that fails when ctx ends. It calls report with the number of
// bytes of each read.
func readUntil(ctx context.Context, r io.Reader, report func(n int)) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := r.Read(p)
		if n > 0 {
			report(n)
		}
		return n, err
	})
}

// Remove deletes a model's files, which can be damaged but must exist.
func (d Models) Remove(name string) error {
	if _, err := d.Get(name); err != nil && archive.ErrorCode(err) != archive.CodeCorrupt {
		return err
	}
	return archive.Wrap("remove model "+name, os.RemoveAll(d.file(name, "")))
}

// IsURL reports whether a source is a URL and not a path.
func IsURL(source string) bool {
	return strings.HasPrefix(source, "https://") || strings.HasPrefix(source, "http://")
}

// Fetch opens a URL at the byte from. It returns the actual offset, 0 if the server
// cannot continue a download, and the size of the whole file, or -1 if the server
// does not say.
type Fetch func(ctx context.Context, url string, from int64) (body io.ReadCloser, offset, size int64, err error)

// AddRequest describes a model to add.
type AddRequest struct {
	Name string
	// Model and Vocab are paths or URLs.
	Model, Vocab string
	// SHA256 is the required checksum of the model file in hexadecimal, or "".
	SHA256 string
	// Fetch opens URLs. It may be nil if Model and Vocab are paths.
	Fetch Fetch
	Now   func() time.Time
	// Progress, if set, is called with the bytes copied of a file. size is -1 if
	// unknown.
	Progress func(kind string, done, size int64)
}

// Add copies or downloads a model. If a download is interrupted, the next Add of the
// same URL continues it. It fails if there is a model with this name.
func (d Models) Add(ctx context.Context, r AddRequest) (Model, error) {
	r.SHA256 = strings.ToLower(r.SHA256)
	if err := d.check(r); err != nil {
		return Model{}, err
	}
	if err := os.MkdirAll(d.file(r.Name, ""), 0o700); err != nil {
		return Model{}, fmt.Errorf("create the model's folder: %w", err)
	}
	m := Model{Name: r.Name, Added: r.Now().UTC().Truncate(time.Second), Path: d.file(r.Name, modelFile), VocabPath: d.file(r.Name, vocabFile)}
	var err error
	if m.Vocab, err = r.addFile(ctx, "vocabulary", r.Vocab, m.VocabPath, ""); err != nil {
		return Model{}, err
	}
	if m.Model, err = r.addFile(ctx, "model", r.Model, m.Path, r.SHA256); err != nil {
		return Model{}, err
	}
	note, err := json.MarshalIndent(m, "", "  ")
	if err == nil { // written last: a folder without it is not a model
		err = os.WriteFile(d.file(r.Name, noteFile), append(note, '\n'), 0o600)
	}
	if err != nil {
		return Model{}, fmt.Errorf("write the model's note: %w", err)
	}
	return m, nil
}

// check checks a request before anything is written.
func (d Models) check(r AddRequest) error {
	if err := checkName(r.Name); err != nil {
		return err
	}
	if r.SHA256 != "" && !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(r.SHA256) {
		return archive.Invalid("a SHA-256 has 64 hexadecimal digits", "sha256sum FILE prints one")
	}
	if _, err := d.Get(r.Name); archive.ErrorCode(err) != archive.CodeNotFound {
		return archive.Invalid("there is a model "+r.Name+" already", "run strandline model remove "+r.Name+", or choose another --name")
	}
	if err := checkSource(r.Model, "give the path or the URL of the .onnx file"); err != nil {
		return err
	}
	return checkSource(r.Vocab, "use --vocab if the model's vocab.txt is not next to it")
}

// checkSource returns an error if a source is the path of a missing file.
func checkSource(source, hint string) error {
	if IsURL(source) {
		return nil
	}
	if _, err := os.Stat(source); err != nil {
		return &archive.Error{Code: archive.CodeNotFound, Msg: "cannot read " + source, Err: err, Hint: hint}
	}
	return nil
}

// addFile copies source to path and checks it.
func (r AddRequest) addFile(ctx context.Context, kind, source, path, wantSum string) (File, error) {
	// A partial file belongs to one source.
	id := sha256.Sum256([]byte(source))
	part := path + "." + hex.EncodeToString(id[:4]) + ".part"
	if err := r.copy(ctx, kind, source, part); err != nil {
		return File{}, err
	}
	f, err := describe(ctx, part)
	if err != nil {
		return File{}, err
	}
	if IsURL(source) {
		source, _, _ = strings.Cut(source, "?") // the query can contain a secret
	}
	f.Source = source
	if reason := invalid(kind, part, f, wantSum); reason != "" {
		return File{}, errors.Join(&archive.Error{
			Code: archive.CodeCorrupt, Msg: fmt.Sprintf("the %s file from %s %s", kind, source, reason),
			Hint: "check the source; the copied file is deleted",
		}, os.Remove(part))
	}
	if err := os.Rename(part, path); err != nil {
		return File{}, fmt.Errorf("move the %s: %w", kind, err)
	}
	return f, nil
}

// invalid returns why a file cannot be the one it should be, or "".
func invalid(kind, path string, f File, wantSum string) string {
	switch {
	case f.Bytes == 0:
		return "is empty"
	case wantSum != "" && f.SHA256 != wantSum:
		return "has another checksum: " + f.SHA256
	}
	file, err := os.Open(path)
	if err != nil {
		return "cannot be read"
	}
	defer file.Close()
	head := make([]byte, 64)
	n, _ := io.ReadFull(file, head) // the file can be shorter
	head = bytes.TrimLeft(head[:n], " \r\n\t")
	if bytes.HasPrefix(head, []byte("<")) || bytes.HasPrefix(head, []byte("version https://git-lfs")) {
		return "is a page or a pointer, not the file itself"
	}
	if kind == "vocabulary" && !bytes.HasPrefix(head, []byte("[PAD]")) {
		return "is not a vocab.txt of a BERT model"
	}
	return ""
}

// copy copies source to part, or continues an interrupted copy.
func (r AddRequest) copy(ctx context.Context, kind, source, part string) (err error) {
	out, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("write the %s: %w", kind, err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	have, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("write the %s: %w", kind, err)
	}
	in, offset, size, err := r.open(ctx, source, have)
	if err != nil {
		return err
	}
	defer in.Close()
	if offset < 0 || offset > have {
		return fmt.Errorf("fetch the %s: the answer starts at byte %d, want %d", kind, offset, have)
	}
	_, seekErr := out.Seek(offset, io.SeekStart)
	if err := errors.Join(seekErr, out.Truncate(offset)); err != nil {
		return fmt.Errorf("write the %s: %w", kind, err)
	}
	done := offset
	from := readUntil(ctx, in, func(n int) {
		if done += int64(n); r.Progress != nil {
			r.Progress(kind, done, size)
		}
	})
	const hint = "run the same command again to continue"
	if _, err := io.Copy(out, from); err != nil {
		return &archive.Error{Code: archive.CodeInternal, Msg: fmt.Sprintf("copying the %s file stopped after %d bytes", kind, done), Err: err, Hint: hint}
	}
	if size >= 0 && done != size {
		return &archive.Error{Code: archive.CodeCorrupt, Msg: fmt.Sprintf("the %s file has %d bytes, want %d", kind, done, size), Hint: hint}
	}
	return nil
}

func (r AddRequest) open(ctx context.Context, source string, from int64) (io.ReadCloser, int64, int64, error) {
	if IsURL(source) {
		return r.Fetch(ctx, source, from)
	}
	f, err := os.Open(source)
	if err != nil {
		return nil, 0, 0, archive.NotFound("cannot read "+source, "give the path of the file")
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, 0, 0, errors.Join(archive.Invalid(source+" is not a file", "give the path of the file itself"), f.Close())
	}
	return f, 0, info.Size(), nil
}
