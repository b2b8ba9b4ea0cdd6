package terms_test

import (
	"strings"
	"testing"

	"strandline/internal/index/terms"
)

// The words that are left out of a query select nothing in prose; those that
// only look like them are names in programs and stay.
func TestStopWords(t *testing.T) {
	for w := range strings.FieldsSeq("a about all also an and any are as at be been but by can could did do does for from had has have how i if in into is it its just me my no not of on or our out please should so some than that the their them then there these they this those to too up us was we were what when where which who why will with would you your") {
		if got := terms.Query(w + " parser"); len(got) != 1 || got[0].Text != "parser" {
			t.Errorf("%q selects something: %+v", w, got)
		}
		if got := terms.Query(w); len(got) != 1 {
			t.Errorf("%q alone: %+v", w, got)
		}
		if got := terms.Query(`"` + w + `" parser`); len(got) != 2 || !got[0].Must {
			t.Errorf("%q in quotes: %+v", w, got)
		}
	}
	for w := range strings.FieldsSeq("go c r id os io ui db ok new old get_all make run test fix bug error file why_not todo never always only") {
		if got := terms.Query(w + " parser"); len(got) < 2 {
			t.Errorf("%q was left out: %+v", w, got)
		}
	}
}

// A store may look a term up as it comes: what stands in an index never holds
// what its own syntax would act on.
func TestTermsHoldNoSyntax(t *testing.T) {
	for _, text := range []string{
		`a" OR 1=1`, "NEAR(a b, 3)", "col:value", "x^2", "-minus", "+plus", "a*", "(group)", "{set}", "a'b", "a;b", "a\\b", "a%b", "a?b", "a\x00b",
	} {
		for _, q := range terms.Query(text) {
			if strings.ContainsAny(q.Text, "\"'()*:^+-;\\%?{}\x00 ") {
				t.Errorf("%q asks for %q", text, q.Text)
			}
		}
	}
}

// The order of a query's terms is that of its words, and the longest queries
// lose their end.
func TestLongQueriesLoseTheirEnd(t *testing.T) {
	var words []string
	for i := range 2 * terms.MaxQuery {
		words = append(words, "w"+strings.Repeat("x", i%50+1)+string(rune('a'+i/50)))
	}
	got := terms.Query(strings.Join(words, " "))
	if len(got) != terms.MaxQuery {
		t.Fatalf("%d terms", len(got))
	}
	for i, q := range got {
		if q.Text != words[i] {
			t.Errorf("term %d is %q, want %q", i, q.Text, words[i])
		}
	}
	// Stop words take no place from others.
	got = terms.Query(strings.Repeat("the ", 200) + strings.Join(words[:3], " "))
	if len(got) != 3 {
		t.Errorf("behind stop words: %+v", got)
	}
}
