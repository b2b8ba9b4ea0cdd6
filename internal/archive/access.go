package archive

import "time"

// The kinds of access, the values of AccessFact.How.
const (
	AccessRestored = "restored" // in the restored context after a compaction
	AccessRecalled = "recalled" // found by a search or by automatic recall
	AccessUsed     = "used"     // restored, and used by the work that followed
)

// Access is one access of the model to a place.
type Access struct {
	Ref
	Time time.Time
	How  string
}

// Feedback counts the places that compactions restored, and the use of them.
type Feedback struct {
	Compactions int // that were measured and restored at least one place
	Given, Used int // places
}

// RefsOf returns the places of one session among handles. It ignores handles of other
// sessions and invalid ones.
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
