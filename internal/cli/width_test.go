package cli

import (
	"slices"
	"strings"
	"testing"
)

func TestTruncateStart(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"fits", 4, "fits"},
		{"/home/dev/shop", 9, "…dev/shop"},
		{"/支払い", 5, "…払い"},
		{"/支払い", 4, "…い"},
		{"abcd", 1, "…"},
		{"abcd", 0, ""},
		{"", 0, ""},
	} {
		if got := truncateStart(c.in, c.n); got != c.want {
			t.Errorf("truncateStart(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestTruncateMiddle(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"Edit fits.go", 12, "Edit fits.go"},
		{"Edit cmd/entire/cli/status.go", 18, "Edit …li/status.go"},
		{"go test ./pay -run TestRetry", 12, "go test ./p…"},
		{"no path at all", 6, "no pa…"},
	} {
		if got := truncateMiddle(c.in, c.n); got != c.want {
			t.Errorf("truncateMiddle(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestPad(t *testing.T) {
	for name, c := range map[string]struct {
		in    string
		n     int
		right bool
		want  string
	}{
		"left":     {"ab", 4, false, "ab  "},
		"right":    {"ab", 4, true, "  ab"},
		"wide":     {"支払", 6, false, "支払  "},
		"too long": {"abcdef", 4, false, "abcdef"},
	} {
		if got := pad(c.in, c.n, c.right); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		n    int
		want []string
	}{
		"fits":                 {"one two", 7, []string{"one two"}},
		"breaks between words": {"one two three", 7, []string{"one two", "three"}},
		"a word that is long":  {"a-very-long-word b", 6, []string{"a-ver…", "b"}},
		"wide words":           {"支払 再試 行", 5, []string{"支払", "再試", "行"}},
		"nothing":              {"", 5, []string{""}},
	} {
		if got := wrap(c.in, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	tab := newTable("KEY", "NOTE")
	tab.wrapped = true
	tab.row("a.key", "what the setting does and why it is so")
	var out strings.Builder
	want := "KEY    NOTE\na.key  what the setting does\n       and why it is so\n"
	if err := tab.write(&out, 30); err != nil || out.String() != want {
		t.Errorf("%v\ngot\n%s\nwant\n%s", err, out.String(), want)
	}
}

func TestTable(t *testing.T) {
	tests := map[string]struct {
		head  []string
		rows  [][]string
		width int
		want  string
	}{
		"columns are as wide as their texts": {
			[]string{"ID", ">N", "TITLE"}, [][]string{{"a", "1", "one"}, {"long-id", "1000", "two"}}, 80,
			"" +
				"ID          N  TITLE\n" +
				"a           1  one\n" +
				"long-id  1000  two\n",
		},
		"wide characters keep the columns straight": {
			[]string{"NAME", "TITLE"}, [][]string{{"支払い", "一"}, {"pay", "two"}, {"😀", "three"}}, 80,
			"" +
				"NAME    TITLE\n" +
				"支払い  一\n" +
				"pay     two\n" +
				"😀      three\n",
		},
		"the last column takes what is left": {
			[]string{"ID", "TITLE"}, [][]string{{"12345678", "a title that is longer than the line"}}, 30,
			"" +
				"ID        TITLE\n" +
				"12345678  a title that is lon…\n",
		},
		"the widest text in the middle is shortened": {
			[]string{"ID", "PROJECT", ">N", "TITLE"},
			[][]string{{"12345678", "a-project-with-a-very-long-name", "7", "a title of some length"}}, 50,
			"" +
				"ID        PROJECT              N  TITLE\n" +
				"12345678  a-project-with-a-v…  7  a title of some…\n",
		},
		"on the narrowest terminal names stay whole": {
			[]string{"ID", "PROJECT", "TITLE"}, [][]string{{"12345678~12345678", "a-project-of-mine", "a title of some length"}}, 20,
			"" +
				"ID                 PROJECT     TITLE\n" +
				"12345678~12345678  a-project…  a title o…\n",
		},
		"what breaks lines is taken out": {
			[]string{"ID", "TITLE"}, [][]string{{"a\tb", "one\ntwo\r\n\x1b[31mthree\x1b[0m \x1b[2J"}}, 80,
			"" +
				"ID   TITLE\n" +
				"a b  one two three ^[[2J\n",
		},
		"no padding after an empty text": {
			[]string{"KEY", "NOTE"}, [][]string{{"a", ""}}, 80,
			"KEY  NOTE\na\n",
		},
		"the first column is shortened last": {
			[]string{"PROJECT", ">N", "FOLDER"}, [][]string{{"a-project-with-a-very-long-name", "7", "/home/dev/somewhere/else"}}, 42,
			"" +
				"PROJECT                  N  FOLDER\n" +
				"a-project-with-a-very-…  7  /home/dev/som…\n",
		},
		"no rows": {[]string{"KEY", "NOTE"}, nil, 80, "KEY  NOTE\n"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			tab := newTable(c.head...)
			for _, r := range c.rows {
				tab.row(r...)
			}
			var out strings.Builder
			if err := tab.write(&out, c.width); err != nil || out.String() != c.want {
				t.Errorf("%v\ngot\n%s\nwant\n%s", err, out.String(), c.want)
			}
		})
	}
}

func TestWrapCells(t *testing.T) {
	for name, c := range map[string]struct {
		in    string
		n     int
		lines int
		want  string
	}{
		"it fits":               {"make it wait", 20, 2, "make it wait"},
		"between words":         {"make it wait longer", 14, 2, "make it wait|longer"},
		"a blank at the end":    {"make it wait longer", 12, 2, "make it wait|longer"},
		"what is left is cut":   {"make it wait longer than this", 12, 2, "make it wait|longer than…"},
		"a long word is broken": {"a/path/that/does/not/fit", 10, 3, "a/path/tha|t/does/not|/fit"},
		"no half empty row":     {"in a/path/that/does/not", 12, 2, "in a/path/th|at/does/not"},
		"wide characters":       {"支払いの再試行", 5, 4, "支払|いの|再試|行"},
		"no space":              {"text", 1, 2, "…"},
		"nothing":               {"", 10, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := wrapCells(c.in, c.n, c.lines)
			if strings.Join(got, "|") != c.want {
				t.Errorf("got %q, want %s", got, c.want)
			}
		})
	}
}
