package sessionlog

import (
	"time"

	"strandline/internal/archive"
)

// The kinds of source that a log keeps, for Header.Kind.
const (
	KindTranscript = "transcript" // a session's main transcript
	KindAgent      = "agent"      // a sub-agent's transcript
	KindSide       = "side"       // another file that the client keeps for a session
	KindJournal    = "journal"    // a month of the journal
)

// Header holds the facts about a log that stand in no transcript. It is written
// once, when the log is created; later Opens return what is stored.
type Header struct {
	Format     int             `json:"format"` // version of the format, set by Open
	Client     string          `json:"client,omitempty"`
	Session    string          `json:"session,omitempty"`
	Agent      string          `json:"agent,omitempty"`
	Slug       string          `json:"slug,omitempty"`   // the client's folder name of the project
	Source     string          `json:"source,omitempty"` // path of the file that is kept
	Kind       string          `json:"kind,omitempty"`   // one of the Kind constants
	Cwd        string          `json:"cwd,omitempty"`
	Project    archive.Project `json:"project,omitzero"`
	Created    time.Time       `json:"created,omitzero"`
	Generation int             `json:"generation,omitempty"` // 1 unless the source was rewritten
}
