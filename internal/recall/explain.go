package recall

import (
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// ScoreParts is what a hit's score is made of.
type ScoreParts struct {
	archive.Evidence
	Meaning float64 `json:"meaning"` // cosine to the query, 0 where it was not asked
	Sure    float64 `json:"sure"`    // confidence: 1 for what is new, less with the hours, more for what was given to the model since
}

// Explanation says why a hit was found.
type Explanation struct {
	Terms []string `json:"terms"` // of the query, those that the passage or its paths hold, in any form
	Paths []string `json:"paths"` // the paths that hold one of them
	// Corrected are those of the terms that were typed otherwise.
	Corrected []Correction `json:"corrected,omitempty"`
	ScoreParts
	Agent  bool `json:"agent"`  // in a sub-agent's run, which counts less
	Copies int  `json:"copies"` // other passages that say the same
}

// Explain fills Because of every hit.
func (r *Result) Explain() {
	for i := range r.Hits {
		h := &r.Hits[i]
		b := &Explanation{Terms: []string{}, Paths: []string{}, ScoreParts: h.Why, Agent: archive.IsAgentID(h.Session), Copies: h.Copies}
		text := strings.Fields(terms.Index(h.Text))
		for _, t := range r.Terms {
			found := slices.ContainsFunc(text, func(w string) bool { return says(w, t) })
			for _, path := range h.Paths {
				if slices.ContainsFunc(strings.Fields(terms.Index(path)), func(w string) bool { return says(w, t) }) {
					found = true
					if !slices.Contains(b.Paths, path) {
						b.Paths = append(b.Paths, path)
					}
				}
			}
			if found {
				b.Terms = append(b.Terms, t.Text)
				if c := slices.IndexFunc(r.Corrected, func(c Correction) bool { return c.Sought == t.Text }); c >= 0 {
					b.Corrected = append(b.Corrected, r.Corrected[c])
				}
			}
		}
		h.Explanation = b
	}
}

// says reports whether a word of a text is one of a term's.
func says(word string, t archive.Term) bool {
	if word == t.Text || t.Prefix && strings.HasPrefix(word, t.Text) {
		return true
	}
	for f := range strings.FieldsSeq(t.Forms) {
		if word == f {
			return true
		}
	}
	return false
}

// String is the explanation on one line.
func (b *Explanation) String() string {
	var out strings.Builder
	if len(b.Terms) > 0 {
		fmt.Fprintf(&out, "holds %s", strings.Join(b.Terms, ", "))
	} else {
		out.WriteString("holds none of the words")
	}
	for _, c := range b.Corrected {
		if c.Kin {
			fmt.Fprintf(&out, " · %s in the place of %s", c.Sought, c.Typed)
		} else {
			fmt.Fprintf(&out, " · %s was typed %s", c.Sought, c.Typed)
		}
	}
	sure := b.Sure
	if sure <= DefaultConfidence().Floor {
		sure = 0 // as sure as most
	}
	for _, part := range []struct {
		name  string
		share float64
	}{{"words", b.Words}, {"covered", b.Covered}, {"near", b.Near}, {"before", b.Before}, {"answer", b.Answer}, {"said", b.Speaker}, {"told", b.AnswerType}, {"asks", b.Question}, {"turn", b.Turn}, {"session", b.Session}, {"meaning", b.Meaning}, {"sure", sure}} {
		if part.share != 0 {
			fmt.Fprintf(&out, " · %s %.2f", part.name, part.share)
		}
	}
	if b.Agent {
		out.WriteString(" · sub-agent")
	}
	if b.Copies > 0 {
		fmt.Fprintf(&out, " · %d copies", b.Copies)
	}
	return out.String()
}
