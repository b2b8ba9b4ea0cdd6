package embed

// Limits of the tokenizer, in bytes. The table was trained with them.
const (
	maxRun    = 40 // longer runs of letters and digits are keys, hashes, data
	minPart   = 2
	maxPart   = 32
	minSplit  = 6 // a compound that is split, and
	maxSplit  = 24
	minPiece  = 3 // a piece of it
	maxDepth  = 3
	stemAbove = 3 // words up to this length have no stem
)

// tokens cuts a text into the rows of a table. It keeps its memory between texts.
type tokens struct {
	table *table
	emit  func(row int)
	run   []byte
	lower [maxRun]byte
	stem  []byte
	parts [maxRun]int // rows of a compound's pieces
}

// read calls emit for each known word of text, in its order.
func (k *tokens) read(t *table, text string, emit func(row int)) {
	k.table, k.emit = t, emit
	k.run = k.run[:0]
	for i := range len(text) {
		c := text[i]
		switch {
		case isLetter(c) || isDigit(c):
			if len(k.run) <= maxRun { // one more tells that it is too long
				k.run = append(k.run, c)
			}
		case c == '\'' && len(k.run) > 0 && i+1 < len(text) && isLetter(text[i+1]):
			// don't is one word
		default:
			k.end()
		}
	}
	k.end()
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool  { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// end takes the run that has been read.
func (k *tokens) end() {
	run := k.run
	k.run = k.run[:0]
	if len(run) == 0 || len(run) > maxRun {
		return
	}
	first := 1
	for first < len(run) && !boundary(run, first) {
		first++
	}
	if first == len(run) {
		k.part(run)
		return
	}
	if row, flags, ok := k.look(run); ok && flags&flagWhole != 0 {
		k.emit(row)
		return
	}
	from := 0
	for at := first; at <= len(run); at++ {
		if at == len(run) || boundary(run, at) {
			k.part(run[from:at])
			from = at
		}
	}
}

// boundary reports whether a new word begins at s[i]: fooBar, HTTPServer, but not
// the plural of a row of capitals at the end (URLs).
func boundary(s []byte, i int) bool {
	if !isUpper(s[i]) {
		return false
	}
	if !isUpper(s[i-1]) {
		return true
	}
	if i+1 == len(s) || !isLower(s[i+1]) {
		return false
	}
	return i+2 != len(s) || s[i+1] != 's'
}

// part takes one word.
func (k *tokens) part(part []byte) {
	if len(part) < minPart || len(part) > maxPart {
		return
	}
	if row, _, ok := k.look(part); ok {
		k.emit(row)
		return
	}
	rest := len(part)
	for rest > 0 && isDigit(part[rest-1]) {
		rest--
	}
	if rest < len(part) && rest >= minPart {
		if row, _, ok := k.look(part[:rest]); ok {
			k.emit(row)
			return
		}
	}
	if !allLetters(part) || len(part) < minSplit || len(part) > maxSplit {
		return
	}
	word := k.lower[:len(part)]
	toLower(word, part)
	for i := range k.split(word, 0, 0) {
		k.emit(k.parts[i])
	}
}

// split cuts a compound into words that may be pieces of one, the longest first,
// and returns how many there are, 0 if it cannot. n pieces are there already.
func (k *tokens) split(s []byte, depth, n int) int {
	if len(s) < minPiece || depth > maxDepth {
		return 0
	}
	longest := len(s)
	if depth == 0 {
		longest -= minPiece
	}
	for l := longest; l >= minPiece; l-- {
		row, flags, ok := k.look(s[:l])
		if !ok || flags&flagPiece == 0 {
			continue
		}
		k.parts[n] = row
		if l == len(s) {
			return n + 1
		}
		if done := k.split(s[l:], depth+1, n+1); done > 0 {
			return done
		}
	}
	return 0
}

// look finds a word in the table: in small letters, and by its stem if it is of
// letters only.
func (k *tokens) look(word []byte) (row int, flags byte, ok bool) {
	if cap(k.stem) < len(word)+1 { // a stem may grow by a letter
		k.stem = make([]byte, 2*maxRun)
	}
	stem := k.stem[:len(word)]
	toLower(stem, word)
	if len(stem) > stemAbove && allLetters(stem) {
		stem = porter(stem)
	}
	return k.table.find(stem)
}

func toLower(dst, src []byte) {
	for i, c := range src {
		if isUpper(c) {
			c |= 0x20
		}
		dst[i] = c
	}
}

func allLetters(s []byte) bool {
	for _, c := range s {
		if !isLetter(c) {
			return false
		}
	}
	return true
}
