package app

import (
	"time"
)

// Status is the state of the archive for scripts.
type Status struct {
	Version     string    `json:"version"`
	Home        string    `json:"home"`
	Sessions    int       `json:"sessions"`
	Agents      int       `json:"agents"`
	Older       int       `json:"older_generations"` // of transcripts that were rewritten
	Projects    int       `json:"projects"`
	Turns       int       `json:"turns"`
	Steps       int       `json:"steps"`
	Calls       int       `json:"calls"`
	Passages    int       `json:"passages"`
	Compactions int       `json:"compactions"`
	Bytes       int64     `json:"bytes"`
	LogBytes    int64     `json:"log_bytes"`
	IndexBytes  int64     `json:"index_bytes"`
	First       time.Time `json:"first"`
	Last        time.Time `json:"last"`
	Pending     bool      `json:"pending"`
	Errors      int       `json:"errors_24h"`
	Uncaptured  int       `json:"uncaptured_files"`
	Unindexed   int       `json:"unindexed_sessions"`
	// Memory is how well the archive remembers.
	Memory Memory `json:"memory"`
	// Measured tells of the last compactions, null where none can be judged.
	Measured *Measured `json:"last_compactions"`
}

// Measured is the mean over the last compactions that tell something.
type Measured struct {
	Compactions int     `json:"compactions"`
	Kept        float64 `json:"kept"`
	Together    float64 `json:"together"`
}
