package terms

import (
	"slices"
	"strings"

	"strandline/internal/archive"
)

// maxWidened is how many words of a query are looked for in other forms; a
// longer query says enough as it stands.
const maxWidened = 16

// Widen adds other forms of the words to the terms of a query, but not to those
// in quotes or with an asterisk.
func Widen(ts []archive.Term) {
	for i := range ts[:min(len(ts), maxWidened)] {
		if t := &ts[i]; !t.Must && !t.Prefix {
			t.Forms = strings.Join(Forms(t.Text), " ")
		}
	}
}

// Limits of Forms.
const (
	minForm  = 4  // shorter words are names as often as words
	minBase  = 3  // what is left of a word when its ending is taken off
	maxForms = 12 // each form costs a search a look into the index
)

// Forms returns other forms of an English word as Index gives them: the endings
// of verbs and the nouns made of them. "initialize" gives "initialized",
// "initializing" and "initialization", and each of them gives the others.
// Irregular verbs are in a table. A word that is none, such as an identifier
// with digits in it, has no forms.
//
// Some forms are no words; nobody wrote them, so they find nothing. Index leaves
// endings alone, which keeps identifiers apart: it is a query that widens.
func Forms(word string) []string {
	if others := irregular(word); others != nil {
		return others
	}
	if len(word) < minForm || len(word) > 24 || !isWord(word) {
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

func isWord(s string) bool {
	for i := range len(s) {
		if class(s[i]) != classLower {
			return false
		}
	}
	return true
}

// bases returns what a word may be a form of, itself first if it carries none of
// the endings.
func bases(w string) []string {
	var out []string
	add := func(base string) {
		if len(base) >= minBase && hasVowel(base) && !slices.Contains(out, base) {
			out = append(out, base)
		}
	}
	off := func(ending string) (string, bool) {
		rest, ok := strings.CutSuffix(w, ending)
		return rest, ok && len(rest) >= minBase && hasVowel(rest)
	}
	if b, ok := off("ization"); ok {
		add(b + "ize")
		return out
	}
	if b, ok := off("ation"); ok {
		add(b + "ate")
		add(b)
		add(b + "e")
		return out
	}
	if b, ok := off("ion"); ok && (strings.HasSuffix(b, "t") || strings.HasSuffix(b, "s")) {
		add(b)
		add(b + "e")
		return out
	}
	for _, ending := range []string{"ing", "ed"} {
		b, ok := off(ending)
		if !ok {
			continue
		}
		switch n := len(b); {
		case ending == "ed" && strings.HasSuffix(b, "i"):
			add(b[:n-1] + "y")
		case b[n-1] == b[n-2] && !strings.ContainsRune("lsz", rune(b[n-1])):
			add(b[:n-1]) // stopped
		default:
			add(b)
			add(b + "e")
			if b[n-1] == b[n-2] {
				add(b[:n-1]) // cancelled
			}
		}
		return out
	}
	add(w)
	return out
}

// inflected returns the forms of a base, itself first.
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
	if n < 3 || isVowel(b[n-1]) || strings.ContainsRune("wxy", rune(b[n-1])) {
		return false
	}
	return isVowel(b[n-2]) && !isVowel(b[n-3])
}

func hasVowel(s string) bool {
	for i := range len(s) {
		if isVowel(s[i]) || s[i] == 'y' {
			return true
		}
	}
	return false
}

func isVowel(c byte) bool { return strings.IndexByte("aeiou", c) >= 0 }

// irregular returns the other forms of an irregular word, nil for a regular one.
func irregular(word string) []string {
	return companions(irregularWords, word)
}

// companions returns the other words of the line that holds word, nil if none
// does. No word stands in two lines.
func companions(lines, word string) []string {
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

// irregularWords holds a word's forms on one line.
const irregularWords = `go went gone going
buy bought buying
see saw seen seeing
find found finding
make made making
take took taken taking
give gave given giving
get got gotten getting
write wrote written writing rewrite rewrote rewritten
read reading
run ran running
begin began begun beginning
break broke broken breaking
build built building rebuild rebuilt rebuilding
send sent sending
think thought thinking
know knew known knowing
feel felt feeling
tell told telling
say said saying
leave left leaving
lose lost losing
meet met meeting
teach taught teaching
catch caught catching
bring brought bringing
choose chose chosen choosing
speak spoke spoken speaking
drive drove driven driving
ride rode ridden riding
win won winning
eat ate eaten eating
fall fell fallen falling
fly flew flown flying
grow grew grown growing
draw drew drawn drawing
throw threw thrown throwing
wear wore worn wearing
hold held holding
keep kept keeping
sell sold selling
spend spent spending
sleep slept sleeping
stand stood standing
understand understood understanding
hear heard hearing
pay paid paying
become became becoming
come came coming
forget forgot forgotten forgetting
hide hid hidden hiding
show showed shown showing
swim swam swum swimming
sing sang sung singing
hang hung hanged hanging
bind bound binding
freeze froze frozen freezing
split splitting
shut shutting
set setting
put putting
cut cutting
child children
person people
woman women
man men
life live lived living
wife wive
index indexes indices indexed indexing
`
