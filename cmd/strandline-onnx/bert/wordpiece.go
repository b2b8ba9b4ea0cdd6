// Package bert prepares texts for BERT models and makes vectors of their results. Only
// strandline-onnx imports it: it links tables of package unicode/norm.
package bert

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"strandline/internal/embed"
)

// maxWord is the length in characters above which a word is unknown.
const maxWord = 100

// continuation marks a piece that does not start a word.
const continuation = "##"

// Tokenizer splits text into the WordPiece tokens of uncased BERT models, such as
// all-MiniLM-L6-v2: it cleans the text, splits it at white space and punctuation, and
// splits words into the longest pieces of a vocabulary. It follows M. Schuster and
// K. Nakajima, "Japanese and Korean Voice Search" (2012), and the conventions of the
// published BERT vocabulary. It is safe for concurrent use.
type Tokenizer struct {
	ids               map[string]int64
	special           []string // taken literally in a text
	unknown, cls, sep int64
	longest           int // bytes of the longest piece
}

// NewTokenizer reads a vocab.txt: one token per line, whose ID is the line number
// from 0.
func NewTokenizer(r io.Reader) (*Tokenizer, error) {
	t := &Tokenizer{ids: map[string]int64{}}
	lines := bufio.NewScanner(r)
	for n := int64(0); lines.Scan(); n++ {
		token := strings.TrimRight(lines.Text(), "\r")
		if !utf8.ValidString(token) {
			return nil, fmt.Errorf("line %d of the vocabulary is not text", n+1)
		}
		t.ids[token] = n
		t.longest = max(t.longest, len(token))
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the vocabulary: %w", err)
	}
	t.special = []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
	for _, s := range t.special {
		if _, ok := t.ids[s]; !ok {
			return nil, fmt.Errorf("the vocabulary has no %s", s)
		}
	}
	t.unknown, t.cls, t.sep = t.ids["[UNK]"], t.ids["[CLS]"], t.ids["[SEP]"]
	return t, nil
}

// Encode returns the IDs of a text's tokens between [CLS] and [SEP], at most limit in
// total. Longer texts are truncated.
func (t *Tokenizer) Encode(text string, limit int) []int64 {
	limit = max(limit, 2)
	e := encoder{t: t, ids: []int64{t.cls}, limit: limit - 1}
	for text != "" && !e.full() {
		at, token := t.nextSpecial(text)
		e.addText(text[:at])
		if text = text[at:]; token != "" {
			e.add(t.ids[token])
			text = text[len(token):]
		}
	}
	return append(e.ids, t.sep)
}

// nextSpecial finds the first special token in text.
func (t *Tokenizer) nextSpecial(text string) (at int, token string) {
	at = len(text)
	for _, s := range t.special {
		if i := strings.Index(text[:min(len(text), at+len(s))], s); i >= 0 && i < at {
			at, token = i, s
		}
	}
	return at, token
}

// encoder collects the tokens of one text.
type encoder struct {
	t     *Tokenizer
	ids   []int64
	limit int
	word  []byte
	runes int
}

func (e *encoder) full() bool { return len(e.ids) >= e.limit }

func (e *encoder) add(id int64) {
	if !e.full() {
		e.ids = append(e.ids, id)
	}
}

// addText adds text without special tokens. It drops control characters and accents,
// and converts to lower case.
func (e *encoder) addText(text string) {
	var cleaned strings.Builder
	for _, r := range text {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			cleaned.WriteByte(' ')
		case r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
		case isIdeograph(r):
			cleaned.WriteString(" " + string(r) + " ")
		default:
			cleaned.WriteRune(r)
		}
	}
	for _, r := range norm.NFD.String(cleaned.String()) {
		if e.full() {
			return
		}
		if unicode.Is(unicode.Mn, r) {
			continue
		}
		switch r = unicode.ToLower(r); {
		case unicode.IsSpace(r):
			e.endWord()
		case isPunctuation(r):
			e.endWord()
			e.addRune(r)
			e.endWord()
		default:
			e.addRune(r)
		}
	}
	e.endWord()
}

func (e *encoder) addRune(r rune) {
	if e.runes++; e.runes <= maxWord {
		e.word = utf8.AppendRune(e.word, r)
	}
}

// endWord adds the tokens of the collected word.
func (e *encoder) endWord() {
	word, runes := e.word, e.runes
	e.word, e.runes = e.word[:0], 0
	switch {
	case runes == 0:
	case runes > maxWord:
		e.add(e.t.unknown)
	default:
		for _, id := range e.t.pieces(string(word)) {
			e.add(id)
		}
	}
}

// pieces splits a word into the longest pieces from its start. If a rest is left, the
// whole word is unknown.
func (t *Tokenizer) pieces(word string) (out []int64) {
	prefix := ""
	for word != "" {
		to := min(len(word), t.longest)
		for ; to > 0; to-- {
			if to < len(word) && !utf8.RuneStart(word[to]) {
				continue
			}
			if id, ok := t.ids[prefix+word[:to]]; ok {
				out = append(out, id)
				break
			}
		}
		if to == 0 {
			return []int64{t.unknown}
		}
		word, prefix = word[to:], continuation
	}
	return out
}

func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7F && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	return unicode.Is(unicode.P, r)
}

// isIdeograph reports whether r is in a block whose characters are words.
func isIdeograph(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}

// Pool returns the unit vector of a text: the mean of the states of the tokens whose
// mask is not 0, or nil if there are none.
func Pool(states []float32, mask []int64, dim int) []float32 {
	v := make([]float32, dim)
	n := 0
	for i, m := range mask {
		if m == 0 {
			continue
		}
		n++
		for j := range dim {
			v[j] += states[i*dim+j]
		}
	}
	for j := range v {
		v[j] /= float32(n)
	}
	if !embed.Normalise(v) { // also without any token: 0/0 is not a number
		return nil
	}
	return v
}
