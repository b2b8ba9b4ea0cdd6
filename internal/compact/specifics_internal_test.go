package compact

import (
	"slices"
	"strings"
	"testing"
)

func TestScanSpecifics(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
		words      int
	}{
		{"prose", "The quick brown fox, e.g. it is in a hurry.", nil, 5},
		{"camel case", "call parseConfig or ParseConfig", []string{"parseConfig", "ParseConfig"}, 1},
		{"a name in capitals or with a capital", "README and Makefile", nil, 3},
		{"snake case", "set retry_count and MAX_RETRIES", []string{"retry_count", "MAX_RETRIES"}, 2},
		{"dotted names", "context.Context in store.go.", []string{"context.Context", "store.go"}, 0},
		{"a sentence without a blank behind it", "done.Next we wait", []string{"done.Next"}, 1},
		{"paths count by their last element", "/home/ada/store.go:12 and internal/store.go", []string{"store.go", "store.go"}, 1},
		{"a path with a short end", "internal/a.b is", []string{"internal/a.b"}, 0},
		{"flags", "run with --dry-run and -x --no", []string{"--dry-run"}, 3},
		{"versions", "go 1.26.8 and v2.1.329 but 3.14", []string{"1.26.8", "v2.1.329"}, 2},
		{"hashes", "commit 34c57ad3 and deadbeef and 1234567", []string{"34c57ad3"}, 4},
		{"dashes part words", "well-known pre-commit_hook", []string{"commit_hook"}, 3},
		{"a URL", "see https://example.com/docs/retry-policy", []string{"retry-policy"}, 2},
		{"numbers", "12345 2026-11-20 1/2 100.5", nil, 0},
		{"other scripts", "日本語 parse_config です", []string{"parse_config"}, 0},
		{"nothing", "", nil, 0},
		{"only marks", "--- ... /// @@@ ~~~ ___", nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			words := scanSpecifics(tt.text, func(s string) { got = append(got, s) })
			if !slices.Equal(got, tt.want) {
				t.Errorf("specifics %q, want %q", got, tt.want)
			}
			if words != tt.words {
				t.Errorf("%d words, want %d", words, tt.words)
			}
		})
	}
}

func FuzzScanSpecifics(f *testing.F) {
	f.Add("call parseConfig in internal/store.go --dry-run v1.2.3 deadbee1 \xff é_a.b/")
	f.Fuzz(func(t *testing.T, s string) {
		n := scanSpecifics(s, func(found string) {
			if len(found) < minSpecific || !strings.Contains(s, found) {
				t.Fatalf("%q is no specific of %q", found, s)
			}
		})
		if n < 0 || n > len(s)/3 {
			t.Fatalf("%d words in %d bytes", n, len(s))
		}
	})
}

func TestVocabularyPrefersWhatIsUsedOftenAndLately(t *testing.T) {
	v := newVocabulary(100, 0)
	v.learn("old_name", 1, true)
	v.learn("seen_name", 99, false)
	v.learn("used_name", 99, true)
	for m := 90; m < 100; m++ {
		v.learn("busy_name", m, true)
	}
	v.learn("known_name", 99, true)
	v.learn("asked_name", 99, true)
	v.know("known_name")
	v.ask("asked_name", 1)
	v.settle(nil)
	worth := func(s string) float64 { return v.worth[v.ids[s]] }
	order := []string{"old_name", "seen_name", "used_name", "asked_name"}
	for i := 1; i < len(order); i++ {
		if worth(order[i-1]) >= worth(order[i]) {
			t.Errorf("%s is worth %.3f, %s %.3f", order[i-1], worth(order[i-1]), order[i], worth(order[i]))
		}
	}
	if worth("busy_name") <= worth("seen_name") || worth("known_name") >= worth("used_name") {
		t.Errorf("busy %.3f, seen %.3f, known %.3f, used %.3f", worth("busy_name"), worth("seen_name"), worth("known_name"), worth("used_name"))
	}
}

func TestVocabularyCountsAMomentOnce(t *testing.T) {
	v := newVocabulary(2, 0)
	v.learn("one_name one_name", 0, true)
	v.learn("one_name", 0, true)
	v.learn("one_name", 1, false)
	v.learn("one_name", 1, false)
	if x := v.terms[v.ids["one_name"]]; x.seen != 2 || x.used != 1 || x.last != 1 || x.lastUsed != 0 {
		t.Errorf("got %+v", x)
	}
}

func TestKeys(t *testing.T) {
	v := newVocabulary(1, 0)
	v.learn("b_name a_name", 0, true)
	keys, words := v.keys("the a_name, the b_name, the a_name and a new_name", nil)
	if !slices.Equal(keys, []int32{0, 1}) || words != 4 {
		t.Errorf("keys %v, %d words", keys, words)
	}
}
