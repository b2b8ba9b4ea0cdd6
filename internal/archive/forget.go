package archive

// JournalForget says that a session is deleted for good. Its ID is ForgetID's, so a
// session is forgotten once. Data is ForgetFact.
const JournalForget JournalKind = "forget"

// ForgetFact is the data of a JournalForget entry. It holds nothing of the session
// but what stands in the entry already: its id and the time.
type ForgetFact struct {
	Why string `json:"why"` // ForgetAsked, ForgetOld
}

// Why a session is deleted.
const (
	ForgetAsked = "asked"     // by a person
	ForgetOld   = "retention" // by retention.delete
)

// ForgetID is the identity of the fact that a session is deleted.
func ForgetID(session string) string { return "forget:" + session }
