package claude

import "time"

// Facts are what the first rows of a transcript say about it. Fields that no
// row states are empty.
type Facts struct {
	SessionID string
	AgentID   string // set in a sub-agent's transcript
	Cwd       string
	GitBranch string
	Version   string    // of the client
	First     time.Time // of the first dated row, UTC
	Sidechain bool      // the conversation is a sub-agent's
}

// Peek reads facts from the head of a transcript, which may end within a line;
// a line without its end is not read.
func Peek(head []byte) Facts {
	var f Facts
	s := newScanner()
	s.scan(head, 0)
	set := func(to *string, b []byte) {
		if *to == "" {
			*to = string(b)
		}
	}
	talk := false
	for i := range s.rows {
		row := &s.rows[i]
		set(&f.SessionID, row.sessionID)
		set(&f.AgentID, row.agentID)
		set(&f.Cwd, row.cwd)
		set(&f.GitBranch, row.branch)
		set(&f.Version, row.version)
		if f.First.IsZero() {
			f.First = row.time
		}
		if !talk && (row.kind == typeUser || row.kind == typeAssistant) {
			talk, f.Sidechain = true, row.sidechain
		}
	}
	return f
}
