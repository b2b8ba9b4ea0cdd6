package recall

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// Texts of any length that differ only in case, white space and punctuation have equal
// fingerprints.
func TestFingerprintUsesLettersAndDigitsOnly(t *testing.T) {
	for _, length := range []int{0, 1, 5, 58, 59, 60, 61, 62, 63, 64, 65, 120, 121, 122, 4096} {
		text := strings.Repeat("x", length)
		want := fingerprint(text)
		for _, same := range []string{text + ".", text + "!!", " " + text, "...\n\t" + text + " ?!  ", strings.ToUpper(text)} {
			if fingerprint(same) != want {
				t.Errorf("%d letters, then written as %q", length, same[max(0, len(same)-10):])
			}
		}
	}
	for _, apart := range [][2]string{{"ab", "a b"}, {"a1", "a2"}, {"a", ""}, {"a b", "b a"}, {"é", "e"}, {"a b c", "ab c"}} {
		if fingerprint(apart[0]) == fingerprint(apart[1]) {
			t.Errorf("%q and %q are one", apart[0], apart[1])
		}
	}
}

func TestFingerprintOfAnyText(t *testing.T) {
	words := rapid.SliceOfN(rapid.StringMatching(`[a-zA-Z0-9éü日]{1,30}`), 0, 12)
	gap := rapid.SampledFrom([]string{" ", ", ", "\n\n", "...", "\t- ", "🙂", "(\"", "/"})
	rapid.Check(t, func(t *rapid.T) {
		ws := words.Draw(t, "words")
		write := func(name string) string {
			var b strings.Builder
			b.WriteString(rapid.SampledFrom([]string{"", "> ", "\n"}).Draw(t, name))
			for _, w := range ws {
				if rapid.Bool().Draw(t, "upper") {
					w = strings.ToUpper(w)
				}
				b.WriteString(w + gap.Draw(t, "gap"))
			}
			return b.String() + rapid.SampledFrom([]string{"", "!", ".)\n"}).Draw(t, "end")
		}
		a, b := write("a"), write("b")
		if fingerprint(a) != fingerprint(b) {
			t.Fatalf("%q and %q are two", a, b)
		}
		if len(ws) > 0 && fingerprint(a) == fingerprint(a+"more") {
			t.Fatalf("%q and more of it are one", a)
		}
	})
}

func TestFoldKeepsOneOfEach(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	hit := func(session string, n int, score float64, text string) Hit {
		return Hit{Session: session, Time: day(n), Score: score, Text: text}
	}
	type kept struct {
		session string
		day     int
		score   float64
		copies  int
	}
	for _, c := range []struct {
		name string
		hits []Hit
		want []kept
	}{
		{"nothing", nil, nil},
		{"different texts", []Hit{hit("a", 1, 2, "x"), hit("b", 2, 3, "y")}, []kept{{"b", 2, 3, 0}, {"a", 1, 2, 0}}},
		{"the newest stands, with the best score", []Hit{hit("a", 1, 5, "x"), hit("b", 3, 2, "X!"), hit("c", 2, 1, "x")}, []kept{{"b", 3, 5, 2}}},
		{"a run counts less", []Hit{hit("a~r", 1, 5, "x"), hit("b", 1, 4.5, "y")}, []kept{{"b", 1, 4.5, 0}, {"a~r", 1, 4, 0}}},
		{"the main session represents its run", []Hit{hit("a~r", 9, 5, "x"), hit("a", 1, 1, "x")}, []kept{{"a", 1, 4, 1}}},
		{"also when the run comes later", []Hit{hit("a", 1, 1, "x"), hit("a~r", 9, 5, "x")}, []kept{{"a", 1, 4, 1}}},
		{"equal scores: the newest first", []Hit{hit("a", 1, 1, "x"), hit("b", 2, 1, "y")}, []kept{{"b", 2, 1, 0}, {"a", 1, 1, 0}}},
	} {
		var got []kept
		for _, h := range fold(slices.Clone(c.hits)) {
			got = append(got, kept{h.Session, h.Time.Day(), h.Score, h.Copies})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestSpreadLowersFurtherHitsOfAStepAndATurn(t *testing.T) {
	at := func(turn, step int, score float64) Hit {
		return Hit{Ref: archive.Ref{Session: "a", Turn: turn, Step: step}, Score: score}
	}
	hits := spread([]Hit{at(1, 1, 8), at(1, 1, 8), at(1, 1, 8), at(1, 2, 3), at(2, 1, 5)})
	var got []float64
	for _, h := range hits {
		got = append(got, h.Score)
	}
	// A second hit of a step counts half, one of a turn a little less.
	want := []float64{8, 5, 8 * sameStepFactor * sameTurnFactor, 3 * sameTurnFactor * sameTurnFactor * sameTurnFactor, 8 * sameStepFactor * sameStepFactor * sameTurnFactor * sameTurnFactor}
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
		t.Errorf("scores %v, want %v", got, want)
	}
}

// A long text is split into chunks of the largest passage size that cover it.
func TestChunksCoverTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fill := rapid.SampledFrom([]string{"x", "é", "日本", "🙂", " ", "\n", strings.Repeat("long", 30), strings.Repeat("words and ", 50) + "\n"}).Draw(t, "fill")
		var b strings.Builder
		for i := range rapid.IntRange(0, 5*archive.MaxPassage/(6+len(fill))).Draw(t, "times") {
			fmt.Fprintf(&b, "%06d%s", i, fill) // each part is unique
		}
		text, from, end, n := b.String(), 0, 0, 0
		for piece := range chunks(text) {
			if len(piece) > archive.MaxPassage || !utf8.ValidString(piece) {
				t.Fatalf("a chunk of %d bytes", len(piece))
			}
			at := strings.Index(text, piece)
			if at < 0 || at > end || n == 0 && at != 0 || n > 0 && (at <= from || at > end-chunkOverlap) {
				t.Fatalf("piece %d begins at %d; the previous one is at %d to %d", n, at, from, end)
			}
			from, end = at, at+len(piece)
			n++
		}
		if strings.TrimSpace(text[end:]) != "" {
			t.Fatalf("the chunks end at %d of %d", end, len(text))
		}
	})
}

func TestNearWordsAreInOneChunk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fill := rapid.SampledFrom([]string{"x", "word ", "a line of text\n", "日"}).Draw(t, "fill")
		before := strings.Repeat(fill, rapid.IntRange(0, 4*archive.MaxPassage/len(fill)).Draw(t, "before"))
		between := strings.Repeat(fill, rapid.IntRange(0, (chunkOverlap-40)/len(fill)).Draw(t, "between"))
		after := strings.Repeat(fill, rapid.IntRange(0, 2*archive.MaxPassage/len(fill)).Draw(t, "after"))
		text := before + "<first>" + between + "<second>" + after
		for piece := range chunks(text) {
			if strings.Contains(piece, "<first>") && strings.Contains(piece, "<second>") {
				return
			}
		}
		t.Fatalf("%d bytes apart, after %d, they are in no common chunk", len(between), len(before))
	})
}

func TestChunks(t *testing.T) {
	full := strings.Repeat("x", archive.MaxPassage)
	for _, c := range []struct {
		name, text string
		want       []int // lengths
	}{
		{"nothing", "", nil},
		{"blanks", " \n\t ", nil},
		{"short", "x", []int{1}},
		{"as long as may be", full, []int{archive.MaxPassage}},
		{"one byte more", full + "y", []int{archive.MaxPassage, chunkOverlap + 1}},
	} {
		var got []int
		for p := range chunks(c.text) {
			got = append(got, len(p))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: pieces of %v bytes, want %v", c.name, got, c.want)
		}
	}
	for range chunks(full + full) {
		break // an early end
	}
}

// A snippet is one line of at most the given width, and its marks are words of the
// query.
func TestSnippetProperties(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"retry", "parseConfig", "the policy", "日本語のテキスト", "\x1b[31mred", "\u202e", "🙂", "\xff", "\n\n", "x_y.z", strings.Repeat("word ", 30)}),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), " ")
		query := terms.Query(rapid.SampledFrom([]string{"retry", "config policy", "日本", "zebra", "x*", ""}).Draw(t, "query"))
		width := rapid.IntRange(-1, 80).Draw(t, "width")
		got, marks := Snippet(text, query, width)
		if n := utf8.RuneCountInString(got); n > max(width, 0) {
			t.Fatalf("%d characters of %d: %q", n, width, got)
		}
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) || r == 0x202e }) {
			t.Fatalf("%q contains terminal control characters", got)
		}
		last := 0
		for _, m := range marks {
			if m.From < last || m.To <= m.From || m.To > len(got) || !utf8.ValidString(got[m.From:m.To]) {
				t.Fatalf("mark %+v after %d in %q", m, last, got)
			}
			last = m.To
		}
		open := Highlight(got, marks, func(s string) string { return "[" + s + "]" })
		if strings.Count(open, "[")-strings.Count(got, "[") != len(marks) || len(open) != len(got)+2*len(marks) {
			t.Fatalf("%d marks in %q", len(marks), open)
		}
	})
}

// Phrases are compared without case and with runs of white space as one blank.
func TestContainsAll(t *testing.T) {
	for _, c := range []struct {
		text    string
		phrases []string
		want    bool
	}{
		{"anything", nil, true},
		{"Exit  Code\n1", []string{"exit code 1"}, true},
		{"exit code", []string{"exit code 1"}, false},
		{"a b c", []string{"a b", "b c"}, true},
		{"a b d", []string{"a b", "b c"}, false},
		{"", []string{"x"}, false},
	} {
		if got := containsAll(c.text, c.phrases); got != c.want {
			t.Errorf("%q contains %q: %v", c.text, c.phrases, got)
		}
	}
}

func TestTouches(t *testing.T) {
	for _, c := range []struct {
		path, want string
		touched    bool
	}{
		{"/w/internal/store/lock.go", "store/lock.go", true},
		{"/w/internal/store/lock.go", "LOCK.go", true},
		{`C:\src\Store\lock.go`, "store/lock.go", true},
		{"/w/store/lock.go", `store\lock.go`, true},
		{"/w/store/lock.go", "store", true},
		{"/w/store/lock.go", "lock.py", false},
		{"", "x", false},
	} {
		if got := touches(archive.Passage{Paths: []string{c.path}}, []string{"nothing.else", c.want}); got != c.touched {
			t.Errorf("%q touches %q: %v", c.path, c.want, got)
		}
	}
	if touches(archive.Passage{}, []string{"x"}) {
		t.Error("a passage without a path touches a file")
	}
}

// A deep search uses the typed words in lower case, without punctuation around them,
// and the phrases.
func TestNeedles(t *testing.T) {
	for _, c := range []struct {
		req  Request
		want []string
	}{
		{Request{}, nil},
		{Request{Text: "Retry policy"}, []string{"retry", "policy"}},
		{Request{Text: `"Exit  code" of make`, Phrases: []string{"Exit  code"}}, []string{"exit code", "of", "make"}},
		{Request{Text: "what? (this), pars*: x"}, []string{"what", "this", "pars"}},
		{Request{Text: `say "hello`}, []string{"say", "hello"}},
		{Request{Text: "v1.26.8 a.go:12"}, []string{"v1.26.8", "a.go:12"}},
	} {
		if got := needles(c.req); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.req, got, c.want)
		}
	}
}

func TestFileTerms(t *testing.T) {
	for _, c := range []struct {
		path string
		only bool
		want []archive.Term
	}{
		{"internal/store/lock.go", true, []archive.Term{{Text: "lock.go", Weight: fileWeight, Must: true, Prefix: true}}},
		{`C:\src\lock.go`, false, []archive.Term{{Text: "lock.go", Weight: fileWeight, Prefix: true}}},
		{"store/", true, []archive.Term{{Text: "store", Weight: fileWeight, Must: true, Prefix: true}}},
		{"///", true, nil},
	} {
		if got := fileTerm(c.path, c.only); !slices.Equal(got, c.want) {
			t.Errorf("%q: %+v, want %+v", c.path, got, c.want)
		}
	}
}

func TestEveryFilterHasAnExample(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, name := range []string{"project", "file", "kind", "since", "until", "session"} {
		_, err := Parse(name+": x", now)
		if archive.ErrorCode(err) != archive.CodeInvalid || !strings.Contains(archive.ErrorHint(err), name+":") {
			t.Errorf("%s: without a value: %v, %q", name, err, archive.ErrorHint(err))
		}
		if _, err := Parse(example(name), now); err != nil {
			t.Errorf("the example %q: %v", example(name), err)
		}
	}
}
