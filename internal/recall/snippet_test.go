package recall_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
	"strandline/internal/recall"
)

func TestSnippet(t *testing.T) {
	long := strings.Repeat("some words before it. ", 20)
	tests := []struct {
		name, text, query string
		width             int
		want              string
	}{
		{"a short text is whole", "the retry policy", "policy", 40, "the retry [policy]"},
		{"on one line", "the\n\tretry   policy", "retry", 40, "the [retry] policy"},
		{"parts of names", "parseConfigFile(retry_count)", "config count", 40, "parse[Config]File(retry_[count])"},
		{"not inside words", "encounter the count", "count", 40, "encounter the [count]"},
		{"around the terms", long + "the retry policy is here. " + long, "retry policy", 40, "…words before it. the [retry] [policy]…"},
		{"where most terms stand", "retry " + long + "the retry policy", "retry policy", 30, "…before it. the [retry] [policy]"},
		{"no term", long, "zebra", 20, "…"},
		{"controls are dropped", "a \x1b[31mred\x00 \u202eword", "red", 40, "a [red] word"},
		{"no width", "text", "text", 0, ""},
		{"no text", "", "text", 10, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, marks := recall.Snippet(tt.text, terms.Query(tt.query), tt.width)
			got := recall.Highlight(s, marks, func(s string) string { return "[" + s + "]" })
			if tt.name == "no term" {
				if !strings.HasPrefix(got, "some words") || !strings.HasSuffix(got, tt.want) {
					t.Errorf("got %q", got)
				}
				return
			}
			if tt.name == "around the terms" {
				if !strings.Contains(got, "[retry] [policy]") {
					t.Errorf("got %q", got)
				}
			} else if got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if n := utf8.RuneCountInString(s); n > max(tt.width, 0) {
				t.Errorf("%d characters, width %d", n, tt.width)
			}
		})
	}
}

func FuzzSnippet(f *testing.F) {
	f.Add("the retry policy", "retry", 10)
	f.Add("日本語の検索", "検索", 3)
	f.Add("İstanbul İİİ", "is", 4)
	f.Add("\xff\xfe broken", "broken", 8)
	f.Fuzz(func(t *testing.T, text, term string, width int) {
		width %= 200
		s, marks := recall.Snippet(text, []archive.Term{{Text: strings.ToLower(term), Weight: 1}}, width)
		if !utf8.ValidString(s) || utf8.RuneCountInString(s) > max(width, 0) {
			t.Fatalf("snippet %q of width %d", s, width)
		}
		last := 0
		for _, m := range marks {
			if m.From < last || m.To <= m.From || m.To > len(s) {
				t.Fatalf("marks %v in %d bytes", marks, len(s))
			}
			last = m.To
		}
		if plain := recall.Highlight(s, marks, strings.Clone); plain != s {
			t.Fatalf("highlighting changed %q to %q", s, plain)
		}
	})
}
