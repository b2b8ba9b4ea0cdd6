package index_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"strandline/internal/index"
)

func TestListsRoundTrip(t *testing.T) {
	t.Parallel()
	for _, want := range [][]string{
		nil, {"a.go"}, {"a.go", "b.go"}, {""}, {"", ""}, {`say "hi"`}, {`C:\dir\a.go`}, {"a<b>&c"}, {"a\",\"b"}, {"größe.go", "決済.go"}, {"tab\tand\nnewline"}, {","}, {"[", "]"},
	} {
		got, err := index.DecodeList(index.EncodeList(want))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q came back as %q, %v", want, got, err)
		}
	}
	if _, err := index.DecodeList(`["a`); err == nil {
		t.Error("half a list is decoded")
	}
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.StringMatching(`[a-z"\\,\[\]<é ]{0,6}`)).Draw(t, "list")
		if got, err := index.DecodeList(index.EncodeList(want)); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q came back as %q, %v", want, got, err)
		}
	})
}
