package embed

import (
	"math"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestChunks(t *testing.T) {
	letters := strings.Repeat("x", 3000)
	for _, test := range []struct {
		name, text string
		want       []int // characters of each chunk
	}{
		{"nothing", "", nil},
		{"blanks", " \n\t ", nil},
		{"a word", "  word\n", []int{4}},
		{"just fits", letters[:700], []int{700}},
		{"one too many", letters[:701], []int{700, 176}},
		{"two steps and a bit", letters[:1300], []int{700, 700, 250}},
		{"blanks count once", strings.Repeat("x   ", 350), []int{699}},
		{"characters, not bytes", strings.Repeat("ä", 700), []int{700}},
	} {
		var got []int
		for _, c := range Chunks(test.text) {
			got = append(got, utf8.RuneCountInString(c))
		}
		if len(got) != len(test.want) {
			t.Errorf("%s: pieces of %v, want %v", test.name, got, test.want)
			continue
		}
		for i := range got {
			if got[i] != test.want[i] {
				t.Errorf("%s: pieces of %v, want %v", test.name, got, test.want)
				break
			}
		}
	}
}

// The chunks contain every word of a text, none is too long, and they match the
// definition.
func TestChunksCover(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(rapid.StringOfN(rapid.RuneFrom([]rune("ab \nä🎉")), 0, 40, -1).Draw(t, "text"), rapid.IntRange(0, 80).Draw(t, "times"))
		flat := []rune(strings.Join(strings.FieldsFunc(text, unicode.IsSpace), " "))
		var want []string
		for from := 0; from < len(flat); from += ChunkStep {
			to := min(from+ChunkSize, len(flat))
			want = append(want, string(flat[from:to]))
			if to == len(flat) {
				break
			}
		}
		got := Chunks(text)
		if len(got) != len(want) {
			t.Fatalf("%d pieces, want %d", len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("piece %d: %q, want %q", i, got[i], want[i])
			}
		}
	})
}

func TestNormalise(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, test := range []struct {
		v  []float32
		ok bool
	}{
		{nil, false}, {[]float32{0, 0}, false}, {[]float32{nan, 1}, false}, {[]float32{inf, 1}, false},
		{[]float32{3, 4}, true}, {[]float32{-1e-20, 0}, true}, {[]float32{1e30, 1e30}, true},
	} {
		v := append([]float32(nil), test.v...)
		if ok := Normalise(v); ok != test.ok {
			t.Errorf("%v: %v", test.v, ok)
		}
		if test.ok && math.Abs(Cosine(v, v)-1) > 1e-6 {
			t.Errorf("%v becomes %v", test.v, v)
		}
	}
}
