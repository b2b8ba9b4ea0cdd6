package archive

import "time"

// How a place was given to the model, as AccessFact.How says it.
const (
	AccessRestored = "restored" // in a block after a compaction
	AccessRecalled = "recalled" // because it was looked for
	AccessUsed     = "used"     // and the work that followed drew on it
)

// Access is one time that a place was given to the model.
type Access struct {
	Ref
	Time time.Time
	How  string
}

// Feedback sums up what became of the places that compactions gave back.
type Feedback struct {
	Compactions int // that were measured and had given something back
	Given, Used int // places
}

// RefsOf returns the places in a session that handles name; handles of other
// sessions are left out. What is given to the model is an access of these.
func RefsOf(session string, handles []string) []Ref {
	var refs []Ref
	for _, text := range handles {
		h, err := ParseHandle(text)
		if err == nil && h.Turn >= 0 && h.Session == ShortID(session) {
			refs = append(refs, Ref{Session: session, Turn: h.Turn, Step: h.Step})
		}
	}
	return refs
}
