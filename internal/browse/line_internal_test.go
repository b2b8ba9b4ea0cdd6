package browse

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestEditing(t *testing.T) {
	for name, c := range map[string]struct{ keys, want string }{
		"in the middle":   {"left left X", "reXry"},
		"the last letter": {"backspace", "ret"},
		"the next letter": {"home delete", "etry"},
		"a word":          {"space a ctrl+w", "retry "},
		"to the start":    {"left ctrl+u", "y"},
		"beyond the ends": {"right home left backspace end delete", "retry"},
		"readline keys":   {"ctrl+a ctrl+d ctrl+e ctrl+b ctrl+f x", "etryx"},
	} {
		t.Run(name, func(t *testing.T) {
			m := screenOf(t, withHits(), 80, 24, "retry")
			if name == "in the middle" || name == "the last letter" {
				m.query.set("rery")
				if name == "the last letter" {
					m.query.set("retr")
				}
			}
			for k := range strings.FieldsSeq(c.keys) {
				m.Update(keyNamed(k))
			}
			if got := m.query.String(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestLongQueryShowsItsCursor(t *testing.T) {
	var l line
	l.set(strings.Repeat("ab 長", 40))
	got, cursor := l.view(20)
	if ansi.StringWidth(got) > 20 || cursor >= 20 || !strings.HasSuffix(got, "長") {
		t.Errorf("%q, cursor at %d", got, cursor)
	}
	l.edit("home")
	if got, cursor = l.view(20); cursor != 0 || !strings.HasPrefix(got, "ab 長") {
		t.Errorf("%q, cursor at %d", got, cursor)
	}
}

// Wrapped rows fit the width and concatenate to the text.
func TestWrappedKeepsTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab -/長😀é\u0301 \n"))).Draw(t, "text")
		width := rapid.IntRange(1, 12).Draw(t, "width")
		rows := wrapped(text, width)
		for _, r := range rows {
			if ansi.StringWidth(r) > max(width, 2) {
				t.Fatalf("%q takes %d cells of %d", r, ansi.StringWidth(r), width)
			}
		}
		if got, want := strings.Join(rows, ""), strings.ReplaceAll(text, "\n", ""); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestWrappedBreaksBetweenWords(t *testing.T) {
	got := strings.Join(wrapped("go test ./pay -run Test -count=1", 14), "|")
	if want := "go test ./pay |-run Test |-count=1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
