package recall_test

import (
	"slices"
	"strings"
	"testing"

	"strandline/internal/recall"
)

func TestSearchCorrectsTypos(t *testing.T) {
	words := "authentication retry config gateway lock reconnect 404 e0382 internationalization"
	for _, test := range []struct {
		name, query string
		want        string // typed>sought
	}{
		{"as it should be", "gateway", ""},
		{"a letter is missing", "gatway", "gatway>gateway"},
		{"a letter too many", "gatewway", "gatewway>gateway"},
		{"another letter", "getaway gatewey", "gatewey>gateway"},
		{"two changed about", "reocnnect", "reocnnect>reconnect"},
		{"the first letter", "xonfig", "xonfig>config"},
		{"the first letter of a short word", "etry", ""},
		{"two slips in a long word", "authetnicaton", "authetnicaton>authentication"},
		{"two slips in a short word", "cnfgi", ""},
		{"two slips, one at the beginning", "uathenticaton", ""},
		{"a slip in a very long word", "internationaliztion", "internationaliztion>internationalization"},
		{"two slips in a very long word", "interntionalizatoin", "interntionalizatoin>internationalization"},
		{"a slip where a very long word begins", "itnernationalization", ""},
		{"a short word", "lok", ""},
		{"one of several", "retry gatway", "gatway>gateway"},
		{"a number", "4041", ""},
		{"a code", "e0383", ""},
		{"in quotes", `"gatway"`, ""},
		{"a beginning", "gatw*", ""},
		{"far from everything", "zebra", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			res := mustSearch(t, newStore(said(alpha, 1, 0, words)), parsed(t, test.query))
			var have []string
			for _, c := range res.Corrected {
				have = append(have, c.Typed+">"+c.Sought)
			}
			if got := strings.Join(have, " "); got != test.want {
				t.Errorf("corrected %q, want %q", got, test.want)
			}
			if test.want != "" && len(res.Hits) != 1 {
				t.Errorf("hits %+v", res.Hits)
			}
		})
	}
}

func TestSearchCorrectsToTheWordMostUsed(t *testing.T) {
	s := newStore(said(alpha, 1, 0, "a cache"), said(alpha, 2, 0, "cached twice, cached again"), said(alpha, 3, 0, "another cache here"))
	res := mustSearch(t, s, parsed(t, "cachee"))
	if len(res.Corrected) != 1 || res.Corrected[0].Sought != "cache" {
		t.Errorf("corrected %+v", res.Corrected)
	}
}

func TestSearchReportsCorrections(t *testing.T) {
	res := mustSearch(t, newStore(said(alpha, 1, 0, "behind the gateway")), parsed(t, "Gatway"))
	c := recall.Correction{Typed: "gatway", Sought: "gateway"}
	if !slices.Equal(res.Corrected, []recall.Correction{c}) {
		t.Fatalf("corrected %+v", res.Corrected)
	}
	if want := `No passage contains "gatway". Did you mean "gateway"? Searched for that instead.`; c.String() != want {
		t.Errorf("%q, want %q", c, want)
	}
	res.Explain()
	if line := res.Hits[0].Explanation.String(); !strings.Contains(line, "gateway was typed gatway") {
		t.Errorf("explained as %q", line)
	}
}

// Hits in other projects are reported for the corrected word as well.
func TestSearchCorrectsForOtherProjects(t *testing.T) {
	req := parsed(t, "gatway")
	req.Projects = []string{"dir:/q"}
	res := mustSearch(t, newStore(said(alpha, 1, 0, "behind the gateway")), req)
	if len(res.Hits) != 0 || !res.Elsewhere || len(res.Corrected) != 1 {
		t.Errorf("%+v", res)
	}
}

// An unknown word is replaced by a synonym, even if a similar word exists.
func TestSearchUsesSynonyms(t *testing.T) {
	s := newStore(said(alpha, 1, 0, "the signin page"), said(alpha, 2, 0, "a logic page"))
	for query, want := range map[string]string{"login": "signin", "signin": "", "logout": "", `"login"`: ""} {
		got := ""
		for _, c := range mustSearch(t, s, parsed(t, query)).Corrected {
			got += c.Sought
			if said := c.String(); !c.Kin || strings.Contains(said, "Did you mean") || !strings.Contains(said, "synonym") {
				t.Errorf("%+v is reported as %q", c, said)
			}
		}
		if got != want {
			t.Errorf("%s: sought %q, want %q", query, got, want)
		}
	}
	res := mustSearch(t, s, parsed(t, "login"))
	res.Explain()
	if line := res.Hits[0].Explanation.String(); !strings.Contains(line, "signin in place of login") {
		t.Errorf("explained as %q", line)
	}
}

// A query whose words are in one passage needs no word lookups, and one with many
// unknown words few.
func TestSearchLooksUpWordsSparingly(t *testing.T) {
	s := newStore(said(alpha, 1, 0, "the retry policy of the gateway"))
	s.covered = 1
	mustSearch(t, s, parsed(t, "retry gateway"))
	if s.counted != 0 {
		t.Errorf("%d words were looked up for words that are there", s.counted)
	}
	s.covered = 0
	res := mustSearch(t, s, parsed(t, "retri polici gatewai polcy gatewya retyr gatwaye"))
	if len(res.Corrected) != 4 {
		t.Errorf("corrected %+v", res.Corrected)
	}
}
