package compact

import (
	"strings"

	"strandline/internal/archive"
)

// found is the specifics that some passages hold, line by line, and the
// vocabulary that numbers them. Its moments are not known yet.
type found struct {
	voc   *vocabulary
	names []string // of what voc numbers
	ids   []int32
	lines []foundLine // of all passages
	ends  []int       // of each passage's part of lines
}

// foundLine is what one line holds.
type foundLine struct {
	end   int32 // of its part of ids
	words int32 // ordinary ones
}

// manyBytes is how much text is worth a second thread.
const manyBytes = 256 << 10

// findAll reads the specifics of passages.
func findAll(passages []archive.Passage) *found {
	total := 0
	for i := range passages {
		total += len(passages[i].Text)
	}
	if total < manyBytes {
		return find(passages)
	}
	half, size := 0, 0
	for ; size < total/2; half++ {
		size += len(passages[half].Text)
	}
	rest := make(chan *found)
	go func() { rest <- find(passages[half:]) }()
	f := find(passages[:half])
	f.join(<-rest)
	return f
}

// join appends what was found in the passages that follow. Specifics get the
// numbers that they would have got in one go.
func (f *found) join(next *found) {
	ids, ends := int32(len(f.ids)), len(f.lines)
	number := make([]int32, len(next.names))
	for i, s := range next.names {
		number[i] = f.id(s)
	}
	for _, id := range next.ids {
		f.ids = append(f.ids, number[id])
	}
	for _, l := range next.lines {
		f.lines = append(f.lines, foundLine{ids + l.end, l.words})
	}
	for _, end := range next.ends {
		f.ends = append(f.ends, ends+end)
	}
}

// id numbers a specific.
func (f *found) id(s string) int32 {
	id := f.voc.id(s)
	if int(id) == len(f.names) {
		f.names = append(f.names, s)
	}
	return id
}

// find is findAll on one thread.
func find(passages []archive.Passage) *found {
	f := &found{voc: newVocabulary(0), ids: make([]int32, 0, 4096), lines: make([]foundLine, 0, 4096), ends: make([]int, 0, len(passages))}
	note := func(s string) { f.ids = append(f.ids, f.id(s)) }
	for i := range passages {
		for line := range strings.SplitSeq(passages[i].Text, "\n") {
			words := scanSpecifics(line, note)
			f.lines = append(f.lines, foundLine{int32(len(f.ids)), int32(words)})
		}
		f.ends = append(f.ends, len(f.lines))
	}
	return f
}

// first is the place in lines of a passage's first line.
func (f *found) first(passage int) int {
	if passage == 0 {
		return 0
	}
	return f.ends[passage-1]
}

// at returns the specifics of a line and the count of its ordinary words.
func (f *found) at(line int) ([]int32, int) {
	from := int32(0)
	if line > 0 {
		from = f.lines[line-1].end
	}
	l := f.lines[line]
	return f.ids[from:l.end], int(l.words)
}

// of returns the specifics of a whole passage.
func (f *found) of(passage int) []int32 {
	from, end := int32(0), f.lines[f.ends[passage]-1].end
	if at := f.first(passage); at > 0 {
		from = f.lines[at-1].end
	}
	return f.ids[from:end]
}
