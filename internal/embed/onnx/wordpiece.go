// Package wordpiece cuts text into the tokens of BERT models whose words are in
// small letters, such as all-MiniLM-L6-v2: clean, split at white space and
// punctuation, then the longest pieces of a vocabulary. It follows M. Schuster
// and K. Nakajima, "Japanese and Korean Voice Search" (2012), and the published
// BERT vocabulary's conventions.
package onnx

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWord is the length in characters above which a word is unknown.
const maxWord = 100

// prefix marks a piece that goes on a word.
const prefix = "##"

// Tokenizer holds a vocabulary. It may be used by several goroutines.
type Tokenizer struct {
	ids               map[string]int64
	special           []string // as they stand in a text
	unknown, cls, sep int64
	longest           int // bytes of the longest piece
}

// NewTokenizer reads a vocab.txt: one token a line, its number is the line's, from 0.
func NewTokenizer(r io.Reader) (*Tokenizer, error) {
	t := &Tokenizer{ids: map[string]int64{}}
	lines := bufio.NewScanner(r)
	for n := int64(0); lines.Scan(); n++ {
		token := strings.TrimRight(lines.Text(), "\r")
		if !utf8.ValidString(token) {
			return nil, fmt.Errorf("line %d of the vocabulary is no text", n+1)
		}
		t.ids[token] = n
		t.longest = max(t.longest, len(token))
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the vocabulary: %w", err)
	}
	for _, s := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"} {
		if _, ok := t.ids[s]; !ok {
			return nil, fmt.Errorf("the vocabulary has no %s", s)
		}
		t.special = append(t.special, s)
	}
	t.unknown, t.cls, t.sep = t.ids["[UNK]"], t.ids["[CLS]"], t.ids["[SEP]"]
	return t, nil
}

// Encode returns the numbers of a text's tokens between [CLS] and [SEP], at most
// limit of them all together; what is longer is cut at its end.
func (t *Tokenizer) Encode(text string, limit int) []int64 {
	limit = max(limit, 2)
	e := encoder{t: t, ids: []int64{t.cls}, limit: limit - 1}
	for text != "" && !e.full() {
		at, token := t.nextSpecial(text)
		e.plain(text[:at])
		if text = text[at:]; token != "" {
			e.add(t.ids[token])
			text = text[len(token):]
		}
	}
	return append(e.ids, t.sep)
}

// nextSpecial finds the first special token that stands in text, which is taken
// as it is.
func (t *Tokenizer) nextSpecial(text string) (at int, token string) {
	at = len(text)
	for _, s := range t.special {
		if i := strings.Index(text[:min(len(text), at+len(s))], s); i >= 0 && i < at {
			at, token = i, s
		}
	}
	return at, token
}

// encoder gathers the tokens of one text.
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

// plain takes text without special tokens: characters are cleaned, cut into their
// parts, freed of accents and made small, and gathered into words.
func (e *encoder) plain(text string) {
	var cleaned strings.Builder
	for _, r := range text {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			cleaned.WriteByte(' ')
		case r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
		case unicode.IsSpace(r):
			cleaned.WriteByte(' ')
		case isIdeograph(r):
			cleaned.WriteByte(' ')
			cleaned.WriteRune(r)
			cleaned.WriteByte(' ')
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
			e.end()
		case isPunctuation(r):
			e.end()
			e.put(r)
			e.end()
		default:
			e.put(r)
		}
	}
	e.end()
}

func (e *encoder) put(r rune) {
	if e.runes++; e.runes <= maxWord {
		e.word = utf8.AppendRune(e.word, r)
	}
}

// end takes the word that has been gathered.
func (e *encoder) end() {
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

// pieces cuts a word into the longest pieces from its beginning on; a word of
// which that leaves a rest is unknown as a whole.
func (t *Tokenizer) pieces(word string) []int64 {
	var out []int64
	mark := ""
	for from := 0; from < len(word); {
		to := min(len(word), from+t.longest)
		found := false
		for ; to > from; to-- {
			if to < len(word) && !utf8.RuneStart(word[to]) {
				continue
			}
			if id, ok := t.ids[mark+word[from:to]]; ok {
				out, found = append(out, id), true
				break
			}
		}
		if !found {
			return []int64{t.unknown}
		}
		from, mark = to, prefix
	}
	return out
}

func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7F && !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}
	return unicode.Is(unicode.P, r)
}

// isIdeograph reports whether r stands in one of the blocks whose characters are
// words of their own.
func isIdeograph(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}
