package capture_test

import (
	"fmt"
	"strings"
	"testing"

	"strandline/internal/archive"
)

func TestConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const id = "7f3a12cd-0000-4000-8000-000000000001"
	var text strings.Builder
	for i := range 6 {
		fmt.Fprintf(&text, `{"type":"user","uuid":"u%d","message":{"role":"user","content":"line %d"}}`+"\n", i, i)
	}
	w.write(w.path(id), []byte(text.String()))
	if _, err := w.capture.Log(t.Context(), w.source(id)); err != nil {
		t.Fatal(err)
	}
	row := int64(text.Len() / 6)
	for name, c := range map[string]struct {
		from, to int
		most     int64
		want     string
	}{
		"all of it":                     {0, 0, 1 << 20, "012345"},
		"from a line to the end":        {4, 0, 1 << 20, "45"},
		"between two lines":             {1, 3, 1 << 20, "12"},
		"nothing":                       {3, 3, 1 << 20, ""},
		"the newest that fits":          {0, 0, 2*row + row/2, "45"},
		"the last part of the range":    {0, 4, row + row/2, "3"},
		"less than a line":              {0, 0, row / 2, ""},
		"a range beyond the end":        {5, 0, 3 * row, "5"},
		"from the end of the last line": {6, 0, 1 << 20, ""},
	} {
		ms, err := w.capture.Conversation(t.Context(), id, c.from, c.to, c.most)
		got := ""
		for _, m := range ms {
			got += strings.TrimPrefix(m.Text, "line ")
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
	for name, ask := range map[string]struct {
		session string
		from    int
	}{"a line that is not there": {id, 90}, "a session that is not there": {"0000", 0}} {
		if _, err := w.capture.Conversation(t.Context(), ask.session, ask.from, 0, 1); archive.ErrorCode(err) != archive.CodeNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
}
