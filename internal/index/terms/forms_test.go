package terms_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

func TestForms(t *testing.T) {
	for _, c := range []struct{ word, has string }{
		{"initialize", "initialized initializing initialization"},
		{"initialized", "initialize initializing initialization"},
		{"initialization", "initialize initialized"},
		{"stop", "stopped stopping"},
		{"stopped", "stop stopping"},
		{"cancelled", "cancel cancelling"},
		{"validate", "validated validating validation"},
		{"validation", "validate validated"},
		{"connect", "connected connection"},
		{"connection", "connect connected"},
		{"retry", "retried retrying"},
		{"retried", "retry retrying"},
		{"session", ""},
		{"compress", "compression compressed"},
		{"wrote", "write written"},
		{"index", "indexes indices"},
		{"child", "children"},
	} {
		have := terms.Forms(c.word)
		for want := range strings.FieldsSeq(c.has) {
			if !slices.Contains(have, want) {
				t.Errorf("%s: no %q in %q", c.word, want, have)
			}
		}
	}
	for _, name := range []string{"", "go2", "utf8", "sha256sum", "e0382", "日本", "x", "1.26", strings.Repeat("a", 30)} {
		if have := terms.Forms(name); len(have) > 0 {
			t.Errorf("%q has forms %q", name, have)
		}
	}
}

// Forms are terms, at most maxForms, and exclude the word itself.
func TestFormsAreTerms(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		word := rapid.StringMatching(`[a-z]{1,12}(ing|ed|ion|ation|ization|e|y|)`).Draw(r, "word")
		have := terms.Forms(word)
		if len(have) > 12 || slices.Contains(have, word) {
			r.Fatalf("%s: %q", word, have)
		}
		for _, f := range have {
			if strings.ContainsAny(f, " \"") || f == "" {
				r.Fatalf("%s: %q is no term", word, f)
			}
		}
	})
}

func TestWiden(t *testing.T) {
	ts := terms.Query(`validate "validated" valid* parseConfig`)
	terms.Widen(ts)
	for _, x := range ts {
		switch x.Text {
		case "validate", "parse":
			if x.Forms == "" {
				t.Errorf("%s has no forms", x.Text)
			}
		case "validated", "valid", "parseconfig":
			if x.Text != "parseconfig" && x.Forms != "" {
				t.Errorf("%s is quoted or a prefix and has the forms %q", x.Text, x.Forms)
			}
		}
	}
	many := make([]archive.Term, 60)
	for i := range many {
		many[i] = archive.Term{Text: "validate", Weight: 1}
	}
	terms.Widen(many)
	if many[59].Forms != "" || many[0].Forms == "" {
		t.Error("all terms of a long query have forms, or none")
	}
}
