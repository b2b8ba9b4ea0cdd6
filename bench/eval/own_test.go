package eval

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"strandline/internal/recall"
)

// A change of the ranking is a diff to read:
//
//	go test ./bench/eval -run Golden -update
func updating() bool { return flag.Lookup("update").Value.String() == "true" }

func TestMain(m *testing.M) {
	flag.Bool("update", false, "write the rankings as they are now into testdata")
	os.Exit(m.Run())
}

// rankings says for each question of a group where its answers are, and the first
// hits.
func rankings(t *testing.T, g *group) string {
	t.Helper()
	var out strings.Builder
	for _, sys := range []System{Lexical(time.Now), Fused(time.Now)} {
		fmt.Fprintf(&out, "# %s\n", sys.Name)
		for i := range g.questions {
			q := &g.questions[i]
			req, err := recall.Parse(q.text, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			req.Limit = 10
			res, err := sys.search(t.Context(), g.world, req)
			if err != nil {
				t.Fatal(err)
			}
			rank := "not found"
			for r, h := range res.Hits {
				if q.gold[g.answers(h)[0]] {
					rank = fmt.Sprintf("rank %d", r+1)
					break
				}
			}
			fmt.Fprintf(&out, "\n%s: %s\n", q.text, rank)
			for _, h := range res.Hits[:min(3, len(res.Hits))] {
				text, _ := recall.Snippet(h.Text, res.Terms, 70)
				mark := ""
				if h.Related {
					mark = " related"
				}
				fmt.Fprintf(&out, "  %-8s %-7s%s %s\n", g.answers(h)[0], h.Kind, mark, text)
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// The rankings of the bundled set: for each question the ranks of its answers,
// and the first hits.
func TestGoldenRankings(t *testing.T) {
	s, err := own(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	have := rankings(t, &s.groups[0])
	if err := s.close(); err != nil {
		t.Error(err)
	}
	path := filepath.Join("testdata", "rankings.txt")
	if updating() {
		writeFile(t, path, have)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if have != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("the rankings differ from %s; look at the diff after: go test ./bench/eval -run Golden -update\n%s", path, have)
	}
}

// What shares no word with a question is found by its meaning, and marked.
func TestRelatedPassagesAreMarked(t *testing.T) {
	s, err := own(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}()
	w := s.groups[0].world
	ask := func(q string, limit int) recall.Result {
		t.Helper()
		req, err := recall.Parse(q, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		req.Limit = limit
		res, err := Fused(time.Now).search(t.Context(), w, req)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	long := recall.Request{Query: "the gateway, a session, a test and the index of the clock", Text: "the gateway, a session, a test and the index of the clock", Limit: depth}
	if res, err := Ten(time.Now).search(t.Context(), w, long); err != nil || len(res.Hits) != recall.DefaultLimit {
		t.Errorf("%d hits of ten: %v", len(res.Hits), err)
	}
	count := func(res recall.Result) (related int) {
		for i, h := range res.Hits {
			if h.Related {
				related++
			}
			if i > 0 && res.Hits[i-1].Score < h.Score {
				t.Errorf("hit %d is out of order", i)
			}
		}
		return related
	}
	if res := ask("cryptography securely", 10); len(res.Hits) == 0 || count(res) != len(res.Hits) || len(res.Hits) > 5 {
		t.Errorf("words that stand nowhere: %d hits, %d of them related", len(res.Hits), count(res))
	}
	if res := ask("authentication failure test", 5); len(res.Hits) != 5 || count(res) == 0 {
		t.Errorf("many matches: %d hits, %d of them related", len(res.Hits), count(res))
	}
	if res := ask("cryptography passwords test", 5); len(res.Hits) != 5 || count(res) != 0 {
		t.Errorf("many matches, one of them nearer than what is related: %d hits, %d of them related", len(res.Hits), count(res))
	}
	if res := ask("speed up the nightly build", 10); count(res) == 0 || count(res) == len(res.Hits) {
		t.Errorf("few matches: %d hits, %d of them related", len(res.Hits), count(res))
	}
	if res := ask("the gateway and the session", 3); count(res) != 0 {
		t.Errorf("three hits: %d of them related", count(res))
	}
	if res := ask("retry gateway", 10); count(res) != 0 {
		t.Errorf("one hit holds all words: %d of %d hits are related", count(res), len(res.Hits))
	}
	if res := ask("E0382", 10); count(res) != 0 {
		t.Errorf("an error code: %d related hits", count(res))
	}
}
