package recall

import (
	"time"

	"strandline/internal/archive"
)

// Result is the answer to a search, in the shape of search --json.
type Result struct {
	Query  string  `json:"query"`
	TookMS float64 `json:"took_ms"`
	Hits   []Hit   `json:"hits"` // best first, never nil
	// Relaxed says how the query was read more loosely because nothing matched
	// it as it was typed; empty if it was not.
	Relaxed Relaxed `json:"relaxed,omitempty"`
	// When is what the query said about time, if the hits are limited by it.
	When *When `json:"when,omitempty"`
	// Corrected lists the words that no passage holds and what was looked for in
	// their place.
	Corrected []Correction `json:"corrected,omitempty"`
	// Elsewhere reports that nothing matched in the projects asked for and
	// something would in others.
	Elsewhere bool `json:"elsewhere,omitempty"`
	// InAgents and Rewound report that nothing matched and something would in
	// sub-agents' runs, or in turns that a rewind left behind.
	InAgents bool `json:"in_agents,omitempty"`
	Rewound  bool `json:"rewound,omitempty"`
	// Notes tell what searching by meaning had to do without: a model that does
	// not answer, vectors that are not made yet.
	Notes []string `json:"notes,omitempty"`
	// Terms are what the passages were matched with, for highlighting.
	Terms []archive.Term `json:"-"`
}

// Relaxed names a looser reading of a query.
type Relaxed string

// The readings, in the order they are tried. Filters are never given up.
const (
	// RelaxedPhrase looks for the words of a phrase apart from each other.
	RelaxedPhrase Relaxed = "phrase"
	// RelaxedPrefix takes each word as the beginning of a longer one.
	RelaxedPrefix Relaxed = "prefix"
)

// Hit is one passage that matched.
type Hit struct {
	Handle   string              `json:"handle"`
	Session  string              `json:"session"`
	Project  string              `json:"project"`          // the project's name, else its key
	Author   string              `json:"author,omitempty"` // who brought it to a team's archive
	Kind     archive.PassageKind `json:"kind"`
	Time     time.Time           `json:"time"`
	LineFrom int                 `json:"line_from"` // 0-based line of the transcript, -1: stands in none
	LineTo   int                 `json:"line_to"`   // one past the last line
	Score    float64             `json:"score"`     // higher is better, comparable within one answer
	Text     string              `json:"text"`      // the passage whole
	// Deep says that the text comes from the log and is not in the index.
	Deep bool `json:"deep,omitempty"`
	// Related says that the passage was found by what it means, not by its words.
	// It may have nothing to do with the query.
	Related bool `json:"related,omitempty"`
	// Copies counts the other passages that say the same and were folded.
	Copies int `json:"copies,omitempty"`
	// Why says what the score is made of.
	Why ScoreParts `json:"-"`
	// Explanation is what Explain made of Why.
	Explanation *Explanation `json:"why,omitempty"`
	// Ref is the place as the store names it, and Label what the passage says
	// about itself.
	Ref   archive.Ref `json:"-"`
	Label string      `json:"-"`
	Paths []string    `json:"-"`
	id    int64       // the store's number of the passage, 0 for none
}

// turn is the place of a hit's whole turn.
func (h *Hit) turn() archive.Ref {
	turn := h.Ref
	turn.Step = wholeTurn
	return turn
}

// newHit makes a hit of a store's.
func newHit(h archive.Hit) Hit {
	project := h.Project.Name
	if project == "" {
		project = h.Project.Key
	}
	ref := archive.Ref{Session: h.Passage.Session, Turn: h.Turn, Step: h.Step}
	return Hit{
		Handle: ref.Handle(), Session: h.Passage.Session, Project: project, Author: h.Author, Kind: h.Kind, Time: h.Time,
		LineFrom: h.LineFrom, LineTo: h.LineTo, Score: h.Score, Text: h.Text, Why: ScoreParts{Evidence: h.Evidence},
		Ref: ref, Label: h.Label, Paths: h.Paths, id: h.ID,
	}
}
