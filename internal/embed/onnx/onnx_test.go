package onnx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/embed"
)

// The test program acts as the helper.
func TestMain(m *testing.M) {
	if role := os.Getenv("STRANDLINE_TEST_HELPER"); role != "" {
		os.Exit(play(role, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func play(role string, in io.Reader, out, errOut io.Writer) int {
	switch role {
	case "dead":
		_, _ = fmt.Fprintln(errOut, "libonnxruntime.so.1: cannot open shared object file")
		return 1
	case "refuses":
		_ = SendFault(out, errors.New("load the model: it ends after 17 bytes"))
		return 1
	case "stranger":
		_, _ = fmt.Fprintln(out, "hello, what can I do for you?")
		_, _ = io.Copy(io.Discard, in)
		return 0
	case "silent":
		_, _ = io.Copy(io.Discard, in)
		return 0
	}
	err := Serve(in, out, "m", 3, func(texts []string) ([][]float32, error) {
		vs := make([][]float32, len(texts))
		for i, t := range texts {
			switch {
			case t == "die":
				os.Exit(3)
			case t == "fail":
				return nil, errors.New("out of memory")
			case t == "hang":
				_, _ = io.Copy(io.Discard, in)
			}
			vs[i] = []float32{float32(len(t)), 0, 0}
			if strings.HasPrefix(t, "b") {
				vs[i][1] = vs[i][0]
			}
		}
		if role == "short" {
			vs = vs[1:]
		}
		return vs, nil
	})
	if err != nil {
		return 1
	}
	return 0
}

func helper(t *testing.T, role string, dim int) *Embedder {
	t.Helper()
	t.Setenv("STRANDLINE_TEST_HELPER", role)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := New(Options{Helper: exe, Model: "m.onnx", Vocab: "vocab.txt", Library: "lib.so", Name: "m", Dim: dim})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func TestEmbed(t *testing.T) {
	e := helper(t, "good", 0)
	if e.Name() != "m" || e.Dim() != 0 {
		t.Errorf("%s with %d components before the first text", e.Name(), e.Dim())
	}
	for range 3 { // with one helper
		vs, err := e.Embed(t.Context(), []string{"a", "", "bb"})
		if err != nil {
			t.Fatal(err)
		}
		half := float32(math.Sqrt(.5))
		if !slices.Equal(vs[0], []float32{1, 0, 0}) || vs[1] != nil || math.Abs(float64(vs[2][1]-half)) > 1e-6 {
			t.Errorf("vectors %v", vs)
		}
	}
	if e.Dim() != 3 {
		t.Errorf("%d components", e.Dim())
	}
	if _, err := e.Embed(t.Context(), make([]string, embed.MaxBatch+1)); err == nil {
		t.Error("too many texts are taken")
	}
	full := slices.Repeat([]string{strings.Repeat("x", 2*maxText)}, embed.MaxBatch)
	if vs, err := e.Embed(t.Context(), full); err != nil || len(vs) != embed.MaxBatch {
		t.Errorf("the largest request: %d vectors (%v)", len(vs), err)
	}
}

func TestFailures(t *testing.T) {
	for _, test := range []struct {
		role, text string
		dim        int
		want       string
	}{
		{"dead", "a", 0, "cannot open shared object file"},
		{"refuses", "a", 0, "it ends after 17 bytes"},
		{"stranger", "a", 0, "failed"},
		{"short", "a", 0, "0 vectors for 1 texts"},
		{"good", "fail", 0, "out of memory"},
		{"good", "die", 0, "failed"},
		{"good", "a", 384, "3 components, 384 are expected"},
	} {
		t.Run(test.role+" "+test.text, func(t *testing.T) {
			e := helper(t, test.role, test.dim)
			if _, err := e.Embed(t.Context(), []string{test.text}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			_, err := e.Embed(t.Context(), []string{"again"})
			if works := test.role == "good" && test.dim == 0; (err == nil) != works {
				t.Errorf("the next text: %v", err)
			}
		})
	}
	missing := New(Options{Helper: "/no/such/helper", Name: "m"})
	if _, err := missing.Embed(t.Context(), []string{"a"}); err == nil {
		t.Error("a helper that is not there answers")
	}
}

func TestEndsWithContext(t *testing.T) {
	for role, text := range map[string]string{"silent": "a", "good": "hang"} {
		e := helper(t, role, 0)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := e.Embed(ctx, []string{text})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", role, err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		if _, err := e.Embed(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", role, err)
		}
	}
}

func TestClosed(t *testing.T) {
	e := helper(t, "good", 0)
	if _, err := e.Embed(t.Context(), []string{"a"}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Embed(t.Context(), []string{"a"}); err == nil {
		t.Error("a closed embedder answers")
	}
}

// For any input, Serve ends with an error or at the end of the input.
func FuzzServe(f *testing.F) {
	var good bytes.Buffer
	if err := writeFrame(&good, kindRequest, encodeTexts([]string{"a", "bb"})); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Add([]byte{1, 0, 0, 0, 'Q'})
	f.Add([]byte{255, 255, 255, 255, 'Q'})
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		_ = Serve(bytes.NewReader(in), &out, "m", 1, func(texts []string) ([][]float32, error) {
			vs := make([][]float32, len(texts))
			for i := range vs {
				vs[i] = []float32{1}
			}
			return vs, nil
		})
		if kind, _, err := readFrame(&out); err != nil || kind != kindHello {
			t.Errorf("no hello: %q, %v", kind, err)
		}
	})
}

// For any answer, the client returns an error or vectors of the declared length.
func FuzzAnswer(f *testing.F) {
	var hello, good bytes.Buffer
	if err := Serve(&good, &hello, "m", 2, nil); err != nil {
		f.Fatal(err)
	}
	answer := bytes.Clone(hello.Bytes())
	if err := writeFrame(&good, kindAnswer, encodeVectors([][]float32{{1, 2}}, 2)); err != nil {
		f.Fatal(err)
	}
	f.Add(append(answer, good.Bytes()...))
	f.Add([]byte{9, 0, 0, 0, 'F', 'b', 'r', 'o', 'k', 'e', 'n', '!', '\n'})
	f.Add([]byte{5, 0, 0, 0, 'H', 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, out []byte) {
		e := &Embedder{out: bytes.NewReader(out)}
		if e.readHello() != nil {
			return
		}
		if vs, err := e.readAnswer(1); err == nil && (len(vs) != 1 || len(vs[0]) != e.dim) {
			t.Errorf("%v of %d components", vs, e.dim)
		}
	})
}
