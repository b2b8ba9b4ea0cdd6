package redact_test

import (
	"strings"
	"testing"

	"strandline/internal/redact"
)

func TestPrivate(t *testing.T) {
	table(t, []example{
		{"a <private>b</private> c", "a [private] c"},
		{"<private>a\nb</private><private>c</private>", "[private][private]"},
		{"<private>" + strings.Repeat("long ", 20000) + "</private>.", "[private]."},
		{"<private>a <private>b</private> c", "[private] c"},
		{"<private></private>", "[private]"},
	})
	same(t, []string{"write <private> before it", "</private>", "[private]", "<private >a</private>"})
	if got := redact.Private("no tags"); got != "no tags" {
		t.Errorf("%q", got)
	}
}

// The matchers of hostile text are called a bounded number of times for each byte,
// whatever the length; each sees a window of bounded length.
func TestWorkIsLinear(t *testing.T) {
	for _, piece := range hostile() {
		few, many := strings.Repeat(piece, 10<<10/len(piece)), strings.Repeat(piece, 1<<20/len(piece))
		if small, large := redact.Calls(few)/float64(len(few)), redact.Calls(many)/float64(len(many)); large > 2*small {
			t.Errorf("%q: %.3f calls for a byte of 1 MB, %.3f for one of 10 KB", piece, large, small)
		}
	}
}

// What is found far from the ends of a text does not depend on its length: no
// matcher reads more than its window.
func TestFindingsDependOnTheirWindow(t *testing.T) {
	key := "\nAPI_TOKEN=" + fake("gh", "p_", mixed[:36]) + "\n"
	for _, piece := range hostile() {
		pad := strings.Repeat(piece, 64<<10/len(piece)) + "\n\n"
		text := pad + key + pad
		at := len(pad) + len("\nAPI_TOKEN=")
		found := false
		for _, f := range redact.Find(text) {
			found = found || f.Start <= at && f.End >= at+40
		}
		if !found {
			t.Errorf("the token between %q is not found", piece)
		}
	}
}
