// Package model keeps the files of embedding models that the user has added: an
// .onnx file and its vocabulary in a folder of their own, with a note of where
// they came from and what they must be. A file that has changed is not used.
package onnx

import (
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

// Models is the folder of models; each has one of its own in it.
type Models string

// The files of a model.
const (
	modelFile = "model.onnx"
	vocabFile = "vocab.txt"
	noteFile  = "model.json"
	seenFile  = "seen" // what the files looked like when they were last found right
)

// File is one file of a model and what it must be.
type File struct {
	Source string `json:"source"` // a path or an address, without what stands behind a ?
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Model is a model that was added.
type Model struct {
	Name  string    `json:"name"`
	Added time.Time `json:"added"`
	Model File      `json:"model"`
	Vocab File      `json:"vocab"`

	Path      string `json:"-"` // of the .onnx file
	VocabPath string `json:"-"`
}

// Embedder is the model's name in vector rows: the same name with another file is
// another embedder.
func (m Model) Embedder() string { return "onnx/" + m.Name + "@" + m.Model.SHA256[:8] }

// CheckName reports whether a model may be called so.
func CheckName(name string) error {
	if !regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`).MatchString(name) || slices.Contains([]string{"static", "http"}, name) {
		return archive.Invalid(fmt.Sprintf("%q cannot be a model's name", archive.Clip(name, 70)),
			"small letters, digits, dots and dashes; static and http are taken")
	}
	return nil
}

// List returns the models by name. A folder that holds no whole model is left
// out.
func (d Models) List() ([]Model, error) {
	entries, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
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

// Get returns a model by its name.
func (d Models) Get(name string) (Model, error) {
	if err := CheckName(name); err != nil {
		return Model{}, err
	}
	data, err := os.ReadFile(filepath.Join(string(d), name, noteFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Model{}, archive.NotFound("there is no model "+name, "strandline model list shows those there are, strandline model add brings one in")
	}
	if err != nil {
		return Model{}, fmt.Errorf("read model %s: %w", name, err)
	}
	m := Model{}
	if err := json.Unmarshal(data, &m); err != nil || m.Name != name || len(m.Model.SHA256) != 2*sha256.Size {
		return Model{}, corrupt("the note of model "+name+" is damaged", name)
	}
	m.Path, m.VocabPath = filepath.Join(string(d), name, modelFile), filepath.Join(string(d), name, vocabFile)
	return m, nil
}

func corrupt(msg, name string) error {
	return &archive.Error{Code: archive.CodeCorrupt, Msg: msg, Hint: "strandline model remove " + name + ", then add it again"}
}

// Verify compares a model's files with its note: their sizes and their
// checksums. It reads them whole.
func (m Model) Verify(ctx context.Context) error {
	for _, f := range []struct {
		what, path string
		want       File
	}{{"model", m.Path, m.Model}, {"vocabulary", m.VocabPath, m.Vocab}} {
		got, err := sum(ctx, f.path)
		if err != nil {
			return corrupt(fmt.Sprintf("the %s file of %s cannot be read", f.what, m.Name), m.Name)
		}
		if got.Bytes != f.want.Bytes || got.SHA256 != f.want.SHA256 {
			return corrupt(fmt.Sprintf("the %s file of %s has changed since it was added", f.what, m.Name), m.Name)
		}
	}
	return nil
}

// Check is Verify, unless the files are as they were when they were last found
// right: of the same sizes and times. It reads them only if they are not, or if
// they were written so shortly before that a later change might have the same
// time.
func (m Model) Check(ctx context.Context) error {
	now, newest, err := m.seen()
	if err != nil {
		return corrupt("the files of "+m.Name+" cannot be read", m.Name)
	}
	path := filepath.Join(filepath.Dir(m.Path), seenFile)
	if before, err := os.ReadFile(path); err == nil && string(before) == now {
		if at, err := os.Stat(path); err == nil && at.ModTime().Sub(newest) > coarse {
			return nil
		}
	}
	if err := m.Verify(ctx); err != nil {
		return err
	}
	_ = state.Replace(path, []byte(now)) // else they are read again
	return nil
}

// coarse is more than any file system's clock is.
const coarse = 3 * time.Second

// seen describes the files without reading them, and says when the newer one was
// written.
func (m Model) seen() (text string, newest time.Time, err error) {
	for _, path := range []string{m.Path, m.VocabPath} {
		info, err := os.Stat(path)
		if err != nil {
			return "", newest, fmt.Errorf("read a model's file: %w", err)
		}
		text += fmt.Sprintf("%d %d\n", info.Size(), info.ModTime().UnixNano())
		if info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return text + m.Model.SHA256 + " " + m.Vocab.SHA256 + "\n", newest, nil
}

// sum returns a file's size and checksum.
func sum(ctx context.Context, path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, fmt.Errorf("read a model's file: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, reader{ctx, f})
	if err != nil {
		return File{}, fmt.Errorf("read a model's file: %w", err)
	}
	return File{SHA256: hex.EncodeToString(h.Sum(nil)), Bytes: n}, nil
}

// reader ends with its context.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// Remove deletes a model's files. One that is not there is an error.
func (d Models) Remove(name string) error {
	if _, err := d.Get(name); err != nil && archive.ErrorCode(err) != archive.CodeCorrupt {
		return err
	}
	if err := os.RemoveAll(filepath.Join(string(d), name)); err != nil {
		return fmt.Errorf("remove model %s: %w", name, err)
	}
	return nil
}

// IsURL reports whether a source is an address rather than a path.
func IsURL(source string) bool {
	return strings.HasPrefix(source, "https://") || strings.HasPrefix(source, "http://")
}
