package archive

import "time"

// Query asks a store for passages. The terms come from package terms, so every
// store matches the same words.
type Query struct {
	Terms []Term
	// Sessions limits the answer to these session ids, with the rows that a
	// fork shares with them. Empty: no limit.
	Sessions []string
	Projects []string // project keys, empty: all
	Kinds    []PassageKind
	Since    time.Time // zero: no limit
	Until    time.Time
	// BeforeLine, if positive, hides passages that end behind this line; it goes
	// with a single session.
	BeforeLine int
	Agents     bool       // include sub-agents' sessions
	Dead       bool       // include branches that a rewind left behind
	Answer     AnswerType // what an answer should name
	Limit      int        // at most this many hits; 0 means 10
}

// Asks says what the answer to a query names, as far as the query tells. Passages
// that name it rank higher.
type AnswerType uint8

// What a question may ask for; both may be set.
const (
	AnswerTime   AnswerType = 1 << iota // when it was: a day, a month, a year
	AnswerNumber                        // how many or how long
)

// Term is one word of a query. A passage that holds more and rarer terms ranks
// higher; a Must term has to be there.
type Term struct {
	Text string
	// Forms are other forms of the same word, such as its past tense, with blanks
	// between them: a passage that holds one holds the term. A Must or Prefix term
	// has none.
	Forms  string
	Prefix bool    // match every indexed term that starts with Text
	Must   bool    // passages without it are no hits
	Weight float64 // 1 for a word the user typed, less for its parts
}

// Hit is a passage that matched.
type Hit struct {
	Passage
	ID      int64 // the store's own number of the passage, gone when its text changes
	Project Project
	Author  string  // see Session
	Score   float64 // higher is better; comparable within one answer only
	// Evidence is what the score is made of.
	Evidence Evidence
}

// Evidence says why a passage matched.
type Evidence struct {
	// BM25 is what the passage's own words are worth, as they stand: unlike the
	// score and the shares below it means the same in another answer.
	BM25       float64 `json:"-"`
	Words      float64 `json:"words"`   // rare words of the query, often and in a short text; a share of the best hit's
	Covered    float64 `json:"covered"` // the share of the query's words that it holds, rare ones counting more
	Near       float64 `json:"near"`    // the share of the query's neighbours that are neighbours here
	Before     float64 `json:"before"`  // words that it lacks and the passage before it has
	Answer     float64 `json:"answer"`  // what the passage before it covers, if that one asks something
	Speaker    float64 `json:"said"`    // 1 if it begins with a name of the query, as "Ann: yes" begins
	AnswerType float64 `json:"told"`    // 1 if it names a time or a number that the query asks for
	Question   float64 `json:"asks"`    // 1 if it ends with a question, which counts against it
	Turn       float64 `json:"turn"`    // the words of its whole turn; a share of the best hit's
	Session    float64 `json:"session"` // the words of its whole session; a share of the best hit's
	// Follows is the number of the passage right before it, if that was found too.
	Follows int64 `json:"-"`
}
