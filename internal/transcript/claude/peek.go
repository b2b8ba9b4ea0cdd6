package claude

import "time"

// Facts are what the first rows of a transcript say about it. Fields that no
// row states are empty.
type Facts struct {
	SessionID string
	AgentID   string // set in a sub-agent's transcript
	Cwd       string
	GitBranch string
	Version   string // of the client
	First     time.Time
	Sidechain bool // the rows belong to a sub-agent
}

// Peek reads facts from the head of a transcript, which may end within a line.
func Peek(head []byte) Facts { return Facts{} }
