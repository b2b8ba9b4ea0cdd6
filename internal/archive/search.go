package archive

import (
	"time"
)

// Query is a search for passages. Package terms makes the terms, so that all stores match
// the same words.
type Query struct {
	Terms []Term
	// Sessions limits the hits to these sessions and the rows they were copied from.
	// Empty: no limit.
	Sessions []string
	Projects []string // project keys, empty: all
	Branches []string // git branches at the end of a session, empty: all
	Clients  []string // names of clients, empty: all
	Kinds    []PassageKind
	Since    time.Time // zero: no limit
	Until    time.Time
	// BeforeLine, if positive, excludes passages that end after this line. It requires
	// a single session.
	BeforeLine int
	Agents     bool       // include sub-agents' sessions
	Dead       bool       // include branches that a rewind abandoned
	Failed     bool       // only passages of calls that failed
	Answer     AnswerType // what an answer contains
	Limit      int        // at most this many hits; 0 means 10
	// Also are IDs of passages that are hits as well, without a term of the query too, if
	// they pass the filters and have every required term. They do not count for Limit.
	Also []int64
}

// AnswerType is the set of values that the answer to a query contains, as far as the query
// shows. Passages with such a value rank higher.
type AnswerType uint8

// The answer types; both may be set.
const (
	AnswerTime   AnswerType = 1 << iota // a day, a month, a year
	AnswerNumber                        // a count, a duration, a version
)

// Term is one word of a query. A passage with more and rarer terms ranks higher.
type Term struct {
	Text string
	// Forms are other forms of the word, such as its past tense, separated by spaces. A
	// passage with a form matches the term. A Must or Prefix term has none.
	Forms  string
	Prefix bool    // match every indexed term that starts with Text
	Must   bool    // only passages with the term are hits
	Weight float64 // 1 for a typed word, less for its parts
}

// Hit is a passage that matched.
type Hit struct {
	Passage
	ID      int64 // the passage's number in the store; a new one if its text changes
	Project Project
	Title   string  // of the session
	Client  string  // of the session
	Author  string  // see Session
	Score   float64 // higher is better; comparable within one result only
	// Evidence holds the parts of the score.
	Evidence Evidence
}

// Removal is an edit that made an earlier text out of date.
type Removal struct {
	Handle string `json:"handle"`
	Name   string `json:"removed"` // the name in the text that the edit removed
}

// String returns a note for the user.
func (r *Removal) String() string { return "later changed: " + r.Handle + " removed " + r.Name }

// Evidence holds the parts of a hit's score. Unless noted otherwise they are from 0 to 1.
type Evidence struct {
	// BM25 is the score of the passage's words. Unlike the other values it can be
	// compared between results.
	BM25       float64 `json:"-"`
	Words      float64 `json:"words"`   // BM25 as a share of the best hit's
	Covered    float64 `json:"covered"` // the share of the query's words in the passage, weighted by rarity
	Near       float64 `json:"near"`    // the share of the query's adjacent words that are close to each other
	Before     float64 `json:"before"`  // the query's words that only the passage before has
	Answer     float64 `json:"answer"`  // Covered of the passage before, if that is a question
	Speaker    float64 `json:"said"`    // 1 if the speaker is named in the query, as in "Ann: yes"
	AnswerType float64 `json:"told"`    // 1 if it contains the answer type of the query
	Question   float64 `json:"asks"`    // 1 if it ends with a question, which lowers the score
	Turn       float64 `json:"turn"`    // BM25 of its turn as a share of the best hit's
	Session    float64 `json:"session"` // BM25 of its session as a share of the best hit's
	// Follows is the ID of the passage directly before it, if that is a hit too.
	Follows int64 `json:"-"`
	// Matched has bit i set if the passage contains term i of the query, for the first 64.
	Matched uint64 `json:"-"`
}

// Counts describes how common a query's terms are in its scope. Time and lines do not
// limit it.
type Counts struct {
	Passages int // in the scope, approximately
	Sessions int // in the scope; 0 if it is the whole archive
	Terms    []TermCount
}

// TermCount is the number of passages, and of sessions, that contain a term.
type TermCount struct{ Passages, Sessions int }

// ColdTurn is a turn outside the hot tier: old, and never injected or used.
type ColdTurn struct {
	Session          string
	Turn             int
	LineFrom, LineTo int
	Trimmed          bool // the texts of its passages are only in the log
}

// VectorSet describes the vectors of one embedder. Only vectors of one set can be compared.
type VectorSet struct {
	Embedder string // the name in every row
	Dim      int    // components of each vector
	Rows     int64  // passages that have vectors
	Last     int64  // number of the newest row, 0 if there is none; numbers only grow
	Gone     int64  // rows that were deleted since the set was created
	Stamp    int64  // differs for every set that was ever created, also after a reindex
}

// VectorRow holds one passage's vectors, quantised by package vector.
type VectorRow struct {
	No      int64 // within its set, from 1
	Passage int64 // as in Hit.ID
	Data    []byte
}

// Unembedded is work for an embedder: passages that it has not processed, those of the
// newest sessions first, and the marks to store afterwards.
type Unembedded struct {
	Passages []PassageText
	Marks    []EmbedMark
}

// PassageText is a passage's number and text.
type PassageText struct {
	ID   int64
	Text string
}

// EmbedMark records that a session's passages with sequence numbers [From, Next) are
// embedded. A store ignores a mark if From has changed: another process did the same work.
type EmbedMark struct {
	Session, From, Next int64 // Session is the store's number
}
