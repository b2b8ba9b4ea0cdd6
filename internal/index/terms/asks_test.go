package terms_test

import (
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

func TestAsks(t *testing.T) {
	const both = archive.AsksTime | archive.AsksNumber
	for query, want := range map[string]archive.Asks{
		"When did we release 1.0?":               archive.AsksTime,
		"fix the panic when the file is missing": 0,
		"How long did the migration take?":       both,
		"how many workers":                       archive.AsksNumber,
		"How old is the cache, how often":        archive.AsksNumber,
		"long lines":                             0,
		"too many open files":                    0,
		"what year was it":                       archive.AsksTime,
		"which port does it listen on":           archive.AsksNumber,
		"port the parser":                        0,
		"":                                       0,
		"what":                                   0,
	} {
		if got := terms.Asks(query); got != want {
			t.Errorf("%q asks for %d, want %d", query, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	const both = archive.AsksTime | archive.AsksNumber
	for text, want := range map[string]archive.Asks{
		"yesterday":     archive.AsksTime,
		"on Fridays":    archive.AsksTime,
		"last week":     archive.AsksTime,
		"this year":     archive.AsksTime,
		"a week":        0,
		"last release":  0,
		"2026":          both,
		"2137":          archive.AsksNumber,
		"8080":          archive.AsksNumber,
		"three":         archive.AsksNumber,
		"marching on":   0,
		"v1.26.8":       archive.AsksNumber,
		"2026-11-03":    both,
		"two weeks ago": both,
	} {
		var got archive.Asks
		var before []byte
		for term := range strings.FieldsSeq(terms.Index(text)) {
			got |= terms.Names(before, []byte(term))
			before = []byte(term)
		}
		if got != want {
			t.Errorf("%q names %d, want %d", text, got, want)
		}
	}
	if got := terms.Names(nil, nil); got != 0 {
		t.Errorf("nothing names %d", got)
	}
}
