package claude

import "strandline/internal/archive"

// The longest names that are kept, in bytes. Real ones are far shorter; the
// bounds keep a hostile file from growing the state.
const (
	maxName = 200
	maxID   = 200
	maxPath = 1024
)

// name returns a short text such as an id or a version as a string.
func name(b []byte) string { return clipBytes(string(b), maxName) }

// fold takes one row into the state and emits what it says.
func (r *Reader) fold(row *row) {
	r.line = row.line
	r.learn(row)
	switch row.kind {
	case typeUser:
		r.user(row)
	case typeAssistant:
		r.assistant(row)
	case typeSystem:
		switch row.subtype {
		case "compact_boundary":
			r.boundary(row)
		case forgottenTurn, forgottenStep:
			r.forgotten(row)
		}
	case typeAttachment:
		r.attachment(row)
	case typeQueue:
		r.queueOperation(row)
	}
	r.remember(row)
}

// main reports whether a row belongs to the conversation itself. In a
// sub-agent's own transcript every row is marked as a side chain.
func (r *Reader) main(row *row) bool {
	return !row.sidechain || r.base.Relation == archive.RelationAgent
}

// learn takes the facts that any row may state.
func (r *Reader) learn(row *row) {
	f := &r.state.facts
	if f.cwd == "" {
		f.cwd = clipBytes(r.redact(string(row.cwd)), maxPath)
	}
	if len(row.branch) > 0 && f.branch != string(row.branch) {
		f.branch = clipBytes(r.redact(string(row.branch)), maxName)
	}
	if len(row.version) > 0 && f.version != string(row.version) {
		f.version = name(row.version)
	}
	if !row.time.IsZero() {
		if f.first.IsZero() {
			f.first = row.time
		}
		if row.time.After(f.last) {
			f.last = row.time
		}
	}
	if row.cost == nil {
		return
	}
	switch row.kind {
	case typeCost:
		turns := f.cost.Turns
		f.cost = *row.cost
		f.cost.Turns = turns
	case typeResult: // of print mode: running totals, but turns since the last one
		f.cost.USD = max(f.cost.USD, row.cost.USD)
		f.cost.APITime = max(f.cost.APITime, row.cost.APITime)
		f.cost.Duration = max(f.cost.Duration, row.cost.Duration)
		f.cost.Turns += row.cost.Turns
	}
}

// remember notes the row's place: the running turn reaches to it, and later
// prompts may hang on it.
func (r *Reader) remember(row *row) {
	t := &r.state.turn
	if !t.open {
		return
	}
	t.row.LineTo = row.line + 1
	if row.time.After(t.row.End) {
		t.row.End = row.time
	}
	if len(row.uuid) == 0 || !r.main(row) {
		return
	}
	t.tail = hashOf(row.uuid)
	recent := append(r.state.recent, recentRow{t.tail, t.row.Index})
	if len(recent) >= 2*maxRecent {
		recent = append(recent[:0], recent[len(recent)-maxRecent:]...)
	}
	r.state.recent = recent
}

// user folds a row of type user: the user's words, results of tools, or one of
// the many things that the client says in the user's name.
func (r *Reader) user(row *row) {
	if row.own {
		r.markOurs(row)
	}
	switch row.class {
	case classSummary:
		r.summary(row)
	case classPrompt:
		switch {
		case !r.main(row):
			r.sideText(row)
		case r.replacement(row):
		default:
			r.prompt(row)
		}
	case classAside:
		r.aside(row, row.text)
	case classEcho:
		r.state.echo = echoState{hashOf(row.uuid), clipBytes(r.redact(row.text), archive.MaxPassage)}
	case classNotice:
		r.notice(row, row.text)
	default:
		r.expansion(row)
	}
	parts := r.scan.partsOf(row)
	results := 0
	for i := range parts {
		if parts[i].kind == partToolResult {
			results++
		}
	}
	for i := range parts {
		if p := &parts[i]; p.kind == partToolResult {
			facts := row.result
			if results > 1 { // it belongs to one of them, nobody knows which
				facts = resultFacts{}
			}
			r.toolResult(row, p, &facts)
		}
	}
}

// expansion turns the echo of a slash command into a prompt when the next row
// holds the instructions that the command stands for.
func (r *Reader) expansion(row *row) {
	echo := r.state.echo
	if !row.meta || echo.text == "" || !r.main(row) || hashOf(row.parent) != echo.uuid {
		return
	}
	if row.text == "" || isSynthetic(row.text) {
		return
	}
	r.state.echo = echoState{}
	row.text = echo.text
	r.prompt(row)
}

// putPassage adds a passage to the batch and returns its index there.
func (r *Reader) putPassage(p archive.Passage) int {
	p.Session = r.base.ID
	r.out.Passages = append(r.out.Passages, p)
	return len(r.out.Passages) - 1
}
