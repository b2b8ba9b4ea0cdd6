package compact_test

import (
	"context"
	"slices"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/compact"
)

// removalRows are the passages and calls of one session.
type removalRows struct {
	passages []archive.Passage
	calls    []archive.Call
}

func (r removalRows) Passages(_ context.Context, s archive.PassageSpan) ([]archive.Passage, error) {
	return archive.Select(r.passages, func(p archive.Passage) bool { return p.Turn >= s.TurnFrom && slices.Contains(s.Kinds, p.Kind) }), nil
}

func (r removalRows) Calls(context.Context, archive.CallSpan) ([]archive.Call, error) {
	return r.calls, nil
}

// A statement is out of date from the edit that removes a name in it, until the name is back.
func TestFindRemoval(t *testing.T) {
	row := func(line int, kind archive.PassageKind, text string) archive.Passage {
		return archive.Passage{Session: "7f3a12cd-1", Turn: line / 10, Step: line % 10, Kind: kind, Text: text, Paths: []string{"a.go"}, LineFrom: line}
	}
	edit := func(line int, old, added string) archive.Passage {
		return row(line, archive.KindEdit, "Edit /w/a.go\n--- old\n"+old+"\n+++ new\n"+added)
	}
	removes := edit(12, "return fileExists(path)", "return open(path)")
	for name, test := range map[string]struct {
		statement string
		line      int
		rows      removalRows
		want      string
	}{
		"removed":                {"The cause is fileExists.", 11, removalRows{passages: []archive.Passage{removes}}, "later changed: 7f3a12cd/1.2 removed fileExists"},
		"before the statement":   {"The cause is fileExists.", 13, removalRows{passages: []archive.Passage{removes}}, ""},
		"no name":                {"The cause is unclear.", 11, removalRows{passages: []archive.Passage{removes}}, ""},
		"announced":              {"I remove fileExists now.", 11, removalRows{passages: []archive.Passage{removes}}, ""},
		"added again":            {"The cause is fileExists.", 11, removalRows{passages: []archive.Passage{removes, edit(25, "x()", "fileExists(y)")}}, ""},
		"seen again":             {"The cause is fileExists.", 11, removalRows{passages: []archive.Passage{removes, row(14, archive.KindOutput, "b.go: fileExists(z)")}}, ""},
		"seen before":            {"The cause is fileExists.", 3, removalRows{passages: []archive.Passage{row(5, archive.KindOutput, "fileExists(z)"), removes}}, "later changed: 7f3a12cd/1.2 removed fileExists"},
		"the edit failed":        {"The cause is fileExists.", 11, removalRows{[]archive.Passage{removes}, []archive.Call{{LineUse: 12}}}, ""},
		"moved in the same edit": {"The cause is fileExists.", 11, removalRows{passages: []archive.Passage{edit(12, "a(fileExists)\nb()", "b()\na(fileExists)")}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := compact.FindRemoval(t.Context(), test.rows, archive.Ref{Session: "7f3a12cd-1", Turn: test.line / 10}, test.line, test.statement)
			have := ""
			if got != nil {
				have = got.String()
			}
			if err != nil || have != test.want {
				t.Errorf("%q, %v, want %q", have, err, test.want)
			}
		})
	}
}
