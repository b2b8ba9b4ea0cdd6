package compact

import (
	"strings"

	"strandline/internal/archive"
)

// found is the specifics that some passages hold, line by line, and the
// vocabulary that numbers them. Its moments are not known yet.
type found struct {
	voc   *vocabulary
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

// textsOf are the texts of passages.
func textsOf(passages []archive.Passage) []string {
	texts := make([]string, len(passages))
	for i := range passages {
		texts[i] = passages[i].Text
	}
	return texts
}

// findAll reads the specifics of texts.
func findAll(texts []string) *found {
	total := 0
	for _, t := range texts {
		total += len(t)
	}
	if total < manyBytes {
		return find(texts)
	}
	half, size := 0, 0
	for ; size < total/2; half++ {
		size += len(texts[half])
	}
	rest := make(chan *found)
	go func() { rest <- find(texts[half:]) }()
	f := find(texts[:half])
	f.join(<-rest)
	return f
}

// join appends what was found in the texts that follow. Specifics get the
// numbers that they would have got in one go.
func (f *found) join(next *found) {
	ids, ends := int32(len(f.ids)), len(f.lines)
	names := make([]string, len(next.voc.ids))
	for s, id := range next.voc.ids {
		names[id] = s
	}
	number := make([]int32, len(names))
	for id, s := range names {
		number[id] = f.voc.id(s)
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

// About how far apart specifics stand in a session's texts, and new ones.
const (
	bytesPerSpecific = 40
	bytesPerNew      = 64
)

// find is findAll on one thread.
func find(texts []string) *found {
	total, lines := 0, 0
	for _, t := range texts {
		total += len(t)
		lines += 1 + strings.Count(t, "\n")
	}
	f := &found{voc: newVocabulary(0, total/bytesPerNew), ids: make([]int32, 0, total/bytesPerSpecific), lines: make([]foundLine, 0, lines), ends: make([]int, 0, len(texts))}
	note := func(s string) { f.ids = append(f.ids, f.voc.id(s)) }
	for _, t := range texts {
		for line := range strings.SplitSeq(t, "\n") {
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
