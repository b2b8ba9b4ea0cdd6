// Package config loads the effective settings and records the source of each. In
// order of precedence: flag, STRANDLINE_<SECTION>_<KEY>, the environment names of
// older systems, the project's .strandline.toml, the user's config.toml, default.
package config

import (
	_ "embed"
	"slices"
	"strings"
	"time"
)

// Mode selects the context that a SessionStart hook restores.
type Mode string

// The modes of restore.on_clear and restore.on_startup.
const (
	ModePointer Mode = "pointer" // two lines that name the last session
	ModeBlock   Mode = "block"   // the whole restored context
	ModeOff     Mode = "off"     // nothing
)

// Block selects the automatic compactions of the client to block.
type Block string

// The values of compaction.block_auto.
const (
	BlockNever    Block = "never"
	BlockHeadroom Block = "headroom" // those before the window is full
	BlockAlways   Block = "always"   // all, until the session could not continue
)

// Learn selects how the ranking of restored context uses earlier compactions.
type Learn string

// The values of restore.learn.
const (
	LearnNames Learn = "names" // weights of token shapes
	LearnOff   Learn = "off"
)

// Report selects when the usage is reported to the model.
type Report string

// The values of autopilot.report.
const (
	ReportChange Report = "change" // when the zone changes, and in steps of 5 % above the warning
	ReportAlways Report = "always" // at each prompt
	ReportTools  Report = "tools"  // as change, and after tool calls, with the advice to compact
	ReportOff    Report = "off"
)

// Inputs are the sources of the settings.
type Inputs struct {
	// Env looks up an environment variable, "" when unset.
	Env func(string) string
	// Home is the user's home folder.
	Home string
	// Cwd is the project's root, the folder of .strandline.toml; "" for none.
	Cwd string
	// Flags are values from the command line by key ("restore.budget").
	Flags map[string]string
	// ReadFile reads a settings file; nil reads regular files of at most MaxFile
	// bytes from disk. The error for a missing file is fs.ErrNotExist.
	ReadFile func(string) ([]byte, error)
	// OS is a GOOS; "" means the current one.
	OS string
}

// Config holds the effective settings. Its fields are valid even if Load returned
// an error.
type Config struct {
	Paths

	Restore    Restore
	Compaction Compaction
	Autopilot  Autopilot
	Statusline Statusline
	Hook       Hook
	Capture    struct{ Enabled bool }            // of sessions
	Redact     struct{ Enabled bool }            // everything but the log
	Recall     struct{ Unasked bool }            // automatic recall, at prompts and after compactions
	Search     struct{ Limit int }               // number of results without -n
	Stats      struct{ Prices map[string]Price } // by the name of the model
	Retention  Retention
	Lifecycle  Lifecycle
	Segments   Segments
	Embed      Embed
	Gateway    Gateway
	Postgres   Postgres

	entries  []Entry
	problems []Problem
}

// Restore configures the restored context.
type Restore struct {
	Budget    int  // UTF-16 units after a compaction
	OnClear   Mode // after /clear
	OnStartup Mode // in a new session
	Learn     Learn
}

// Compaction configures the client's compactions.
type Compaction struct {
	InstructionBudget int // UTF-16 units of the steering text
	BlockAuto         Block
}

// Autopilot configures the tracking of the context window's usage.
type Autopilot struct {
	Enabled bool
	Report  Report
	Warn    float64 // share of the window at which the warning zone begins
	Prune   float64 // and the optimize zone
	Window  int     // tokens, 0 if unknown
	// CompactEarly is the share of the window above which the plugin compacts between
	// turns; 0 means never.
	CompactEarly float64
}

// Statusline configures the line below the client's prompt.
type Statusline struct {
	Template string // "" for the default
	ASCII    bool   // only ASCII characters
}

// Hook limits the cost of a hook.
type Hook struct {
	Deadline         time.Duration // time limit of a hook
	PostToolInterval time.Duration // least time between two PostToolUse captures
}

// Postgres is the connection to the team archive. The password comes from the
// environment or from ~/.pgpass.
type Postgres struct {
	URL      string // overrides the fields below
	Host     string
	Port     int // 0: PGPORT, else 5432
	Database string
	User     string
	SSL      string // sslmode
	Schema   string
	Author   string // author of pushed sessions; "": the user name
	Read     bool   // read-only commands use the team archive
	Auto     bool   // maintenance runs push
}

// Retention limits the hot tier and the archive.
type Retention struct {
	Days     int   // age at which turns without access leave the hot tier
	MaxBytes int64 // of the archive on disk; 0 means no limit
	Delete   bool  // delete sessions beyond the limits that were never accessed
}

// Embed configures the embedding of passages.
type Embed struct {
	// Model is "static", "http" or the name of an added model.
	Model string
	// URL and EndpointModel configure the endpoint of "http".
	URL, EndpointModel string
	// Helper and Library are the program that runs added models and its runtime; ""
	// means the default locations.
	Helper, Library string
	// Wait limits the time that a search waits for the vector of its query.
	Wait time.Duration
}

// Gateway configures the proxy between a client and the API.
type Gateway struct {
	PruneAt    int // estimated tokens; 0 means never
	PruneKeep  int // responses
	PruneChars int // UTF-16 units
	PruneText  bool
	Compact    bool
	// Active is set if this process's client uses a gateway.
	Active bool
}

// Lifecycle configures maintenance.
type Lifecycle struct {
	Auto  bool    // hooks start maintenance runs
	Decay float64 // confidence lost per hour
}

// Segments configures the summaries of finished work. The "At" fields are percent
// of the context window, the counts are model responses.
type Segments struct {
	Disabled     bool
	ForceCheck   bool // at every hook, at any usage
	QueueAt      int
	SummariseAt  int
	ArchiveAt    int
	Every        int // responses between two checks
	ColdAfter    int
	Messages     int // least number in a segment
	ArchiveAfter int
	Keep         time.Duration
}

// Entry is one effective setting.
type Entry struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"`         // "default", "flag", "env NAME", a file's path
	Note   string `json:"note,omitempty"` // shown by `strandline config`
}

// Problem is a rejected value.
type Problem struct {
	Msg     string // one sentence with key, value, source and the allowed values
	Warning bool   // Load returns no error for it
}

// notes has a line "KEY: description" for each setting.
//
//go:embed notes.txt
var notes string

// Entries lists every setting, with its note, in the order of the documentation.
func (c *Config) Entries() []Entry {
	list := slices.Clone(c.entries)
	for line := range strings.Lines(notes) {
		name, note, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if i := slices.IndexFunc(list, func(e Entry) bool { return e.Key == name }); i >= 0 {
			list[i].Note = note
		}
	}
	return list
}

// Problems lists the rejected values.
func (c *Config) Problems() []Problem { return c.problems }
