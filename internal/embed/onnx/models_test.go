package onnx_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/embed/onnx"
	"strandline/internal/embed/remote"
)

const vocab = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n"

var weights = []byte("\x08\x08" + strings.Repeat("weights ", 20_000))

func hexSum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

func files(t *testing.T) (path, words string) {
	t.Helper()
	dir := t.TempDir()
	path, words = filepath.Join(dir, "m.onnx"), filepath.Join(dir, "vocab.txt")
	for path, data := range map[string][]byte{path: weights, words: []byte(vocab)} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path, words
}

func wanted(model, words string) onnx.AddRequest {
	return onnx.AddRequest{Name: "mini", Model: model, Vocab: words, Fetch: remote.Fetch,
		Now: func() time.Time { return time.Unix(1_790_000_000, 5) }}
}

func wantCode(t *testing.T, err error, code archive.Code, says string) {
	t.Helper()
	if archive.ErrorCode(err) != code || !strings.Contains(fmt.Sprint(err), says) {
		t.Errorf("%v (%s), want %s with %q", err, archive.ErrorCode(err), code, says)
	}
}

func TestAddListRemove(t *testing.T) {
	dir := onnx.Models(filepath.Join(t.TempDir(), "models"))
	if ms, err := dir.List(); err != nil || len(ms) != 0 {
		t.Errorf("before: %v (%v)", ms, err)
	}
	path, words := files(t)
	w := wanted(path, words)
	w.SHA256 = strings.ToUpper(hexSum(weights))
	var reports []string
	w.Progress = func(what string, done, size int64) {
		if done == size {
			reports = append(reports, what)
		}
	}
	added, err := dir.Add(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(reports) != "[vocabulary model]" {
		t.Errorf("progress %v", reports)
	}
	ms, err := dir.List()
	if err != nil || len(ms) != 1 || ms[0] != added {
		t.Fatalf("%+v (%v), want %+v", ms, err, added)
	}
	m := ms[0]
	if m.Model.Bytes != int64(len(weights)) || m.Embedder() != "onnx/mini@"+hexSum(weights)[:8] || m.Vocab.SHA256 != hexSum([]byte(vocab)) {
		t.Errorf("%+v", m)
	}
	if err := m.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	_, err = dir.Add(t.Context(), w)
	wantCode(t, err, archive.CodeInvalid, "already")
	if err := dir.Remove("mini"); err != nil {
		t.Error(err)
	}
	wantCode(t, dir.Remove("mini"), archive.CodeNotFound, "mini")
	if left, _ := filepath.Glob(filepath.Join(string(dir), "*")); len(left) != 0 {
		t.Errorf("remaining files: %v", left)
	}
}

func TestBadSources(t *testing.T) {
	path, words := files(t)
	page := filepath.Join(t.TempDir(), "page")
	empty := filepath.Join(t.TempDir(), "empty")
	for path, text := range map[string]string{page: "\n<!DOCTYPE html>", empty: ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		change func(w *onnx.AddRequest)
		code   archive.Code
		says   string
	}{
		"no such file":       {func(w *onnx.AddRequest) { w.Model = "/no/such/file" }, archive.CodeNotFound, "/no/such/file"},
		"a folder":           {func(w *onnx.AddRequest) { w.Model = t.TempDir() }, archive.CodeInvalid, "not a file"},
		"a web page":         {func(w *onnx.AddRequest) { w.Model = page }, archive.CodeCorrupt, "a page"},
		"an empty file":      {func(w *onnx.AddRequest) { w.Model = empty }, archive.CodeCorrupt, "empty"},
		"another checksum":   {func(w *onnx.AddRequest) { w.SHA256 = strings.Repeat("0", 64) }, archive.CodeCorrupt, hexSum(weights)},
		"no checksum":        {func(w *onnx.AddRequest) { w.SHA256 = "abc" }, archive.CodeInvalid, "64"},
		"no vocabulary":      {func(w *onnx.AddRequest) { w.Vocab = path }, archive.CodeCorrupt, "vocab.txt"},
		"a name with a path": {func(w *onnx.AddRequest) { w.Name = "../mini" }, archive.CodeInvalid, "name"},
		"a taken name":       {func(w *onnx.AddRequest) { w.Name = "static" }, archive.CodeInvalid, "name"},
		"unencrypted":        {func(w *onnx.AddRequest) { w.Model = "http://example.org/m.onnx" }, archive.CodeInvalid, "unencrypted"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := onnx.Models(t.TempDir())
			w := wanted(path, words)
			test.change(&w)
			_, err := dir.Add(t.Context(), w)
			wantCode(t, err, test.code, test.says)
			if ms, err := dir.List(); err != nil || len(ms) != 0 {
				t.Errorf("it left %v (%v)", ms, err)
			}
		})
	}
}

// A model whose files have changed is not used.
func TestChanged(t *testing.T) {
	for name, change := range map[string]func(m onnx.Model) error{
		"truncated":   func(m onnx.Model) error { return os.Truncate(m.Path, 1000) },
		"overwritten": func(m onnx.Model) error { return os.WriteFile(m.Path, bytes.ToUpper(weights), 0o600) },
		"vocabulary":  func(m onnx.Model) error { return os.WriteFile(m.VocabPath, []byte(vocab+"b\n"), 0o600) },
		"gone":        func(m onnx.Model) error { return os.Remove(m.Path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := onnx.Models(t.TempDir())
			m, err := dir.Add(t.Context(), wanted(files(t)))
			if err != nil {
				t.Fatal(err)
			}
			// Valid before the change, twice.
			for range 2 {
				if err := m.Check(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := change(m); err != nil {
				t.Fatal(err)
			}
			wantCode(t, m.Verify(t.Context()), archive.CodeCorrupt, "mini")
			wantCode(t, m.Check(t.Context()), archive.CodeCorrupt, "mini")
		})
	}
	dir := onnx.Models(t.TempDir())
	m, err := dir.Add(t.Context(), wanted(files(t)))
	if err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(filepath.Dir(m.Path), "model.json")
	if err := os.WriteFile(note, []byte(`{"name":"mini"`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = dir.Get("mini")
	wantCode(t, err, archive.CodeCorrupt, "damaged")
	if err := dir.Remove("mini"); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dir.Add(ctx, wanted(files(t))); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}

// Verified files are not read again while their sizes and times are the same.
func TestCheckReadsOnce(t *testing.T) {
	m, err := onnx.Models(t.TempDir()).Add(t.Context(), wanted(files(t)))
	if err != nil {
		t.Fatal(err)
	}
	then := time.Unix(1_790_000_000, 0)
	age := func() {
		t.Helper()
		for _, path := range []string{m.Path, m.VocabPath} {
			if err := os.Chtimes(path, then, then); err != nil {
				t.Fatal(err)
			}
		}
	}
	age()
	if err := m.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A change with the old time is not detected by Check.
	if err := os.WriteFile(m.Path, bytes.ToUpper(weights), 0o600); err != nil {
		t.Fatal(err)
	}
	wantCode(t, m.Check(t.Context()), archive.CodeCorrupt, "has changed")
	age()
	if err := m.Check(t.Context()); err != nil {
		t.Errorf("the file was read again: %v", err)
	}
	wantCode(t, m.Verify(t.Context()), archive.CodeCorrupt, "has changed")
}

// An interrupted download is continued, or restarted if the server has no ranges.
func TestResume(t *testing.T) {
	_, words := files(t)
	for _, ranges := range []bool{true, false} {
		t.Run(fmt.Sprint("ranges ", ranges), func(t *testing.T) {
			var asked []string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.Header.Get("Range"))
				if !ranges {
					r.Header.Del("Range")
				}
				if len(asked) == 1 {
					w.Header().Set("Content-Length", fmt.Sprint(len(weights)))
					_, _ = w.Write(weights[:70_000])
					panic(http.ErrAbortHandler)
				}
				http.ServeContent(w, r, "m.onnx", time.Time{}, bytes.NewReader(weights))
			}))
			defer s.Close()
			dir := onnx.Models(t.TempDir())
			w := wanted(s.URL+"/m.onnx?token=secret", words)
			_, err := dir.Add(t.Context(), w)
			wantCode(t, err, archive.CodeInternal, "stopped after")
			if hint := archive.ErrorHint(err); !strings.Contains(hint, "to continue") {
				t.Errorf("hint %q", hint)
			}
			m, err := dir.Add(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			if m.Model.SHA256 != hexSum(weights) || strings.Contains(m.Model.Source, "secret") {
				t.Errorf("%+v", m.Model)
			}
			if len(asked) != 2 || asked[0] != "" || !strings.HasPrefix(asked[1], "bytes=") {
				t.Errorf("asked for %q", asked)
			}
		})
	}
}

// The download was complete when the process ended.
func TestResumeAtTheEnd(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "m.onnx", time.Time{}, bytes.NewReader(weights))
	}))
	defer s.Close()
	body, begins, size, err := remote.Fetch(t.Context(), s.URL, int64(len(weights)))
	if err != nil || begins != int64(len(weights)) || size != begins {
		t.Fatalf("%d of %d (%v)", begins, size, err)
	}
	if rest, err := io.ReadAll(body); err != nil || len(rest) != 0 {
		t.Errorf("%d bytes more (%v)", len(rest), err)
	}
	// If the file has changed meanwhile, it is downloaded again.
	body, begins, size, err = remote.Fetch(t.Context(), s.URL, int64(len(weights))+10)
	if err != nil || begins != 0 || size != int64(len(weights)) {
		t.Fatalf("%d of %d (%v)", begins, size, err)
	}
	body.Close()
}

func TestFetchRejects(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://example.org/m.onnx", http.StatusFound)
			return
		}
		http.NotFound(w, r)
	}))
	defer s.Close()
	for path, says := range map[string]string{"/away": "example.org", "/missing": "404"} {
		if _, _, _, err := remote.Fetch(t.Context(), s.URL+path, 0); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
