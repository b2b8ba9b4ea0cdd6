package onnx

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/embed"
	"strandline/internal/embed/wordpiece"
)

// realHelper builds the helper program and finds the runtime's library, which
// `make test` installs. Without a C compiler or the library the test says so.
func realHelper(t *testing.T) (helper, library string) {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if library = os.Getenv("STRANDLINE_ONNXRUNTIME"); library == "" {
		found, err := filepath.Glob(filepath.Join(root, ".cache", "onnxruntime-*", "libonnxruntime*"))
		if err != nil || len(found) == 0 {
			t.Skip("the ONNX Runtime is not installed: scripts/install-onnxruntime.sh does it, make test calls it")
		}
		library = found[0]
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler, which the helper's binding to the ONNX Runtime needs")
	}
	helper = filepath.Join(t.TempDir(), "strandline-onnx")
	if runtime.GOOS == "windows" {
		helper += ".exe"
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "onnx", "-o", helper, "./cmd/strandline-onnx")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the helper: %v\n%s", err, out)
	}
	return helper, library
}

// write puts a model and the vocabulary of the tokenizer's tests into a folder.
func write(t *testing.T, model []byte) (path, vocab string) {
	t.Helper()
	dir := t.TempDir()
	path, vocab = filepath.Join(dir, "small.onnx"), filepath.Join(dir, "vocab.txt")
	words, err := os.ReadFile(filepath.Join("..", "wordpiece", "testdata", "vocab.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{path: model, vocab: words} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path, vocab
}

// The real runtime, loaded by the real helper, on a model made here; the numbers
// are compared with a computation of the test's own.
func TestRuntime(t *testing.T) {
	helper, library := realHelper(t)
	const dim = 24
	f, err := os.Open(filepath.Join("..", "wordpiece", "testdata", "vocab.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tok, err := wordpiece.New(f)
	if err != nil {
		t.Fatal(err)
	}
	small := newSmallModel(200, dim)
	model, vocab := write(t, small.encode())
	start := func(t *testing.T, opt Options) *Embedder {
		t.Helper()
		opt.Helper, opt.Library, opt.Name = helper, library, "small"
		if opt.Vocab == "" {
			opt.Vocab = vocab
		}
		e := New(opt)
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		return e
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()

	t.Run("numbers", func(t *testing.T) {
		e := start(t, Options{Model: model, Dim: dim})
		// Texts of different lengths in one batch: the shorter ones are padded,
		// which must not show. More than one batch of the helper.
		texts := []string{
			"login broken", "authentication failure", "the config parser", "a", "", "日本語",
			"unknownwörd ☃", strings.Repeat("test the tideline ", 200),
		}
		texts = append(texts, slices.Repeat([]string{"strand"}, 20)...)
		vs, err := e.Embed(ctx, texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			want := small.vector(tok.Encode(text, 256))
			if len(vs[i]) != dim {
				t.Fatalf("%.20q has %d components", text, len(vs[i]))
			}
			for j, x := range want {
				if math.Abs(float64(vs[i][j])-x) > 1e-5 {
					t.Fatalf("%.20q, component %d: %v, want %v", text, j, vs[i][j], x)
				}
			}
		}
		one, err := e.Embed(ctx, texts[:1])
		if err != nil || math.Abs(embed.Cosine(one[0], vs[0])-1) > 1e-6 {
			t.Errorf("alone the text has another vector (%v)", err)
		}
	})

	strange := newSmallModel(200, dim)
	strange.strangeInput = true
	liar := newSmallModel(200, dim)
	liar.says = 99
	short := newSmallModel(20, dim) // fewer tokens than the vocabulary
	whole := small.encode()
	for name, test := range map[string]struct {
		model []byte
		opt   Options
		text  string
		want  string
	}{
		"truncated":           {whole[:len(whole)/2], Options{}, "a", "load the model"},
		"empty":               {[]byte{}, Options{}, "a", "load the model"},
		"no model":            {[]byte("<!DOCTYPE html><title>Not found</title>"), Options{}, "a", "load the model"},
		"wrong dimension":     {whole, Options{Dim: 384}, "a", "24 components, 384 are expected"},
		"unknown input":       {strange.encode(), Options{}, "a", "pixel_values"},
		"contradicts itself":  {liar.encode(), Options{}, "a", "how long its vectors are"},
		"another vocabulary":  {short.encode(), Options{}, "login broken", "refuses"},
		"no vocabulary there": {whole, Options{Vocab: "/no/such/vocab.txt"}, "a", "vocabulary"},
	} {
		t.Run(name, func(t *testing.T) {
			test.opt.Model, _ = write(t, test.model)
			e := start(t, test.opt)
			if _, err := e.Embed(ctx, []string{test.text}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}

	t.Run("no library", func(t *testing.T) {
		e := New(Options{Helper: helper, Library: "/no/such/lib.so", Model: model, Vocab: vocab, Name: "small"})
		if _, err := e.Embed(ctx, []string{"a"}); err == nil || !strings.Contains(err.Error(), "ONNX Runtime") {
			t.Errorf("%v", err)
		}
	})
}
