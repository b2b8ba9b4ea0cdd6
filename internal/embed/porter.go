package embed

import "bytes"

// porter returns the stem of an English word in lower case, by the algorithm of
// M. F. Porter, "An algorithm for suffix stripping", Program 14 (1980) 130-137, with
// the two changes of the author's later implementation: "bli" becomes "ble" and
// "logi" becomes "log". It overwrites word.
func porter(word []byte) []byte {
	if len(word) <= 2 {
		return word
	}
	w := stemmer{b: word}
	w.plurals()
	w.pastTense()
	if w.ends("y") && w.vowel(len(w.b)-1) {
		w.b[len(w.b)-1] = 'i'
	}
	if len(w.b) > 1 {
		w.replace(doubleSuffixes[w.b[len(w.b)-2]])
		w.replace(fullSuffixes[w.b[len(w.b)-1]])
	}
	w.residual()
	w.lastLetter()
	return w.b
}

type stemmer struct{ b []byte }

// consonant reports whether letter i is a consonant. A y is one at the start of a
// word and after a vowel.
func (w *stemmer) consonant(i int) bool {
	switch w.b[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !w.consonant(i-1)
	}
	return true
}

// measure counts the sequences of vowels followed by consonants in the first n
// letters.
func (w *stemmer) measure(n int) (m int) {
	i := 0
	for i < n && w.consonant(i) {
		i++
	}
	for i < n {
		for i < n && !w.consonant(i) {
			i++
		}
		if i == n {
			return m
		}
		m++
		for i < n && w.consonant(i) {
			i++
		}
	}
	return m
}

// vowel reports whether one of the first n letters is a vowel.
func (w *stemmer) vowel(n int) bool {
	for i := range n {
		if !w.consonant(i) {
			return true
		}
	}
	return false
}

// double reports whether the first n letters end in the same consonant twice.
func (w *stemmer) double(n int) bool { return n >= 2 && w.b[n-1] == w.b[n-2] && w.consonant(n-1) }

// short reports whether the first n letters end in consonant, vowel, consonant, with
// the last not w, x or y: a word that lost its e, as in hop(e).
func (w *stemmer) short(n int) bool {
	return n >= 3 && w.consonant(n-1) && !w.consonant(n-2) && w.consonant(n-3) && bytes.IndexByte([]byte("wxy"), w.b[n-1]) < 0
}

func (w *stemmer) ends(suffix string) bool { return bytes.HasSuffix(w.b, []byte(suffix)) }

// set replaces the last n letters.
func (w *stemmer) set(n int, ending string) { w.b = append(w.b[:len(w.b)-n], ending...) }

// plurals is step 1a.
func (w *stemmer) plurals() {
	switch {
	case !w.ends("s"):
	case w.ends("sses"), w.ends("ies"):
		w.set(2, "")
	case !w.ends("ss"):
		w.set(1, "")
	}
}

// pastTense is step 1b: -eed, -ed and -ing.
func (w *stemmer) pastTense() {
	n := 0
	switch {
	case w.ends("eed"):
		if w.measure(len(w.b)-3) > 0 {
			w.set(1, "")
		}
		return
	case w.ends("ed"):
		n = 2
	case w.ends("ing"):
		n = 3
	}
	if n == 0 || !w.vowel(len(w.b)-n) {
		return
	}
	w.set(n, "")
	switch {
	case w.ends("at"), w.ends("bl"), w.ends("iz"):
		w.set(0, "e")
	case w.double(len(w.b)):
		if last := w.b[len(w.b)-1]; last != 'l' && last != 's' && last != 'z' {
			w.set(1, "")
		}
	case w.measure(len(w.b)) == 1 && w.short(len(w.b)):
		w.set(0, "e")
	}
}

// The suffixes of steps 2 and 3, each followed by its replacement, and those of step 4.
// The second to last letter of the word selects them, in step 3 the last one.
var (
	doubleSuffixes = ['z' + 1][]string{
		'a': {"ational", "ate", "tional", "tion"},
		'c': {"enci", "ence", "anci", "ance"},
		'e': {"izer", "ize"},
		'l': {"bli", "ble", "alli", "al", "entli", "ent", "eli", "e", "ousli", "ous"},
		'o': {"ization", "ize", "ation", "ate", "ator", "ate"},
		's': {"alism", "al", "iveness", "ive", "fulness", "ful", "ousness", "ous"},
		't': {"aliti", "al", "iviti", "ive", "biliti", "ble"},
		'g': {"logi", "log"},
	}
	fullSuffixes = ['z' + 1][]string{
		'e': {"icate", "ic", "ative", "", "alize", "al"}, 'i': {"iciti", "ic"}, 'l': {"ical", "ic", "ful", ""}, 's': {"ness", ""},
	}
	residualSuffixes = ['z' + 1][]string{
		'a': {"al"}, 'c': {"ance", "ence"}, 'e': {"er"}, 'i': {"ic"}, 'l': {"able", "ible"}, 'n': {"ant", "ement", "ment", "ent"},
		'o': {"sion", "tion", "ou"}, 's': {"ism"}, 't': {"ate", "iti"}, 'u': {"ous"}, 'v': {"ive"}, 'z': {"ize"},
	}
)

// replace applies the first of the pairs (suffix, replacement) whose suffix the word
// has, if the measure of the rest is above 0.
func (w *stemmer) replace(pairs []string) {
	for i := 0; i < len(pairs); i += 2 {
		if from := pairs[i]; w.ends(from) {
			if w.measure(len(w.b)-len(from)) > 0 {
				w.set(len(from), pairs[i+1])
			}
			return
		}
	}
}

// residual is step 4: it removes the first suffix that the word has if the measure of
// the rest is above 1.
func (w *stemmer) residual() {
	if len(w.b) < 2 {
		return
	}
	for _, suffix := range residualSuffixes[w.b[len(w.b)-2]] {
		if w.ends(suffix) {
			n := len(suffix)
			if suffix == "sion" || suffix == "tion" {
				n = len("ion")
			}
			if w.measure(len(w.b)-n) > 1 {
				w.set(n, "")
			}
			return
		}
	}
}

// lastLetter is step 5: it removes a final e, and the second of two l.
func (w *stemmer) lastLetter() {
	if n := len(w.b) - 1; w.b[n] == 'e' {
		if m := w.measure(n); m > 1 || m == 1 && !w.short(n) {
			w.set(1, "")
		}
	}
	if n := len(w.b); w.b[n-1] == 'l' && w.double(n) && w.measure(n-1) > 1 {
		w.set(1, "")
	}
}
