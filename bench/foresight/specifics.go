package foresight

import (
	"regexp"
	"strings"
)

// Ruler finds specifics and weighs lines. It is safe for concurrent use.
type Ruler struct{ specific, word *regexp.Regexp }

// NewRuler returns a ruler.
func NewRuler() *Ruler {
	const w = `\pL\pN_` // the characters of a name, in any script
	return &Ruler{
		specific: regexp.MustCompile(`(?:[` + w + `.@~-]*/[` + w + `.@/-]+[` + w + `])` + // a path
			`|(?:--[a-z][` + w + `-]+)` + // a flag
			`|(?:[A-Za-z_][` + w + `]*(?:\.[A-Za-z_][` + w + `]*)+)` + // a.dotted.name
			`|(?:[A-Za-z]+_[A-Za-z0-9_]+)|(?:[a-z]+[A-Z][` + w + `]+)|(?:[A-Z][a-z0-9]+[A-Z][` + w + `]+)` + // an identifier
			`|(?:\bv?[0-9]+\.[0-9]+(?:\.[0-9]+)+\b)|(?:\b[0-9a-f]{7,40}\b)`), // a version, a hash
		word: regexp.MustCompile(`[A-Za-z]{3,}`),
	}
}

const (
	minSpecific = 5 // bytes
	minWords    = 3
	maxBare     = 2  // specifics on a line without words
	maxBares    = 60 // such lines
)

// Specifics adds the specifics of text to set. A path counts as its last
// element, if that is long enough.
func (r *Ruler) Specifics(text string, set map[string]bool) {
	for _, at := range r.specific.FindAllStringIndex(text, -1) {
		s := strings.Trim(text[at[0]:at[1]], "./-")
		if len(s) < minSpecific || strings.Trim(s, "0123456789") == "" {
			continue
		}
		if base := s[strings.LastIndexByte(s, '/')+1:]; len(base) >= minSpecific {
			s = base
		}
		set[s] = true
	}
}

// Conveyed returns the specifics that a text conveys.
func (r *Ruler) Conveyed(block string) map[string]bool {
	all, bares := map[string]bool{}, 0
	for line := range strings.SplitSeq(block, "\n") {
		found := map[string]bool{}
		r.Specifics(line, found)
		if len(found) == 0 {
			continue
		}
		words := len(r.word.FindAllString(r.specific.ReplaceAllString(line, " "), minWords))
		if words < minWords {
			if len(found) > maxBare || bares == maxBares {
				continue
			}
			bares++
		}
		for s := range found {
			all[s] = true
		}
	}
	return all
}
