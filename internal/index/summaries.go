package index

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/archive"
)

// HookTurn is the turn of passages that stand in no transcript.
const HookTurn = -1

// HookChunks is how many passages one summary may become; the client's are
// about three long.
const HookChunks = 64

// BaseID returns a session's id without its generation. Hooks know no
// generations: what they tell belongs to the name.
func BaseID(id string) string {
	base, _, _ := strings.Cut(id, "@")
	return base
}

// SummaryPassages cuts a summary into passages. Their sequence numbers come from
// the entry's identity, so that they do not depend on what else was told.
func SummaryPassages(h archive.HookSummary) []archive.Passage {
	var ps []archive.Passage
	first := HookSeq(h.ID)
	for text := h.Text; text != "" && len(ps) < HookChunks; {
		var piece string
		piece, text = cutText(text, archive.MaxPassage)
		ps = append(ps, archive.Passage{
			Session: h.Session, Turn: HookTurn, Step: -1, Seq: first + len(ps),
			Kind: archive.KindSummary, Label: "hook", Text: piece, LineFrom: -1, LineTo: -1, Time: h.Time,
		})
	}
	return ps
}

// HookSeq returns the first of HookChunks sequence numbers.
func HookSeq(id string) int { return int(xxhash.Sum64String(id)>>24) * HookChunks }

// cutText splits text after at most n bytes, at the end of a line where one lies
// in the second half.
func cutText(text string, n int) (piece, rest string) {
	if len(text) <= n {
		return text, ""
	}
	if i := strings.LastIndexByte(text[:n], '\n'); i > n/2 {
		return text[:i+1], text[i+1:]
	}
	for n > 1 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n], text[n:]
}

// SegmentPassages cuts the summary that counts into passages. Archived ones are
// found like others and say that they are archived; of a pruned one only the text
// is left.
func SegmentPassages(facts []archive.SegmentFact, session string) []archive.Passage {
	var newest archive.Segment
	label, mark := archive.LabelSegment, ""
	for _, f := range facts {
		switch f.Event {
		case archive.SegmentArchived:
			if newest.Content != "" {
				label, mark = archive.LabelArchived, " (archived)"
			}
		case archive.SegmentPruned:
			newest.KeyFiles = nil
		case archive.SegmentSummarised:
			if newest.Content == "" {
				newest = f.Segment
			}
		case archive.SegmentSaved, archive.SegmentImported:
			if f.Segment.Content != "" {
				newest = f.Segment
			}
		}
	}
	if newest.Content == "" {
		return nil
	}
	id := newest.ID
	head := fmt.Sprintf("Summary %s%s of turns %d to %d: %s\n", id, mark, newest.StartTurn, newest.EndTurn, newest.Topic)
	var ps []archive.Passage
	for text := head + newest.Content; text != "" && len(ps) < HookChunks; {
		var piece string
		piece, text = cutText(text, archive.MaxPassage)
		ps = append(ps, archive.Passage{
			Session: session, Turn: HookTurn, Step: -1, Seq: HookSeq(id) + len(ps), Kind: archive.KindSummary, Label: label,
			Text: piece, Paths: newest.KeyFiles, LineFrom: -1, LineTo: -1, Time: newest.CompressedAt.UTC(),
		})
	}
	return ps
}

// ValidID reports whether id may name a session, a sub-agent's session or an
// older generation of either.
func ValidID(id string) bool {
	h, err := archive.ParseHandle(id)
	return err == nil && h.Turn < 0 && h.Session == id
}
