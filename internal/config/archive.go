package config

import "path/filepath"

// The places in the archive that more than one room has to find. What only one
// package reads, it names itself.

func (p Paths) in(parts ...string) string {
	return filepath.Join(append([]string{p.Home}, parts...)...)
}

// Index is the database.
func (p Paths) Index() string { return p.in("index.db") }

// Journal is the folder of the facts that stand in no transcript.
func (p Paths) Journal() string { return p.in("journal") }

// Vectors is the folder of the flat files that are derived from the index.
func (p Paths) Vectors() string { return p.in("vectors") }

// Models is the folder of the embedding models that were added.
func (p Paths) Models() string { return p.in("models") }

// Learned is the file of what restoring learned.
func (p Paths) Learned() string { return p.in("learned.json") }

// Errors is the log of what went wrong behind the user's back.
func (p Paths) Errors() string { return p.in("strandline.log") }

// State is the folder of small files about sessions and about work that is left.
func (p Paths) State() string { return p.in("state") }

// Pending is the folder of the sessions that a hook could not finish.
func (p Paths) Pending() string { return p.in("state", "pending") }

// Answered is the folder of the compactions that the compactor has answered.
func (p Paths) Answered() string { return p.in("state", "compacted") }

// Underway is the folder of the compactions that the client has begun.
func (p Paths) Underway() string { return p.in("state", "compacting") }

// Blocked is the folder of the compactions that were put off.
func (p Paths) Blocked() string { return p.in("state", "blocked") }

// Outcomes is the folder of what compactions were measured to have kept.
func (p Paths) Outcomes() string { return p.in("state", "outcomes") }

// Marks is the folder of what hooks know about the segments of sessions.
func (p Paths) Marks() string { return p.in("state", "segments") }

// Maintained is the file that says when the last pass of upkeep was.
func (p Paths) Maintained() string { return p.in("state", "maintained") }

// ServeToken is the file with the token of the HTTP server that was started last.
func (p Paths) ServeToken() string { return p.in("state", "serve.token") }
