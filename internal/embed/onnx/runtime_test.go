package onnx

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/embed"
	"strandline/internal/embed/onnx/onnxtest"
	"strandline/internal/embed/wordpiece"
)

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
	helper, library, err := onnxtest.Helper(t.Context(), t.TempDir())
	if errors.Is(err, onnxtest.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
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
	small := onnxtest.New(200, dim)
	model, vocab := write(t, small.Encode())
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
			want := small.Vector(tok.Encode(text, 256))
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

	strange := onnxtest.New(200, dim)
	strange.StrangeInput = true
	liar := onnxtest.New(200, dim)
	liar.Says = 99
	short := onnxtest.New(20, dim) // fewer tokens than the vocabulary
	whole := small.Encode()
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
		"unknown input":       {strange.Encode(), Options{}, "a", "pixel_values"},
		"contradicts itself":  {liar.Encode(), Options{}, "a", "how long its vectors are"},
		"another vocabulary":  {short.Encode(), Options{}, "login broken", "refuses"},
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
