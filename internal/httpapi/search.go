package httpapi

import (
	"context"
	"unicode/utf16"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/recall"
)

// Figures of a search.
const (
	searchHits    = 20
	searchMost    = 100
	searchReach   = 500 // hits that pages lead to
	snippetLength = 280 // characters
)

func searchParams() []param {
	kinds := make([]string, 0, len(archive.PassageKinds()))
	for _, k := range archive.PassageKinds() {
		kinds = append(kinds, string(k))
	}
	return []param{
		{name: "q", required: true, says: `words, "quoted words", beginnings*, and filters such as file: kind: since: project: session:`},
		projectParam(),
		{name: "session", kind: isHandle, says: "only this session"},
		sinceParam(),
		{name: "kind", many: true, oneOf: kinds, says: "only these kinds of passage"},
		agentsParam(),
		{name: "rewound", kind: isFlag, says: "turns that a rewind left behind as well"},
		{name: "deep", kind: isFlag, says: "also read the logs for what the index holds only in part"},
		{name: "explain", kind: isFlag, says: "say of each hit why it was found"},
		limitParam(searchHits, searchMost), cursorParam(),
	}
}

// hit is a hit with the part of it that shows why.
type hit struct {
	recall.Hit
	Snippet string `json:"snippet"`
	// Marks are the parts of the snippet that match: from and to in UTF-16 units.
	Marks [][2]int `json:"marks"`
}

// searchAnswer is what a search found. Its fields are those of `search --json`, and
// where the hits go on.
type searchAnswer struct {
	recall.Result
	Hits []hit  `json:"hits"`
	Next string `json:"next,omitempty"`
}

func (s *Server) search(ctx context.Context, c *call) (searchAnswer, error) {
	from := c.offset()
	since, err := c.since("since")
	if err != nil {
		return searchAnswer{}, err
	}
	limit := c.number("limit", searchHits)
	ask := app.SearchAsk{
		Query: c.text("q"), Project: c.text("project"), Session: c.text("session"), Since: since,
		Agents: c.flag("agents"), Rewound: c.flag("rewound"), Deep: c.flag("deep"), Explain: c.flag("explain"),
		Limit: min(from+limit+1, searchReach),
	}
	for _, k := range c.query["kind"] {
		ask.Kinds = append(ask.Kinds, archive.PassageKind(k))
	}
	found, err := s.opts.Archive.Search(ctx, ask)
	if err != nil {
		return searchAnswer{}, err
	}
	hits := found.Hits[min(from, len(found.Hits)):]
	out := searchAnswer{Hits: make([]hit, 0, min(limit, len(hits)))}
	if len(hits) > limit {
		hits, out.Next = hits[:limit], cursorAt(from+limit)
	}
	for _, h := range hits {
		h.Text = s.opts.Redact(h.Text) // before it is cut
		text, marks := recall.Snippet(h.Text, found.Terms, snippetLength)
		out.Hits = append(out.Hits, hit{Hit: h, Snippet: text, Marks: units(text, marks)})
	}
	found.Hits = nil
	out.Result = found
	return out, nil
}

// units are marks in UTF-16 units, as a page counts them.
func units(text string, marks []recall.Mark) [][2]int {
	out := make([][2]int, 0, len(marks))
	at, n := 0, 0
	count := func(to int) int {
		for _, r := range text[at:to] {
			n += utf16.RuneLen(r)
		}
		at = to
		return n
	}
	for _, m := range marks {
		from := count(m.From)
		out = append(out, [2]int{from, count(m.To)})
	}
	return out
}
