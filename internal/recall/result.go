package recall

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// Result is the answer to a search. Its JSON is that of search --json.
type Result struct {
	Query  string  `json:"query"`
	TookMS float64 `json:"took_ms"`
	Hits   []Hit   `json:"hits"` // best first, never nil
	// Relaxed says how the query was relaxed because nothing matched it as typed.
	Relaxed Relaxed `json:"relaxed,omitempty"`
	// When is the time in the query's words, if it limits the hits.
	When *When `json:"when,omitempty"`
	// Corrected lists the words that no passage contains and their replacements.
	Corrected []Correction `json:"corrected,omitempty"`
	// Elsewhere reports that nothing matched in the requested projects, but other
	// projects have hits.
	Elsewhere bool `json:"elsewhere,omitempty"`
	// Others are the other projects with hits and their number, the most first.
	Others []OtherProject `json:"others,omitempty"`
	// InAgents and Rewound report that nothing matched, but there are hits in
	// sub-agents' sessions, or in turns before a rewind.
	InAgents bool `json:"in_agents,omitempty"`
	Rewound  bool `json:"rewound,omitempty"`
	// Notes list problems of the search by meaning: a model that does not answer,
	// missing vectors.
	Notes []string `json:"notes,omitempty"`
	// More counts the hits of a session that Request.PerSession left out, as far as they
	// were found, by its ID.
	More map[string]int `json:"-"`
	// Remembered are notes of the user that match, best first.
	Remembered []Note `json:"remembered,omitempty"`
	// Terms are the terms that the passages were matched with, for highlighting.
	Terms []archive.Term `json:"-"`
	// Incomplete means that a search of the logs ended at its time limit.
	Incomplete bool           `json:"incomplete,omitempty"`
	pattern    *regexp.Regexp // of a search by regular expression, or nil
}

// OnlyRelated reports that there are hits, and none contains a word of the query.
func (r Result) OnlyRelated() bool {
	return len(r.Hits) > 0 && !slices.ContainsFunc(r.Hits, func(h Hit) bool { return !h.Related })
}

// OtherProject is a project that was not searched and has hits.
type OtherProject struct {
	Project string `json:"project"` // name, or else key
	Hits    int    `json:"hits"`    // among the best maxOtherHits
}

// maxOtherHits is how many hits in other projects are counted.
const maxOtherHits = 50

// OthersText names the other projects with hits, as "12 in shop, 1 in notes".
func (r Result) OthersText() string {
	const most = 3
	var parts []string
	for _, o := range r.Others[:min(len(r.Others), most)] {
		parts = append(parts, fmt.Sprintf("%d in %s", o.Hits, o.Project))
	}
	if len(r.Others) > most {
		parts = append(parts, "more in others")
	}
	return strings.Join(parts, ", ")
}

// Relaxed names a looser interpretation of a query.
type Relaxed string

// The interpretations, in the order they are tried. Filters always apply.
const (
	RelaxedWritten Relaxed = "written" // code need not be contained as it is written
	RelaxedPhrase  Relaxed = "phrase"  // the words of phrases need not be adjacent
	RelaxedPrefix  Relaxed = "prefix"  // each word is a prefix
	RelaxedLogs    Relaxed = "logs"    // from the logs: the index holds these texts in part
)

// Hit is a matching passage.
type Hit struct {
	Handle   string              `json:"handle"`
	Session  string              `json:"session"`
	Project  string              `json:"project"`          // name, or else key
	Author   string              `json:"author,omitempty"` // who added it to a team's archive
	Title    string              `json:"title,omitempty"`  // of the session
	Client   string              `json:"client,omitempty"` // of the session; empty for Claude Code
	Kind     archive.PassageKind `json:"kind"`
	Time     time.Time           `json:"time"`
	LineFrom int                 `json:"line_from"` // 0-based line of the transcript, -1 for none
	LineTo   int                 `json:"line_to"`   // exclusive
	Score    float64             `json:"score"`     // higher is better, comparable within one result
	Text     string              `json:"text"`      // the whole passage
	// Thinking means that the text is the model's reasoning.
	Thinking bool `json:"thinking,omitempty"`
	// Deep means that the text is from the log and not in the index.
	Deep bool `json:"deep,omitempty"`
	// Related means that the passage was found by meaning and not by words. It may
	// have nothing to do with the query.
	Related bool `json:"related,omitempty"`
	// Copies is the number of folded passages with the same text, CopyHandles their handles.
	Copies      int      `json:"copies,omitempty"`
	CopyHandles []string `json:"copy_handles,omitempty"`
	// Superseded is the later edit that made the text out of date, nil if none is known.
	Superseded *archive.Removal `json:"superseded,omitempty"`
	// Why holds the parts of the score.
	Why ScoreParts `json:"-"`
	// Explanation is set by Result.Explain.
	Explanation *Explanation `json:"why,omitempty"`
	Ref         archive.Ref  `json:"-"`
	Label       string       `json:"-"` // the passage's label
	Paths       []string     `json:"-"`
	Root        string       `json:"-"` // folder of the project, "" if unknown
	Worktree    string       `json:"-"` // see archive.Project
	Head        string       `json:"-"` // with Deep, the first line of the indexed passage
	id          int64        // the store's number of the passage, 0 for none
}

// ShownKind returns the kind under which a hit is shown and can be searched.
func (h *Hit) ShownKind() archive.PassageKind {
	if h.Thinking {
		return archive.KindThinking
	}
	return h.Kind
}

// turn returns the place of the hit's whole turn.
func (h *Hit) turn() archive.Ref {
	return archive.Ref{Session: h.Ref.Session, Turn: h.Ref.Turn, Step: wholeTurn}
}

func newHit(h archive.Hit) Hit {
	ref := passageRef(h.Passage)
	return Hit{
		Handle: ref.Handle(), Session: h.Passage.Session, Project: h.Project.Title(), Author: h.Author, Title: h.Title, Client: archive.OtherClient(h.Client), Kind: h.Kind, Time: h.Time,
		Thinking: h.Thinking(), Root: h.Project.Root, Worktree: h.Project.Worktree,
		LineFrom: h.LineFrom, LineTo: h.LineTo, Score: h.Score, Text: h.Text, Why: ScoreParts{Evidence: h.Evidence},
		Ref: ref, Label: h.Label, Paths: h.Paths, id: h.ID,
	}
}

func passageRef(p archive.Passage) archive.Ref {
	return archive.Ref{Session: p.Session, Turn: p.Turn, Step: p.Step}
}

// ScoreParts are the parts of a hit's score.
type ScoreParts struct {
	archive.Evidence
	Meaning float64 `json:"meaning"` // cosine to the query, 0 if not compared
	Sure    float64 `json:"sure"`    // confidence: 1 for new passages, decays with time, rises with each use
}

// Explanation says why a hit was found.
type Explanation struct {
	Terms []string `json:"terms"` // of the query, found in the passage or its paths in any form
	Paths []string `json:"paths"` // that contain one of the terms
	// Corrected are the terms that were typed differently.
	Corrected []Correction `json:"corrected,omitempty"`
	ScoreParts
	Agent  bool `json:"agent"` // in a sub-agent's session, which lowers the score
	Copies int  `json:"copies"`
}

// Explain sets the Explanation of every hit.
func (r *Result) Explain() {
	for i := range r.Hits {
		h := &r.Hits[i]
		e := &Explanation{Terms: []string{}, Paths: []string{}, ScoreParts: h.Why, Agent: archive.IsAgentID(h.Session), Copies: h.Copies}
		text := strings.Fields(terms.Index(h.Text))
		for _, t := range r.Terms {
			found := containsTerm(text, t)
			for _, path := range h.Paths {
				if containsTerm(strings.Fields(terms.Index(path)), t) {
					found = true
					if !slices.Contains(e.Paths, path) {
						e.Paths = append(e.Paths, path)
					}
				}
			}
			if !found {
				continue
			}
			e.Terms = append(e.Terms, t.Text)
			if c := slices.IndexFunc(r.Corrected, func(c Correction) bool { return c.Sought == t.Text }); c >= 0 {
				e.Corrected = append(e.Corrected, r.Corrected[c])
			}
		}
		h.Explanation = e
	}
}

// String returns the explanation on one line.
func (e *Explanation) String() string {
	parts := []string{"contains " + cmp.Or(strings.Join(e.Terms, ", "), "none of the words")}
	for _, c := range e.Corrected {
		how := " was typed "
		if c.Kin {
			how = " in place of "
		}
		parts = append(parts, c.Sought+how+c.Typed)
	}
	sure := e.Sure
	if sure <= DefaultConfidence().Minimum {
		sure = 0 // the usual value
	}
	for _, part := range []struct {
		name  string
		value float64
	}{{"words", e.Words}, {"covered", e.Covered}, {"near", e.Near}, {"before", e.Before}, {"answer", e.Answer}, {"said", e.Speaker}, {"told", e.AnswerType}, {"asks", e.Question}, {"turn", e.Turn}, {"session", e.Session}, {"meaning", e.Meaning}, {"sure", sure}} {
		if part.value != 0 {
			parts = append(parts, fmt.Sprintf("%s %.2f", part.name, part.value))
		}
	}
	if e.Agent {
		parts = append(parts, "sub-agent")
	}
	if e.Copies > 0 {
		parts = append(parts, fmt.Sprintf("%d copies", e.Copies))
	}
	return strings.Join(parts, " · ")
}
