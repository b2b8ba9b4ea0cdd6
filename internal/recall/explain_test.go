package recall_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/recall"
)

func TestExplain(t *testing.T) {
	a := said(alpha, 1, 0, "we validated the lock before the write")
	a.Paths = []string{"/w/store/retry.go", "/w/README.md"}
	res := mustSearch(t, newStore(a), parsed(t, "validate retry nothing"))
	if len(res.Hits) != 1 || res.Hits[0].Explanation != nil {
		t.Fatalf("before: %+v", res.Hits)
	}
	res.Hits[0].Why = recall.ScoreParts{Evidence: archive.Evidence{Words: 1, Turn: 0.5}, Meaning: 0.25}
	res.Explain()
	b := res.Hits[0].Explanation
	if !slices.Equal(b.Terms, []string{"validate", "retry"}) || !slices.Equal(b.Paths, []string{"/w/store/retry.go"}) {
		t.Errorf("terms %q, paths %q", b.Terms, b.Paths)
	}
	line := b.String()
	for _, want := range []string{"contains validate, retry", "words 1.00", "turn 0.50", "meaning 0.25"} {
		if !strings.Contains(line, want) {
			t.Errorf("%q has no %q", line, want)
		}
	}
	if strings.Contains(line, "before") {
		t.Errorf("%q contains a part that is 0", line)
	}
	data, err := json.Marshal(res)
	if err != nil || !strings.Contains(string(data), `"why":{"terms":["validate","retry"],"paths":["/w/store/retry.go"],"words":1,`) {
		t.Errorf("%s, %v", data, err)
	}
}
