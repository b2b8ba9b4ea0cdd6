package embed

import "bytes"

// porter returns the stem of an English word of small letters, by the algorithm
// of M. F. Porter, "An algorithm for suffix stripping", Program 14 (1980) 130-137,
// with the two changes of the author's own later implementation: "bli" becomes
// "ble" and "logi" becomes "log". It works in place; the stem may use one byte
// behind the word where that took one away before.
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
		w.doubleSuffixes()
		w.fullSuffixes()
	}
	w.drop()
	w.tidy()
	return w.b
}

type stemmer struct{ b []byte }

// consonant reports whether letter i is one; y is one at the beginning and behind
// a vowel.
func (w *stemmer) consonant(i int) bool {
	switch w.b[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !w.consonant(i-1)
	}
	return true
}

// measure counts the sequences of vowels and then consonants in the first n
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
func (w *stemmer) double(n int) bool {
	return n >= 2 && w.b[n-1] == w.b[n-2] && w.consonant(n-1)
}

// short reports whether the first n letters end in consonant, vowel, consonant,
// the last not w, x or y: where an e was dropped, as in hop(e).
func (w *stemmer) short(n int) bool {
	if n < 3 || !w.consonant(n-1) || w.consonant(n-2) || !w.consonant(n-3) {
		return false
	}
	return w.b[n-1] != 'w' && w.b[n-1] != 'x' && w.b[n-1] != 'y'
}

func (w *stemmer) ends(suffix string) bool { return bytes.HasSuffix(w.b, []byte(suffix)) }

// set puts another ending in the place of the last n letters.
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

// swap puts another ending in the place of one that is there, if what stands
// before it has a measure above 0. It reports whether the ending was there: no
// other is tried then.
func (w *stemmer) swap(from, to string) bool {
	if !w.ends(from) {
		return false
	}
	if w.measure(len(w.b)-len(from)) > 0 {
		w.set(len(from), to)
	}
	return true
}

// doubleSuffixes is step 2. The last letter but one tells which endings may fit.
func (w *stemmer) doubleSuffixes() {
	switch w.b[len(w.b)-2] {
	case 'a':
		_ = w.swap("ational", "ate") || w.swap("tional", "tion")
	case 'c':
		_ = w.swap("enci", "ence") || w.swap("anci", "ance")
	case 'e':
		w.swap("izer", "ize")
	case 'l':
		_ = w.swap("bli", "ble") || w.swap("alli", "al") || w.swap("entli", "ent") || w.swap("eli", "e") || w.swap("ousli", "ous")
	case 'o':
		_ = w.swap("ization", "ize") || w.swap("ation", "ate") || w.swap("ator", "ate")
	case 's':
		_ = w.swap("alism", "al") || w.swap("iveness", "ive") || w.swap("fulness", "ful") || w.swap("ousness", "ous")
	case 't':
		_ = w.swap("aliti", "al") || w.swap("iviti", "ive") || w.swap("biliti", "ble")
	case 'g':
		w.swap("logi", "log")
	}
}

// fullSuffixes is step 3. The last letter tells which endings may fit.
func (w *stemmer) fullSuffixes() {
	switch w.b[len(w.b)-1] {
	case 'e':
		_ = w.swap("icate", "ic") || w.swap("ative", "") || w.swap("alize", "al")
	case 'i':
		w.swap("iciti", "ic")
	case 'l':
		_ = w.swap("ical", "ic") || w.swap("ful", "")
	case 's':
		w.swap("ness", "")
	}
}

// drop is step 4: endings that go where what stands before them has a measure
// above 1.
func (w *stemmer) drop() {
	if len(w.b) < 2 {
		return
	}
	if n := w.droppable(); n > 0 && w.measure(len(w.b)-n) > 1 {
		w.set(n, "")
	}
}

// droppable returns the length of step 4's ending, 0 for none.
func (w *stemmer) droppable() int {
	var endings [4]string
	switch w.b[len(w.b)-2] {
	case 'a':
		endings[0] = "al"
	case 'c':
		endings = [4]string{"ance", "ence"}
	case 'e':
		endings[0] = "er"
	case 'i':
		endings[0] = "ic"
	case 'l':
		endings = [4]string{"able", "ible"}
	case 'n':
		endings = [4]string{"ant", "ement", "ment", "ent"}
	case 'o':
		if w.ends("sion") || w.ends("tion") {
			return len("ion")
		}
		endings[0] = "ou"
	case 's':
		endings[0] = "ism"
	case 't':
		endings = [4]string{"ate", "iti"}
	case 'u':
		endings[0] = "ous"
	case 'v':
		endings[0] = "ive"
	case 'z':
		endings[0] = "ize"
	}
	for _, e := range endings {
		if e == "" {
			break
		}
		if w.ends(e) {
			return len(e)
		}
	}
	return 0
}

// tidy is step 5: a last e, and the second of two l.
func (w *stemmer) tidy() {
	if n := len(w.b) - 1; w.b[n] == 'e' {
		if m := w.measure(n); m > 1 || m == 1 && !w.short(n) {
			w.set(1, "")
		}
	}
	if n := len(w.b); w.b[n-1] == 'l' && w.double(n) && w.measure(n-1) > 1 {
		w.set(1, "")
	}
}
