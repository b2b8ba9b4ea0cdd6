package terms_test

import (
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

func TestAnswerType(t *testing.T) {
	const both = archive.AnswerTime | archive.AnswerNumber
	for query, want := range map[string]archive.AnswerType{
		"When did we release 1.0?":               archive.AnswerTime,
		"fix the panic when the file is missing": 0,
		"How long did the migration take?":       both,
		"how many workers":                       archive.AnswerNumber,
		"How old is the cache, how often":        archive.AnswerNumber,
		"long lines":                             0,
		"too many open files":                    0,
		"what year was it":                       archive.AnswerTime,
		"which port does it listen on":           archive.AnswerNumber,
		"port the parser":                        0,
		"":                                       0,
		"what":                                   0,
	} {
		if got := terms.AnswerType(query); got != want {
			t.Errorf("AnswerType(%q) = %d, want %d", query, got, want)
		}
	}
}

func TestAnswerIn(t *testing.T) {
	const both = archive.AnswerTime | archive.AnswerNumber
	for text, want := range map[string]archive.AnswerType{
		"yesterday":     archive.AnswerTime,
		"on Fridays":    archive.AnswerTime,
		"last week":     archive.AnswerTime,
		"this year":     archive.AnswerTime,
		"a week":        0,
		"last release":  0,
		"2026":          both,
		"2137":          archive.AnswerNumber,
		"8080":          archive.AnswerNumber,
		"three":         archive.AnswerNumber,
		"marching on":   0,
		"v1.26.8":       archive.AnswerNumber,
		"2026-11-03":    both,
		"two weeks ago": both,
	} {
		var got archive.AnswerType
		var before []byte
		for term := range strings.FieldsSeq(terms.Index(text)) {
			got |= terms.AnswerIn(before, []byte(term))
			before = []byte(term)
		}
		if got != want {
			t.Errorf("%q: answer types %d, want %d", text, got, want)
		}
	}
	if got := terms.AnswerIn(nil, nil); got != 0 {
		t.Errorf("no term: answer types %d", got)
	}
}
