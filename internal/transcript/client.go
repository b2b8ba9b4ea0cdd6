package transcript

import (
	"os"
	"path/filepath"
	"strings"
)

// Client is what the archive has to know about a coding agent's program. The functions
// are optional except for Roots and File.
type Client struct {
	Name  string // in the paths of logs, in sessions and in filters: "codex"
	Title string // for people: "Codex CLI"
	// Roots lists the folders that hold transcripts, as absolute paths. They need not exist.
	Roots func(getenv func(string) string, home string) []string
	// File returns the session's id in the path of a transcript, and whether the file is one,
	// by its path alone.
	File func(path string) (session string, ok bool)
	// Open returns the bytes to archive of a file that is not lines of JSON that grow at
	// its end: a file of such lines, which the caller closes. One that does not continue
	// the archived lines begins a generation. Nil: the file itself.
	Open func(path string) (*os.File, error)
	// Database describes a file with many sessions; nil if the client has none.
	Database *Database
	// New returns a translator for a transcript. Nil: the rows are in the common form.
	New func() Translator
	// Place returns the path below the client's folder, which is the parent of the first
	// root, at which a transcript is restored that was archived from source, with the
	// given session's id. Nil: the last two elements of source.
	Place func(source, session string) string
	// Resume is the command that continues a session; the session's id is appended.
	Resume []string
	// ResumeID returns the id for Resume that the first line of a transcript has. Nil, and
	// if it returns "": the session's id.
	ResumeID func(first []byte) string
	// Start is the command that begins a session with a prompt, which is appended. Nil: the
	// client cannot be started with one.
	Start []string
	// Window returns the context window in tokens that rows of the client name last, and the
	// tokens at which it compacts; 0 if none does. Nil: they follow from the model.
	Window func(rows []byte) (window, compactsAt int64)
	Hooks  Hooks
	// Setup is what init writes; without files, init does not know the client.
	Setup Setup
}

// Hooks says how a client's hooks differ from those whose names and payloads Claude Code
// gave them.
type Hooks struct {
	// Events maps the client's names of events to Claude Code's. Those of others are the same.
	Events map[string]string
	// Known lists the client's events if other clients read its settings too, so that their
	// events arrive with its hooks.
	Known []string
	// Context lists the events, by Claude Code's names, whose answer the client adds to the
	// context.
	Context []string
	// Steers is how many UTF-16 units of the answer to PreCompact the client adds to the prompt
	// of its compaction; 0 for none. Blocks: the answer is plain text, or a decision to block
	// the compaction; else it is JSON, as for the other events.
	Steers int
	Blocks bool
	// Compacted reports whether rows hold a compaction, if no event follows one in time. The
	// context is restored at the next event of Context. Nil: SessionStart follows.
	Compacted func(rows []byte) bool
	// Summarizer: the compaction runs as a sub-agent without a type.
	Summarizer bool
	// KeepsPrompts: the compaction leaves the user's prompts in the context.
	KeepsPrompts bool
	// OwnAgents: the payload of a sub-agent names its own transcript, not its parent's.
	OwnAgents bool
	// Unnamed: payloads may name no transcript; it is where Place says.
	Unnamed bool
	// Flat: the client reads additionalContext as a member of the answer itself.
	Flat bool
}

// Common returns a function that translates chunks of a transcript, in their order, to the
// common form. A chunk that begins in the middle is translated as well as possible.
func (c Client) Common() func(chunk []byte) []byte {
	if c.New == nil {
		return func(chunk []byte) []byte { return chunk }
	}
	lines := c.New()
	return func(chunk []byte) []byte { return Translate(lines, chunk) }
}

// Named returns the client with a name. One that is not listed has rows in the common
// form.
func Named(list []Client, name string) Client {
	for _, c := range list {
		if c.Name == name {
			return c
		}
	}
	return Client{Name: name, Title: name}
}

// Folders returns folders below a client's folder: the one that its setting names or,
// without one, the given one below the user's home folder. None if neither is known. A
// relative path in the setting, and one that begins with ~/, is below the home folder.
func Folders(setting, home, fallback string, below ...string) (all []string) {
	dir := setting
	switch {
	case dir == "" && home == "", !filepath.IsAbs(dir) && home == "":
		return nil
	case dir == "":
		dir = filepath.Join(home, fallback)
	case !filepath.IsAbs(dir):
		dir = filepath.Join(home, strings.TrimPrefix(dir, "~"))
	}
	for _, folder := range below {
		all = append(all, filepath.Join(dir, folder))
	}
	return all
}
