package foresight_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"strandline/bench/foresight"
)

func TestSpecifics(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"look at internal/store/sqlite.go now": "sqlite.go",
		"in web/app":                           "web/app", // its last element is short
		"pass --dry-run and --no-color":        "dry-run no-color",
		"call os.ReadFile or parse_row":        "os.ReadFile parse_row",
		"the readFile of FileReader":           "FileReader readFile",
		"since v1.24.3, commit 5a186a7":        "5a186a7 v1.24.3",
		"only ordinary words, 12345 and 3.14":  "",
	} {
		set := map[string]bool{}
		foresight.NewRuler().Specifics(text, set)
		if got := strings.Join(slices.Sorted(maps.Keys(set)), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestConveyed(t *testing.T) {
	t.Parallel()
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "name_%03d\n", i)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		block string
		want  int
	}{
		"a sentence with three words":       {"the function parse_row reads os.File and next_row", 3},
		"a list of names":                   {"parse_row, next_row, last_row", 0},
		"one name alone":                    {"parse_row", 1},
		"sixty names, one a line":           {many(60), 60},
		"more lines of one name than sixty": {many(90), 60},
		"nothing":                           {"", 0},
	} {
		if got := len(foresight.NewRuler().Conveyed(c.block)); got != c.want {
			t.Errorf("%s: %d specifics, want %d", name, got, c.want)
		}
	}
}

// rows writes a transcript.
func rows(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func said(role, text string) string {
	return fmt.Sprintf(`{"type":%q,"message":{"content":%q}}`, role, text)
}

// names is a text that names the specifics with the numbers [from, to).
func names(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "the name_%03d is said here. ", i)
	}
	return b.String()
}

func TestCutsOfACompactedSession(t *testing.T) {
	t.Parallel()
	path := rows(t, "compacted",
		said("user", names(0, 20)),
		"no JSON at all",
		said("assistant", names(10, 20)),
		`{"type":"system","subtype":"compact_boundary"}`,
		`{"type":"user","isCompactSummary":true,"message":{"content":"the summary contains name_000 only"}}`,
		`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"run name_000 name_001 name_002 name_003 name_004 name_005 name_006 name_007 name_008"}},{"type":"tool_use","name":"Read","input":{"path":["name_019"]}}]}}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","content":"name_009 is in a result"}]}}`,
		`{"type":"assistant","isSidechain":true,"message":{"content":"name_011 is a sub-agent's"}}`,
		said("assistant", "the unheard_of name is new"),
		`{"type":"system","subtype":"compact_boundary"}`, // no summary, so ours
	)
	s, err := foresight.Read(path, foresight.NewRuler())
	if err != nil {
		t.Fatal(err)
	}
	cuts := s.Cuts()
	if len(cuts) != 1 || cuts[0].Line != 3 || cuts[0].Session != "compacted" || !strings.Contains(cuts[0].Summary, "contains") {
		t.Fatalf("got %+v", cuts)
	}
	want := map[string]float64{}
	for i := range 9 {
		want[fmt.Sprintf("name_%03d", i)] = math.Log(3) // one of two messages knew it
	}
	want["name_019"] = math.Log(2)
	if !maps.Equal(cuts[0].Needed, want) {
		t.Errorf("needed %v, want %v", cuts[0].Needed, want)
	}
	if got := cuts[0].Share(foresight.NewRuler(), "it was name_019 that was meant here"); math.Abs(got-math.Log(2)/(9*math.Log(3)+math.Log(2))) > 1e-9 {
		t.Errorf("share %v", got)
	}
	if len(s.MadeUp()) != 0 {
		t.Error("a compacted session is cut where it was not compacted")
	}
}

func TestMadeUpCuts(t *testing.T) {
	t.Parallel()
	var lines []string
	for range 10 {
		lines = append(lines, said("user", names(0, 12)+strings.Repeat("many more words ", 1300)))
	}
	s, err := foresight.Read(rows(t, "plain", lines...), foresight.NewRuler())
	if err != nil {
		t.Fatal(err)
	}
	var at []int
	for _, c := range s.MadeUp() {
		at = append(at, c.Line)
	}
	if !slices.Equal(at, []int{4, 6, 8}) { // too little text before line 2
		t.Errorf("cut at lines %v", at)
	}
	if len(s.Cuts()) != 0 {
		t.Error("a session without a compaction has compactions")
	}
}

func TestReadOfNoFile(t *testing.T) {
	t.Parallel()
	if _, err := foresight.Read(filepath.Join(t.TempDir(), "none.jsonl"), foresight.NewRuler()); err == nil {
		t.Error("no error")
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	cuts := []foresight.Cut{{
		Session: "7f3a12cd-0000", Line: 7, Summary: "the summary names parse_row here",
		Needed: map[string]float64{"parse_row": 3, "next_row": 1},
	}}
	var asked []string
	var out strings.Builder
	table := foresight.Table{Ruler: foresight.NewRuler(), Out: &out, Each: true, Run: func(_ context.Context, args ...string) (string, error) {
		asked = append(asked, strings.Join(args, " "))
		if args[0] == "compact" {
			return strings.Repeat("x", 99_990) + "\nthe name next_row is beyond the budget\n", nil
		}
		return "here is next_row", nil
	}}
	if err := table.Print(t.Context(), "one", cuts); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"restore --session 7f3a12cd-0000 --at-line 7 --budget 32",
		"compact --session 7f3a12cd-0000 --at-line 7 --format text --budget-tokens 28571",
	} {
		if !slices.Contains(asked, want) {
			t.Errorf("%q was not called, but %q", want, asked)
		}
	}
	for _, want := range []string{"client's summary", "0.750", "restore 7f3a12cd at line 7, 2 needed", "restore                                          0.250     0.250     0.250     0.250"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing:\n%s", want, out.String())
		}
	}
	if !strings.Contains(out.String(), "compact                                          0.000     0.000     0.000     0.000") {
		t.Errorf("what is beyond the budget counts:\n%s", out.String())
	}
	out.Reset()
	if err := table.Print(t.Context(), "nothing", nil); err != nil || out.String() != "nothing: none\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	table.Run = func(context.Context, ...string) (string, error) { return "", errors.New("no such program") }
	if err := table.Print(t.Context(), "one", cuts); err == nil {
		t.Error("a failing program is no error")
	}
}
