package terms_test

import (
	"strings"
	"testing"

	"strandline/internal/index/terms"
)

// Stop words are left out of a query. Names that only resemble them stay.
func TestStopWords(t *testing.T) {
	for w := range strings.FieldsSeq("a about all also an and any are as at be been but by can could did do does for from had has have how i if in into is it its just me my no not of on or our out please should so some than that the their them then there these they this those to too up us was we were what when where which who why will with would you your") {
		if got := terms.Query(w + " parser"); len(got) != 1 || got[0].Text != "parser" {
			t.Errorf("stop word %q in a query: %+v", w, got)
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

// A term contains no character of a full-text query language, so stores need not escape
// it.
func TestTermsContainNoSyntax(t *testing.T) {
	for _, text := range []string{
		`a" OR 1=1`, "NEAR(a b, 3)", "col:value", "x^2", "-minus", "+plus", "a*", "(group)", "{set}", "a'b", "a;b", "a\\b", "a%b", "a?b", "a\x00b",
	} {
		for _, q := range terms.Query(text) {
			if strings.ContainsAny(q.Text, "\"'()*:^+-;\\%?{}\x00 ") {
				t.Errorf("Query(%q) returns %q", text, q.Text)
			}
		}
	}
}

// Terms have the order of the query's words, and those after MaxQuery are left out.
func TestLongQueriesAreLimited(t *testing.T) {
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
	// Stop words do not count.
	got = terms.Query(strings.Repeat("the ", 200) + strings.Join(words[:3], " "))
	if len(got) != 3 {
		t.Errorf("after stop words: %+v", got)
	}
}
