package main

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

	"strandline/cmd/strandline-onnx/bert"
	"strandline/internal/embed"
	"strandline/internal/embed/onnx"
)

// testVocab returns the path of the tokenizer tests' vocabulary.
func testVocab() string {
	return filepath.Join("..", "strandline-onnx", "bert", "testdata", "vocab.txt")
}

// writeModel writes a model and the tokenizer tests' vocabulary to a folder.
func writeModel(t *testing.T, model []byte) (path, vocab string) {
	t.Helper()
	dir := t.TempDir()
	path, vocab = filepath.Join(dir, "small.onnx"), filepath.Join(dir, "vocab.txt")
	words, err := os.ReadFile(testVocab())
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

// TestONNXRuntime runs the helper with the ONNX Runtime on a small model and compares the
// vectors with computed ones.
func TestONNXRuntime(t *testing.T) {
	helper, library, err := buildHelper(t.Context(), t.TempDir())
	if errors.Is(err, errNoRuntime) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	const dim = 24
	f, err := os.Open(testVocab())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tok, err := bert.NewTokenizer(f)
	if err != nil {
		t.Fatal(err)
	}
	small := newTestModel(200, dim)
	model, vocab := writeModel(t, small.encode())
	start := func(t *testing.T, opt onnx.Options) *onnx.Embedder {
		t.Helper()
		opt.Helper, opt.Library, opt.Name = helper, library, "small"
		if opt.Vocab == "" {
			opt.Vocab = vocab
		}
		e := onnx.New(opt)
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
		e := start(t, onnx.Options{Model: model, Dim: dim})
		// Several batches of texts of different lengths: the padding must not change the
		// vectors.
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

	strange := newTestModel(200, dim)
	strange.unknownInput = true
	liar := newTestModel(200, dim)
	liar.declaredDim = 99
	short := newTestModel(20, dim) // fewer tokens than the vocabulary
	whole := small.encode()
	for name, test := range map[string]struct {
		model []byte
		opt   onnx.Options
		text  string
		want  string
	}{
		"truncated":           {whole[:len(whole)/2], onnx.Options{}, "a", "load the model"},
		"empty":               {[]byte{}, onnx.Options{}, "a", "load the model"},
		"no model":            {[]byte("<!DOCTYPE html><title>Not found</title>"), onnx.Options{}, "a", "load the model"},
		"wrong dimension":     {whole, onnx.Options{Dim: 384}, "a", "24 components, 384 are expected"},
		"unknown input":       {strange.encode(), onnx.Options{}, "a", "pixel_values"},
		"contradicts itself":  {liar.encode(), onnx.Options{}, "a", "declare the number of components"},
		"another vocabulary":  {short.encode(), onnx.Options{}, "login broken", "refuses"},
		"no vocabulary there": {whole, onnx.Options{Vocab: "/no/such/vocab.txt"}, "a", "vocabulary"},
	} {
		t.Run(name, func(t *testing.T) {
			test.opt.Model, _ = writeModel(t, test.model)
			e := start(t, test.opt)
			if _, err := e.Embed(ctx, []string{test.text}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}

	t.Run("no library", func(t *testing.T) {
		e := onnx.New(onnx.Options{Helper: helper, Library: "/no/such/lib.so", Model: model, Vocab: vocab, Name: "small"})
		if _, err := e.Embed(ctx, []string{"a"}); err == nil || !strings.Contains(err.Error(), "ONNX Runtime") {
			t.Errorf("%v", err)
		}
	})
}
