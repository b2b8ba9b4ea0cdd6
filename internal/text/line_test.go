package text_test

import (
	"testing"

	"strandline/internal/text"
)

func TestTrimMarkdown(t *testing.T) {
	for line, want := range map[string]string{
		"## Heading":               "Heading",
		"- entry":                  "entry",
		"  * **bold** entry":       "bold entry",
		"3. third":                 "third",
		"12. **twelfth**":          "twelfth",
		"> quoted":                 "quoted",
		"| cell | other |":         "cell | other |",
		"2026 was a good year":     "2026 was a good year",
		"3.5 ms are too long":      "3.5 ms are too long",
		"100. is not a list entry": "100. is not a list entry",
		"":                         "",
		"---":                      "",
		"- **Root cause:** the cache is **never** cleared.": "Root cause: the cache is never cleared.",
		"**`retry.go`** holds it":                           "`retry.go` holds it",
		"the glob `**/*.go` and src/**/x":                   "the glob `**/*.go` and src/**/x",
		"f(**kwargs), 2**3, a ** b and **opts":              "f(**kwargs), 2**3, a ** b and **opts",
		"**important** `f(**kwargs)` **too**":               "important `f(**kwargs)` too",
		"the end of a strong** word":                        "the end of a strong** word",
		"(**now**), **then**…":                              "(now), then…",
		"**":                                                "",
	} {
		if got := text.TrimMarkdown(line); got != want {
			t.Errorf("TrimMarkdown(%q) = %q, want %q", line, got, want)
		}
	}
}

func TestSentences(t *testing.T) {
	for body, first := range map[string]string{
		"The gateway bans clients now. It did not before.":      "The gateway bans clients now.",
		"Does it retry within a second? Yes.":                   "Does it retry within a second?",
		"Good. The gateway bans clients now. More.":             "Good. The gateway bans clients now.",
		"A version such as 1.2.3 does not end a sentence":       "A version such as 1.2.3 does not end a sentence",
		"It is set in the file e.g. retry.go and nowhere else.": "It is set in the file e.g. retry.go and nowhere else.",
		"short.": "short.",
		"":       "",
		"支払いの再試行が遅すぎる。 Then. And so on it went.": "支払いの再試行が遅すぎる。 Then.",
	} {
		got := ""
		text.Sentences(body, func(s string) {
			if got == "" {
				got = s
			}
		})
		if got != first {
			t.Errorf("the first sentence of %q is %q, want %q", body, got, first)
		}
	}
}
