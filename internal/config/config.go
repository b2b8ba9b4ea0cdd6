// Package config finds the effective settings and says where each came from:
// flag > STRANDLINE_<SECTION>_<KEY> > the older systems' names > the project's
// .strandline.toml > the user's config.toml > default.
package config

import "time"

// Mode says what a SessionStart hook puts into a context.
type Mode string

// The modes of restore.on_clear and restore.on_startup.
const (
	ModePointer Mode = "pointer" // two lines that name the last session
	ModeBlock   Mode = "block"   // the whole restored block
	ModeOff     Mode = "off"     // nothing
)

// Block says which automatic compactions of the client are blocked.
type Block string

// The values of compaction.block_auto.
const (
	BlockNever    Block = "never"
	BlockHeadroom Block = "headroom" // those that come while there is room for more
	BlockAlways   Block = "always"   // all, until the session would be stuck
)

// Learn says what a restored block learns from.
type Learn string

// The ways to learn.
const (
	LearnNames Learn = "names" // weights of token shapes, from earlier compactions
	LearnOff   Learn = "off"
)

// Report says when the autopilot speaks in the model's context.
type Report string

// The values of autopilot.report.
const (
	ReportChange Report = "change" // when the zone changes, and in steps above the warning
	ReportAlways Report = "always" // at each prompt
	ReportOff    Report = "off"
)

// Inputs are where settings come from. Nothing else is read.
type Inputs struct {
	// Env looks up an environment variable, "" when unset.
	Env func(string) string
	// Home is the user's home folder.
	Home string
	// Cwd is the project's root, where .strandline.toml is looked for; "": none.
	Cwd string
	// Flags are values from the command line by key ("restore.budget").
	Flags map[string]string
	// ReadFile reads a settings file; nil means from disk, regular files of at
	// most MaxFile bytes only. A missing file is fs.ErrNotExist.
	ReadFile func(string) ([]byte, error)
	// OS is a GOOS; "" means the running one.
	OS string
}

// Config holds the effective settings. Its fields are valid even when Load
// returned an error: a bad value leaves the next best one in force.
type Config struct {
	Paths

	Restore    Restore
	Compaction Compaction
	Autopilot  Autopilot
	Statusline Statusline
	Hook       Hook
	Capture    Capture
	Redact     Redact
	Recall     Recall
	Search     Search
	Retention  Retention
	Lifecycle  Lifecycle
	Segments   Segments
	Embed      Embed
	Gateway    Gateway
	Postgres   Postgres

	entries  []Entry
	problems []Problem
}

// Restore is what is put back into a context.
type Restore struct {
	Budget    int  // UTF-16 units of the block after a compaction
	OnClear   Mode // after /clear
	OnStartup Mode // in a new session
	Learn     Learn
}

// Compaction steers the client's summary.
type Compaction struct {
	InstructionBudget int // UTF-16 units of the text given to the summarizer
	BlockAuto         Block
}

// Autopilot watches how full the context window is.
type Autopilot struct {
	Enabled bool
	Report  Report
	Warn    float64 // part of the window at which the warning begins
	Prune   float64 // and at which it should be used sparingly
	Window  int     // tokens, 0: not known
	// CompactEarly is the part of the window above which the plugin compacts
	// between turns, 0: never.
	CompactEarly float64
}

// Statusline is the line below the client's prompt.
type Statusline struct {
	Template string // "" for the default
	ASCII    bool   // even where the locale takes more
}

// Hook limits what a hook may cost.
type Hook struct {
	Deadline         time.Duration // a hook stops working after this long
	PostToolInterval time.Duration // PostToolUse captures at most this often
}

// Capture is the recording of sessions.
type Capture struct {
	Enabled bool
}

// Redact is the removal of secrets from everything but the log.
type Redact struct {
	Enabled bool
}

// Postgres is where the team's archive is. Its password is no setting: it comes from
// the environment or from ~/.pgpass.
type Postgres struct {
	URL      string // wins over the parts below
	Host     string
	Port     int // 0: what PGPORT says, else 5432
	Database string
	User     string
	SSL      string // sslmode
	Schema   string
	Author   string // who brings sessions in; "": the user's name
	Read     bool   // commands that only read use the team's archive
	Auto     bool   // a pass of upkeep pushes
}

// Recall is what is looked up for a model.
type Recall struct {
	Unasked bool // at a prompt, and after a compaction in other sessions
}

// Search is the search command.
type Search struct {
	Limit int // hits when -n is not given
}

// Retention is what leaves the hot set.
type Retention struct {
	Days     int   // age at which what was never accessed leaves the hot set
	MaxBytes int64 // of the archive on disk, 0: no limit
	Delete   bool  // what is too old or too much, and was never accessed, is deleted for good
}

// Embed is what makes vectors of passages.
type Embed struct {
	// Model is static, http or the name of a model that was added.
	Model string
	// URL and EndpointModel are of the endpoint that http asks.
	URL, EndpointModel string
	// Helper and Library are the program that runs added models and its runtime;
	// empty: they are looked for.
	Helper, Library string
	// Wait is how long a search waits for the model's vector of its query.
	Wait time.Duration
}

// Gateway is what stands between a client and the API.
type Gateway struct {
	PruneAt    int // estimated tokens, 0: never
	PruneKeep  int // responses
	PruneChars int // UTF-16 units
	Compact    bool
	// Active: a client that this process belongs to talks to one.
	Active bool
}

// Lifecycle is the upkeep of the archive.
type Lifecycle struct {
	Auto  bool    // passes started by hooks
	Decay float64 // confidence lost in an hour
}

// Segments is the summarising of finished work. The "At" fields are percent of
// the context window, the counts responses of the model.
type Segments struct {
	Disabled     bool
	ForceCheck   bool // at every hook, however full the context is
	QueueAt      int
	SummariseAt  int
	ArchiveAt    int
	Every        int // between two looks
	ColdAfter    int
	Messages     int // that a piece of work has at least
	ArchiveAfter int
	Keep         time.Duration
}

// Entry is one effective setting.
type Entry struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"` // "default", "flag", "env NAME", a file's path
	Note   string `json:"note,omitempty"`
}

// Problem is a value that was not accepted.
type Problem struct {
	Key     string // "" when the whole file is meant
	Value   string
	Source  string
	Msg     string // one sentence that names all of these and what is allowed
	Warning bool   // does not make Load fail
}

// Entries lists every setting in the order of the documentation.
func (c *Config) Entries() []Entry { return c.entries }

// Problems lists what was not accepted.
func (c *Config) Problems() []Problem { return c.problems }
