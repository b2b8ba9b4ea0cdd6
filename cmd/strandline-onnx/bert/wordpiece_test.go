package bert

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// expected is a text with the token IDs of a reference implementation.
type expected struct {
	Text string  `json:"text"`
	IDs  []int64 `json:"ids"`
}

func load(t testing.TB, vocab, name string) (*Tokenizer, []expected) {
	t.Helper()
	f, err := os.Open(vocab)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tok, err := NewTokenizer(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var want []expected
	if err := json.Unmarshal(data, &want); err != nil || len(want) < 40 {
		t.Fatalf("%d texts (%v)", len(want), err)
	}
	return tok, want
}

func compare(t *testing.T, tok *Tokenizer, want []expected) {
	t.Helper()
	for _, w := range want {
		if got := tok.Encode(w.Text, 1000); !slices.Equal(got, w.IDs) {
			t.Errorf("%q:\nhave %v\nwant %v", w.Text, got, w.IDs)
		}
	}
}

// A small vocabulary, with the IDs of a reference implementation.
func TestSmallVocabulary(t *testing.T) {
	tok, want := load(t, filepath.Join("testdata", "vocab.txt"), "small.json")
	compare(t, tok, want)
}

// The model's vocabulary, which is not bundled.
func TestFullVocabulary(t *testing.T) {
	vocab := os.Getenv("STRANDLINE_MINILM_VOCAB")
	if vocab == "" {
		t.Skip("set STRANDLINE_MINILM_VOCAB to the vocab.txt of all-MiniLM-L6-v2")
	}
	tok, want := load(t, vocab, "full.json")
	compare(t, tok, want)
}

func TestLimit(t *testing.T) {
	tok, _ := load(t, filepath.Join("testdata", "vocab.txt"), "small.json")
	text := strings.Repeat("login broken ", 50)
	whole := tok.Encode(text, 1000)
	if len(whole) != 2+2*50 {
		t.Fatalf("%d tokens, want two for each of 50 times and two around them", len(whole))
	}
	for _, limit := range []int{-1, 0, 2, 3, 10, len(whole) - 1} {
		got := tok.Encode(text, limit)
		n := max(limit, 2)
		if len(got) != n || got[0] != tok.cls || got[n-1] != tok.sep || !slices.Equal(got[:n-1], whole[:n-1]) {
			t.Errorf("at most %d: %v", limit, got)
		}
	}
	if got := tok.Encode(text, 10_000); !slices.Equal(got, whole) {
		t.Errorf("a limit that is not reached changes the tokens")
	}
}

func TestBadVocabulary(t *testing.T) {
	good := "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n"
	if _, err := NewTokenizer(strings.NewReader(good)); err != nil {
		t.Error(err)
	}
	for name, vocab := range map[string]string{
		"empty":     "",
		"truncated": good[:12],
		"binary":    good + "\xff\xfe\n",
		"one line":  good + strings.Repeat("x", 1<<20),
	} {
		if _, err := NewTokenizer(strings.NewReader(vocab)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	crlf, err := NewTokenizer(strings.NewReader(strings.ReplaceAll(good, "\n", "\r\n")))
	if err != nil || !slices.Equal(crlf.Encode("a", 9), []int64{2, 5, 3}) {
		t.Errorf("with lines of another system: %v", err)
	}
}

func FuzzEncode(f *testing.F) {
	tok, want := load(f, filepath.Join("testdata", "vocab.txt"), "small.json")
	for _, w := range want {
		f.Add(w.Text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ids := tok.Encode(text, 64)
		if len(ids) < 2 || len(ids) > 64 || ids[0] != tok.cls || ids[len(ids)-1] != tok.sep {
			t.Errorf("%q: %v", text, ids)
		}
	})
}

// Any vocabulary is rejected, or gives IDs of its lines only.
func FuzzVocabulary(f *testing.F) {
	f.Add("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nab\n##c", "abc [MASK] d")
	f.Add("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n##\n\n", "## x")
	f.Fuzz(func(t *testing.T, vocabulary, text string) {
		tok, err := NewTokenizer(strings.NewReader(vocabulary))
		if err != nil {
			return
		}
		lines := int64(strings.Count(vocabulary, "\n") + 1)
		for _, id := range tok.Encode(text, 32) {
			if id < 0 || id >= lines {
				t.Errorf("token %d of %d lines", id, lines)
			}
		}
	})
}

func TestPool(t *testing.T) {
	states := []float32{1, 0, 3, 0, 9, 9}
	if v := Pool(states, []int64{1, 1, 0}, 2); !slices.Equal(v, []float32{1, 0}) {
		t.Errorf("%v", v)
	}
	if v := Pool(states, []int64{0, 0, 0}, 2); v != nil {
		t.Errorf("of nothing %v", v)
	}
}
