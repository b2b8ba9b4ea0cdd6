package synth

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"time"
)

// Options sets the metadata of a session's rows.
type Options struct {
	Session string // session id; derived from Seed when empty
	Cwd     string
	Branch  string
	Version string // of the client
	Model   string
	Start   time.Time
	Seed    uint64
	// Context is the number of tokens in the context of the first response.
	Context int64
}

// Session writes the rows of one transcript to a writer, a line for each.
// Errors of the writer are kept until Err.
type Session struct {
	w   io.Writer
	o   Options
	rnd *rand.Rand
	now time.Time

	agent    string // id of the sub-agent whose rows these are
	parent   string // uuid of the last row of the conversation
	prompt   string // prompt id of the current turn
	leaf     string // text of the last prompt
	turn     int
	context  int64
	messages int
	turnFrom time.Time
	response response

	bytes int64
	lines int
	err   error
}

// New returns a session that writes to w.
func New(w io.Writer, o Options) *Session {
	s := &Session{w: w, o: o, rnd: rand.New(rand.NewPCG(o.Seed, 0x7374726e64)), now: o.Start, context: o.Context}
	if s.o.Session == "" {
		s.o.Session = s.uuid()
	}
	return s
}

// Redirect sends the rows that follow to another writer.
func (s *Session) Redirect(w io.Writer) { s.w = w }

// ID returns the session id.
func (s *Session) ID() string { return s.o.Session }

// Bytes returns the number of bytes written so far.
func (s *Session) Bytes() int64 { return s.bytes }

// Lines returns the number of lines written so far.
func (s *Session) Lines() int { return s.lines }

// Err returns the first error of the writer.
func (s *Session) Err() error { return s.err }

// Rand is the session's source of chance; its use changes the ids that follow.
func (s *Session) Rand() *rand.Rand { return s.rnd }

// Reseed restarts the random source, so that sessions of different length continue
// identically.
func (s *Session) Reseed(seed uint64) { *s.rnd = *rand.New(rand.NewPCG(seed, 0x676f206f6e)) }

// Wait moves the session's clock.
func (s *Session) Wait(d time.Duration) { s.now = s.now.Add(d) }

// Begin writes the state rows at the start of a transcript.
func (s *Session) Begin() {
	s.state("mode", "mode", "normal")
	s.state("permission-mode", "permissionMode", "default")
}

// Prompt writes a human prompt and so begins a turn.
func (s *Session) Prompt(text string) {
	s.turn++
	s.turnFrom = s.now
	s.prompt = s.uuid()
	s.leaf = text
	id := s.uuid()
	if s.agent == "" {
		snapshot := Row{}.Str("messageId", id).Raw("trackedFileBackups", "{}").Str("timestamp", s.time())
		s.write(Row{}.Str("type", "file-history-snapshot").Str("messageId", id).Obj("snapshot", snapshot).Bool("isSnapshotUpdate", false))
	}
	r := s.chained().Str("promptId", s.prompt).Str("type", "user").
		Obj("message", Row{}.Str("role", "user").Str("content", text)).Str("uuid", id).Str("timestamp", s.time())
	if s.agent == "" {
		r = r.Str("permissionMode", "default").Obj("origin", Row{}.Str("kind", "human")).Str("promptSource", "typed").
			Str("turnOrigin", "human").Obj("turnPosition", s.position())
	}
	s.link(r, id)
}

// Attach writes an attachment row of the given kind; data are its further
// members.
func (s *Session) Attach(kind string, data Row, rendered string) {
	attachment := append(Row{}.Str("type", kind), tail(data)...)
	id := s.uuid()
	r := s.chained().Obj("attachment", attachment).Str("type", "attachment").Str("uuid", id).Str("timestamp", s.time()).
		List("rendered", Row{}.Str("content", rendered)).Str("renderedRole", "system")
	s.link(r, id)
}

// EndTurn writes the rows that follow the last response of a turn.
func (s *Session) EndTurn() {
	id := s.uuid()
	s.tick(20, 80)
	s.link(s.chained().Str("type", "system").Str("subtype", "turn_duration").
		Int("durationMs", s.now.Sub(s.turnFrom).Milliseconds()).Int("messageCount", int64(s.messages)).
		Str("timestamp", s.time()).Str("uuid", id).Bool("isMeta", false), id)
	s.write(Row{}.Str("type", "last-prompt").Str("lastPrompt", s.leaf).Str("leafUuid", s.parent).Str("sessionId", s.o.Session))
}

// Spawn returns a session that writes the rows of a sub-agent to w. It has the
// session's id and starts at its clock; Join moves the session's clock on.
func (s *Session) Spawn(w io.Writer, agent string) *Session {
	child := New(w, s.o)
	child.rnd = rand.New(rand.NewPCG(s.rnd.Uint64(), s.rnd.Uint64()))
	child.agent, child.now, child.context = agent, s.now, s.o.Context/2
	return child
}

// Join sets the clock to that of a sub-agent that has ended.
func (s *Session) Join(child *Session) { s.now = child.now }

func (s *Session) state(kind, key, value string) {
	s.write(Row{}.Str("type", kind).Str(key, value).Str("sessionId", s.o.Session))
}

func (s *Session) position() Row {
	return Row{}.Int("promptIndex", int64(s.turn)).Int("turnIndex", int64(s.turn))
}

// chained begins a row of the conversation.
func (s *Session) chained() Row {
	r := make(Row, 0, 1024)
	if s.parent == "" {
		r = r.Raw("parentUuid", "null")
	} else {
		r = r.Str("parentUuid", s.parent)
	}
	r = r.Bool("isSidechain", s.agent != "")
	if s.agent != "" {
		r = r.Str("agentId", s.agent)
	}
	return r
}

// link ends a row of the conversation and makes it the parent of the next.
func (s *Session) link(r Row, id string) {
	s.write(r.Str("userType", "external").Str("entrypoint", "cli").Str("cwd", s.o.Cwd).
		Str("sessionId", s.o.Session).Str("version", s.o.Version).Str("gitBranch", s.o.Branch))
	s.parent = id
	s.messages++
}

func (s *Session) write(r Row) {
	if s.err != nil {
		return
	}
	n, err := s.w.Write(append(r.end(), '\n'))
	s.bytes += int64(n)
	s.lines++
	if err != nil {
		s.err = fmt.Errorf("write row %d: %w", s.lines, err)
	}
}

func (s *Session) tick(lo, hi int) {
	s.now = s.now.Add(time.Duration(lo+s.rnd.IntN(hi-lo)) * time.Millisecond)
}

func (s *Session) time() string { return s.now.UTC().Format("2006-01-02T15:04:05.000Z") }

// uuid returns a version 4 uuid from the session's source of chance.
func (s *Session) uuid() string {
	a, b := s.rnd.Uint64(), s.rnd.Uint64()
	a = a&^0xf000 | 0x4000
	b = b&^(3<<62) | 1<<63
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", a>>32, a>>16&0xffff, a&0xffff, b>>48, b&0xffffffffffff)
}

// token returns an id in the form of the API: a prefix, letters and digits.
func (s *Session) token(prefix string) string {
	return prefix + strconv.FormatUint(s.rnd.Uint64()|1<<63, 36)[1:] + strconv.FormatUint(s.rnd.Uint64()|1<<63, 36)[1:9]
}

// tail returns the members of a row as the continuation of another.
func tail(r Row) []byte {
	if len(r) == 0 {
		return nil
	}
	return append([]byte{','}, r[1:]...)
}
