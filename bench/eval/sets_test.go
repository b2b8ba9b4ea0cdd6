package eval

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
)

// The large sets are not here; these are invented ones in their formats.

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const tinyLoCoMo = `[{"conversation":{"speaker_a":"Ann","speaker_b":"Bob",
 "session_1_date_time":"1:56 pm on 8 May, 2023","session_1":[
  {"speaker":"Ann","dia_id":"D1:1","text":"I adopted a parrot last week."},
  {"speaker":"Bob","dia_id":"D1:2","text":"Lovely! I was in Lisbon.","blip_caption":"a yellow tram"}],
 "session_2_date_time":"9:00 am on 1 June, 2023","session_2":[
  {"speaker":"Bob","dia_id":"D2:1","text":"The marathon is over, my knees hurt."}]},
 "qa":[
  {"question":"Which pet did Ann adopt, a parrot?","category":4,"evidence":["D1:1"]},
  {"question":"Who saw a tram and ran a marathon?","category":1,"evidence":["D:1:02; D2:01"]},
  {"question":"Nobody knows","category":5,"evidence":[]}]}]`

func TestLoCoMo(t *testing.T) {
	dir := t.TempDir()
	s, err := locomo(t.Context(), writeFile(t, filepath.Join(dir, "l.json"), tinyLoCoMo), filepath.Join(dir, "made"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}()
	figures, err := s.run(t.Context(), lexicalSystem())
	if err != nil {
		t.Fatal(err)
	}
	if got := figures["all"]; got.n != 2 || got.mrr() != 1 || got.recall[2] != 2 {
		t.Errorf("all: %+v, want both questions answered", got)
	}
	if got := figures["multi-hop"]; got == nil || got.n != 1 || got.recall[1] != 1 {
		t.Errorf("multi-hop: %+v, want both evidences found", got)
	}
	if at := s.groups[0].world; at == nil {
		t.Error("no archive")
	}
}

func lexicalSystem() System { return Lexical(time.Now) }

func TestCommits(t *testing.T) {
	dir := t.TempDir()
	talks := []talk{
		{name: "one", cwd: "/home/dev/shop", start: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), lines: []line{
			{id: "p", text: "the checkout rounds prices wrongly"}, {id: "r", text: "I round half to even now.", reply: true},
			{id: "p2", text: "now translate the invoice"}, {id: "r2", text: "Done, in German.", reply: true}}},
		{name: "two", cwd: "/home/dev/shop", start: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), lines: []line{
			{id: "q", text: "a carousel for the landing page"}}},
	}
	where, err := write(filepath.Join(dir, "client"), talks)
	if err != nil {
		t.Fatal(err)
	}
	one := talks[0].session()
	end := where[one][1].to
	var b strings.Builder
	for _, c := range []map[string]any{
		{"qid": "C1", "query": "round prices half to even", "gold": []any{map[string]any{"session": one, "line_from": 0, "line_to": end}}},
		{"qid": "C2", "query": "invoice in German", "gold": []any{map[string]any{"session": one, "line_from": end, "line_to": nil}}},
		{"qid": "C3", "query": "carousel", "subject_verbatim_in_gold": true, "gold": []any{map[string]any{"session": talks[1].session(), "line_from": 0, "line_to": 50}}},
	} {
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, string(data))
	}
	sets, err := commits(t.Context(), writeFile(t, filepath.Join(dir, "open.jsonl"), b.String()), filepath.Join(dir, "client"), filepath.Join(dir, "made"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"commits, turn": 1, "commits, passage": 2, "commits, session": 2}
	for _, s := range sets {
		figures, err := s.run(t.Context(), lexicalSystem())
		if err != nil {
			t.Fatal(err)
		}
		if got := figures[partOpen]; got.n != want[s.name] || got.mrr() != 1 {
			t.Errorf("%s: %+v, want %d questions, each with its answer first", s.name, got, want[s.name])
		}
		if got := figures[partVerbatim]; got.n != 1 {
			t.Errorf("%s: %d verbatim subjects, want 1", s.name, got.n)
		}
	}
	for _, s := range sets {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
}

func TestCoSQA(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "code_idx_map.txt"), `{"def add(a, b):\n    \"\"\"Sum of two numbers.\"\"\"\n    return a + b": 0, "def shout(s):\n    return s.upper()": 1}`)
	writeFile(t, filepath.Join(dir, "cosqa-retrieval-dev-500.json"), `[{"idx":"q1","doc":"python sum of two numbers","retrieval_idx":0},{"idx":"q2","doc":"how to make a string upper case","retrieval_idx":1}]`)
	s, err := cosqa(t.Context(), dir, filepath.Join(dir, "made"))
	if err != nil {
		t.Fatal(err)
	}
	figures, err := s.run(t.Context(), lexicalSystem())
	if err != nil {
		t.Fatal(err)
	}
	if got := figures["dev"]; got.n != 2 || got.mrr() != 1 {
		t.Errorf("dev: %+v, want both found", got)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

func TestRunPrintsTables(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	data := Data{LoCoMo: writeFile(t, filepath.Join(dir, "l.json"), tinyLoCoMo)}
	if err := Run(t.Context(), &out, data, filepath.Join(dir, "made"), []System{lexicalSystem()}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"LoCoMo: ", "| lexical | all | 2 | 1.000 |", "| lexical | open-domain | 0 | 0.000 |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table has no %q:\n%s", want, out.String())
		}
	}
	if err := Run(t.Context(), &out, Data{LoCoMo: filepath.Join(dir, "none")}, dir, nil); err == nil {
		t.Error("a file that is not there: no error")
	}
}

// Questions count by type and by the half of their session; an issue is answered by the
// earlier sessions that edited its files; BM25 alone answers both.
func TestQuestionsAndIssues(t *testing.T) {
	dir := t.TempDir()
	story := strings.Repeat("The cart must never show a price that differs from the invoice. ", 4)
	var talks []talk
	for i, task := range []string{"Round the prices of the cart\n" + story, "Round the totals half to even\n" + story + "Again.", "translate the invoice"} {
		talks = append(talks, talk{
			name: fmt.Sprint("issue", i), cwd: "/home/dev/shop", start: time.Date(2026, 3, 1+i, 9, 0, 0, 0, time.UTC),
			lines: []line{{text: task}, {text: "Half to even now.", reply: true}},
		})
	}
	where, err := write(filepath.Join(dir, "client"), talks)
	if err != nil {
		t.Fatal(err)
	}
	w, err := build(t.Context(), filepath.Join(dir, "home"), filepath.Join(dir, "client"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	}()
	last := talks[2].session()
	asked := fmt.Sprintf(`{"qid":"O1","query":"who should translate the invoice","type":"outcome","gold":[{"session":%q,"line_from":%d,"line_to":%d}]}`,
		last, where[last][0].from, where[last][1].to)
	s, parts, err := questions(t.Context(), writeFile(t, filepath.Join(dir, "q.jsonl"), asked+"\n"), w)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{partAll, partSessionsA, partSessionsB, "outcome"}; !slices.Equal(parts, want) {
		t.Errorf("rows %q, want %q", parts, want)
	}
	for _, sys := range []System{Plain(), lexicalSystem()} {
		figures, err := s.run(t.Context(), sys)
		if err != nil {
			t.Fatal(err)
		}
		if got := figures["outcome"]; got == nil || got.n != 1 || got.mrr() != 1 {
			t.Errorf("%s: %+v, want the question answered", sys.Name, got)
		}
	}
	works := []work{
		{session: talks[0].session(), task: "old", at: talks[0].start, files: []string{"cart.go"}},
		{session: talks[1].session(), task: task(talks[1].lines[0].text), at: talks[1].start, files: []string{"cart.go"}},
		{session: last, task: "new", at: talks[2].start, files: []string{"cart.go"}},
	}
	sessions := []archive.Session{{ID: talks[0].session(), First: talks[0].start}, {ID: talks[1].session(), First: talks[1].start}, {ID: last, First: talks[2].start}}
	both := issueSets(w, works[:2], sessions)
	for i, want := range []string{"Round the totals half to even", works[1].task} {
		if n := len(both[i].groups); n != 1 {
			t.Fatalf("%s: %d questions, want that of the second session", both[i].name, n)
		}
		q := both[i].groups[0].questions[0]
		if q.text != want || !q.gold[talks[0].session()] || len(q.gold) != 1 || !q.until.Equal(talks[1].start) {
			t.Errorf("%s: %+v", both[i].name, q)
		}
	}
	for _, sys := range []System{Plain(), lexicalSystem()} {
		figures, err := both[1].run(t.Context(), sys)
		if err != nil || figures[partAll].mrr() != 1 {
			t.Errorf("%s: %+v, %v, want the earlier session first", sys.Name, figures[partAll], err)
		}
	}
	if n := len(issueSets(w, works, sessions)[0].groups); n != 2 {
		t.Errorf("%d of three sessions have earlier ones", n)
	}
}
