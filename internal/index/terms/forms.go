package terms

import (
	_ "embed" // word lists
	"slices"
	"strings"

	"strandline/internal/archive"
)

// maxWidened is the number of terms of a query that Widen adds forms to. A longer
// query is specific enough.
const maxWidened = 16

// Widen adds other forms of the words to the terms of a query, except to quoted terms
// and prefixes.
func Widen(ts []archive.Term) {
	for i := range ts[:min(len(ts), maxWidened)] {
		if t := &ts[i]; !t.Must && !t.Prefix {
			t.Forms = strings.Join(Forms(t.Text), " ")
		}
	}
}

// Limits of Forms.
const (
	minForm  = 4  // bytes; shorter words are often names
	minBase  = 3  // bytes of a word without its ending
	maxForms = 12 // each form costs a search one lookup
)

// Forms returns other forms of an English word, as Index returns them: verb forms and
// nouns derived from them. "initialize" gives "initialized", "initializing" and
// "initialization", and each of them gives the others. Irregular words are in a list.
// Names, such as an identifier with digits, have no forms.
//
// Some results are not words. They match no text. Index does not remove verb endings,
// because that would merge different identifiers.
func Forms(word string) []string {
	if others := othersInLine(irregularWords, word); others != nil {
		return others
	}
	if len(word) < minForm || len(word) > 24 || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
		return nil
	}
	var out []string
	for _, base := range bases(word) {
		for _, f := range inflected(base) {
			if f != word && !slices.Contains(out, f) && len(out) < maxForms {
				out = append(out, f)
			}
		}
	}
	return out
}

// bases returns the base forms that a word may derive from. A word without a known
// ending is its own base.
func bases(w string) (out []string) {
	add := func(bases ...string) {
		for _, base := range bases {
			if len(base) >= minBase && hasVowel(base) && !slices.Contains(out, base) {
				out = append(out, base)
			}
		}
	}
	b := "" // the word without its ending
	endsIn := func(ending string) (ok bool) {
		b, ok = strings.CutSuffix(w, ending)
		return ok && len(b) >= minBase && hasVowel(b)
	}
	switch {
	case endsIn("ization"):
		add(b + "ize")
	case endsIn("ation"):
		add(b+"ate", b, b+"e")
	case endsIn("ion") && (strings.HasSuffix(b, "t") || strings.HasSuffix(b, "s")):
		add(b, b+"e")
	case endsIn("ed") && strings.HasSuffix(b, "i"):
		add(b[:len(b)-1] + "y")
	case endsIn("ing"), endsIn("ed"):
		once, last := b[:len(b)-1], b[len(b)-1:]
		doubled := strings.HasSuffix(once, last)
		if !doubled || strings.Contains("lsz", last) {
			add(b, b+"e")
		}
		if doubled {
			add(once) // stopped, cancelled
		}
	default:
		add(w)
	}
	return out
}

// inflected returns the forms of a base, starting with the base.
func inflected(b string) []string {
	n := len(b)
	out := []string{b}
	switch {
	case strings.HasSuffix(b, "e"):
		out = append(out, b+"d", b[:n-1]+"ing")
	case strings.HasSuffix(b, "y") && !isVowel(b[n-2]):
		out = append(out, b[:n-1]+"ied", b+"ing")
	default:
		out = append(out, b+"ed", b+"ing")
		if doubles(b) {
			out = append(out, b+b[n-1:]+"ed", b+b[n-1:]+"ing")
		}
	}
	switch {
	case strings.HasSuffix(b, "ize"), strings.HasSuffix(b, "ise"):
		out = append(out, b[:n-1]+"ation")
	case strings.HasSuffix(b, "te"), strings.HasSuffix(b, "se"):
		out = append(out, b[:n-1]+"ion")
	case strings.HasSuffix(b, "ct"), strings.HasSuffix(b, "pt"), strings.HasSuffix(b, "ss"):
		out = append(out, b+"ion")
	}
	return out
}

// doubles reports whether a base doubles its last letter before an ending.
func doubles(b string) bool {
	n := len(b)
	return n >= 3 && strings.IndexByte("aeiouwxy", b[n-1]) < 0 && isVowel(b[n-2]) && !isVowel(b[n-3])
}

func hasVowel(s string) bool { return strings.ContainsAny(s, "aeiouy") }

func isVowel(c byte) bool { return strings.IndexByte("aeiou", c) >= 0 }

// irregularWords holds the forms of an irregular word on each line.
//
//go:embed irregular.txt
var irregularWords string

// othersInLine returns the other words of the line that contains word, nil if there is
// none. No word is in two lines.
func othersInLine(lines, word string) []string {
	for at := 0; word != ""; {
		i := strings.Index(lines[at:], word)
		if i < 0 {
			break
		}
		at += i + len(word)
		from := strings.LastIndexByte(lines[:at], '\n') + 1
		line, _, _ := strings.Cut(lines[from:], "\n")
		group := strings.Fields(line)
		if i := slices.Index(group, word); i >= 0 {
			return slices.Delete(group, i, i+1)
		}
	}
	return nil
}

// synonymGroups holds, one group per line, words that developers use for the same
// thing. A word is in one group only. Words that often mean something else ("close",
// "run") are in none. All are as Index returns them; for their other forms see Forms.
//
//go:embed synonyms.txt
var synonymGroups string

// maxSynonyms is the number of synonyms of a word. Each costs a search two lookups.
const maxSynonyms = 4

// Synonyms returns other words that developers use for the meaning of a word, which is
// as Index returns it: "login" gives "signin". Most words have none.
func Synonyms(word string) []string {
	words := othersInLine(synonymGroups, word)
	return words[:min(len(words), maxSynonyms)]
}
