package terms

import "bytes"

// singular folds the English plural of the word at dst[at:]. Other words stay as
// they are, and so do those that only look like one: "status", "class".
//
// The result is always a prefix of the word unless it ended in "ies", so a
// prefix query that is folded alike finds no less than before.
func singular(dst []byte, at int) []byte {
	w := dst[at:]
	n := len(w)
	if n < 4 || w[n-1] != 's' || w[n-2] == 's' || w[n-2] == 'u' {
		return dst
	}
	switch {
	case n > 4 && bytes.HasSuffix(w, []byte("ies")):
		dst[at+n-3] = 'y'
		return dst[:at+n-2]
	case hisses(w[:n-2]) && w[n-2] == 'e':
		return dst[:at+n-2]
	}
	return dst[:at+n-1]
}

// hisses reports whether a word takes "es" in the plural. "caches" belongs to
// "cache", which programs have more of than they have aches.
func hisses(w []byte) bool {
	n := len(w)
	switch w[n-1] {
	case 'x':
		return n > 2
	case 's':
		return w[n-2] == 's'
	case 'h':
		return (w[n-2] == 'c' || w[n-2] == 's') && !bytes.HasSuffix(w, []byte("ach"))
	}
	return false
}
