package text

import (
	"slices"
	"strings"
	"testing"
)

func TestTerms(t *testing.T) {
	tests := []struct {
		name, body string
		want       []string
		words      int
	}{
		{"prose", "The quick brown fox, e.g. it is in a hurry.", nil, 5},
		{"camel case", "call parseConfig or ParseConfig", []string{"parseConfig", "ParseConfig"}, 1},
		{"a name in capitals or with a capital", "README and Makefile", nil, 3},
		{"snake case", "set retry_count and MAX_RETRIES", []string{"retry_count", "MAX_RETRIES"}, 2},
		{"dotted names", "context.Context in store.go.", []string{"context.Context", "store.go"}, 0},
		{"a sentence without a blank after it", "done.Next we wait", []string{"done.Next"}, 1},
		{"paths count by their last element", "/home/ada/store.go:12 and internal/store.go", []string{"store.go", "store.go"}, 1},
		{"a path with a short end", "internal/a.b is", []string{"internal/a.b"}, 0},
		{"flags", "run with --dry-run and -x --no", []string{"--dry-run"}, 3},
		{"versions", "go 1.26.8 and v2.1.329 but 3.14", []string{"1.26.8", "v2.1.329"}, 2},
		{"hashes", "commit 34c57ad3 and deadbeef and 1234567", []string{"34c57ad3"}, 4},
		{"dashes separate words", "well-known pre-commit_hook", []string{"commit_hook"}, 3},
		{"a URL", "see https://example.com/docs/retry-policy", []string{"retry-policy"}, 2},
		{"numbers", "12345 2026-11-20 1/2 100.5", nil, 0},
		{"other scripts", "日本語 parse_config です", []string{"parse_config"}, 0},
		{"nothing", "", nil, 0},
		{"only punctuation", "--- ... /// @@@ ~~~ ___", nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			words := Terms(tt.body, func(s string) { got = append(got, s) })
			if !slices.Equal(got, tt.want) {
				t.Errorf("terms %q, want %q", got, tt.want)
			}
			if words != tt.words {
				t.Errorf("%d words, want %d", words, tt.words)
			}
		})
	}
}

func FuzzTerms(f *testing.F) {
	f.Add("call parseConfig in internal/store.go --dry-run v1.2.3 deadbee1 \xff é_a.b/")
	f.Fuzz(func(t *testing.T, s string) {
		n := Terms(s, func(found string) {
			if len(found) < minTerm || !strings.Contains(s, found) {
				t.Fatalf("%q is not a term of %q", found, s)
			}
		})
		if n < 0 || n > len(s)/3 {
			t.Fatalf("%d words in %d bytes", n, len(s))
		}
	})
}
