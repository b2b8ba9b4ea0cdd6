package install

// Plan is a set of changes that has not been made yet.
type Plan struct {
	Files    []FileChange
	Warnings []string // things the user should know, one sentence each
	// Uninstall says that the plan takes entries out.
	Uninstall bool
}

// FileChange is what happens to one settings file.
type FileChange struct {
	Path    string // as the client names it
	Target  string // the file behind symbolic links, equal to Path without one
	Before  []byte // nil if there is no such file
	After   []byte // nil if the file goes
	Entries []EntryChange
}

// EntryChange is what happens to one entry.
type EntryChange struct {
	ID     string // "hook/Stop"
	Action Action
	Detail string // the command, for people
}

// Action says what happens to an entry.
type Action string

// The actions.
const (
	ActionAdd    Action = "add"
	ActionUpdate Action = "update"
	ActionKeep   Action = "keep"
	ActionRemove Action = "remove"
)

// Changed reports whether applying the plan changes any settings file.
func (p Plan) Changed() bool { return false }

// Diff returns the changes in unified form, empty if there are none.
func (p Plan) Diff() string { return "" }
