package recall

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// A long query is pasted text: an issue, a report, a plan. It contains quotes, asterisks,
// times and "branch: main" that are no operators.
const (
	longQuery     = 20 // words of the shortest
	subjectWords  = 10 // words of the shortest subject
	subjectWeight = 2  // of a word in the subject, relative to the other words
)

// isLong reports whether a query is long.
func isLong(query string) bool { return len(strings.Fields(query)) >= longQuery }

// subject returns the part of a query that names its subject: all of a query that is not
// long, else its first line or sentence that ends after subjectWords words. The rest of a
// text gives details, whose mean is close to every passage.
func subject(query string) string {
	if !isLong(query) {
		return query
	}
	words := 0
	inWord := false
	for i, r := range query {
		space := unicode.IsSpace(r)
		if space && inWord {
			words++
		}
		if words >= subjectWords && space && (r == '\n' || inWord && strings.ContainsRune(".?!", rune(query[i-1]))) {
			return query[:i]
		}
		inWord = !space
	}
	return query
}

// queryTerms returns the terms of a query. In a long one no term is required or a prefix,
// and those of the subject count more.
func queryTerms(query string) []archive.Term {
	if !isLong(query) {
		return terms.Query(query)
	}
	plain := strings.NewReplacer(`"`, " ", "*", " ")
	all := terms.Query(plain.Replace(query))
	for _, t := range terms.Query(plain.Replace(subject(query))) {
		if i := slices.IndexFunc(all, func(x archive.Term) bool { return x.Text == t.Text }); i >= 0 {
			all[i].Weight *= subjectWeight
		}
	}
	return all
}

// parseLong sets the filters before and after a long text, and the text.
func (r *Request) parseLong(q string, now time.Time) error {
	for {
		token, rest := nextToken(q)
		name, value, ok := cutFilter(token)
		if !ok || value == "" {
			break
		}
		if err := r.set(name, value, now); err != nil {
			return err
		}
		q = rest
	}
	for filter := true; filter; {
		r.Text = strings.TrimSpace(q)
		at := strings.LastIndexFunc(r.Text, unicode.IsSpace) + 1
		name, value, ok := cutFilter(r.Text[at:])
		filter = ok && value != "" && r.set(name, value, now) == nil // else it is text
		q = r.Text[:at]
	}
	return nil
}
