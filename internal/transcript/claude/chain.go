package claude

import (
	"bytes"
	"time"

	"strandline/internal/text"
)

// Chain holds the links between the rows of a transcript that the client's resume
// follows: from the last message back to the last compaction, or else to the first row. It
// needs about 150 bytes a row.
type Chain struct {
	rows     []link
	at       map[string]int // index of a row by its uuid
	boundary int            // index of the last compaction, -1 without one
	kept     [][]byte       // uuids of the messages before it that it keeps
	head     string         // first and last of them in older transcripts, which have no list
	tail     string
	last     int // index of the last message, -1 without one
	scanner  *scanner
}

// link is a row with a uuid.
type link struct {
	line         int
	uuid, parent string
	at           time.Time
	prompt       bool
}

// NewChain returns the chain of an empty transcript.
func NewChain() *Chain {
	return &Chain{at: map[string]int{}, boundary: -1, last: -1, scanner: newScanner()}
}

// Read adds the complete lines of chunk; first is the number of the first one.
func (c *Chain) Read(chunk []byte, first int) {
	c.scanner.scan(chunk, first)
	defer c.scanner.release()
	for i := range c.scanner.rows {
		r := &c.scanner.rows[i]
		if len(r.uuid) == 0 || r.sidechain || len(r.agentID) > 0 {
			continue
		}
		l := link{line: r.line, uuid: string(r.uuid), at: r.time}
		if p, ok := c.at[string(r.parent)]; ok {
			l.parent = c.rows[p].uuid
		} else {
			l.parent = string(r.parent)
		}
		if r.kind == typeUser {
			class, _ := c.scanner.classifyUser(r)
			l.prompt = class == classPrompt
		}
		at := len(c.rows)
		c.at[l.uuid] = at
		if r.isMessage() {
			c.last = at
		}
		if r.kind == typeSystem && r.subtype == subtypeBoundary {
			c.boundary = at
			c.keeps(chunk, r.line-first)
		}
		c.rows = append(c.rows, l)
	}
}

// keeps reads which messages the compaction in a line keeps.
func (c *Chain) keeps(chunk []byte, line int) {
	for range line {
		_, chunk, _ = bytes.Cut(chunk, []byte("\n"))
	}
	src, _, _ := bytes.Cut(chunk, []byte("\n"))
	c.kept, c.head, c.tail = nil, "", ""
	s := newScanner()
	s.json.Reset(bytes.Clone(src))
	uuids := func() {
		c.kept = nil
		s.json.Array(func() { c.kept = append(c.kept, s.text()) })
	}
	s.object([]member{{"compactMetadata", []member{
		{"preservedSegment", []member{{"headUuid", func() { c.head = string(s.text()) }}, {"tailUuid", func() { c.tail = string(s.text()) }}}},
		{"preservedMessages", []member{{"uuids", uuids}, {"allUuids", uuids}}},
	}}})
}

// Compacted returns the line of the last compaction, and the lines before it that it
// keeps. It reports false without a compaction.
func (c *Chain) Compacted() (line int, kept map[int]bool, ok bool) {
	if c.boundary < 0 {
		return 0, nil, false
	}
	kept = map[int]bool{}
	for _, uuid := range c.kept {
		if i, ok := c.at[string(uuid)]; ok {
			kept[c.rows[i].line] = true
		}
	}
	for i, ok := c.at[c.tail]; ok && len(c.kept) == 0 && !kept[c.rows[i].line]; i, ok = c.at[c.rows[i].parent] {
		kept[c.rows[i].line] = true
		if c.rows[i].uuid == c.head {
			break
		}
	}
	return c.rows[c.boundary].line, kept, true
}

// bridged is the gap in time that the client's resume bridges at a missing parent.
const bridged = 5 * time.Second

// Reach counts the turns of a session since its last compaction that the client's resume finds.
type Reach struct {
	Turns   int // turns of the conversation, without rewound ones
	Reached int // turns that a resume finds
	// Parents has the uuid of the right parent by the line of each row with a broken link.
	Parents map[int]string
}

// Reach follows the links from the last message. A link is broken if the parent is not in the
// transcript, or if a row that is no prompt has none; a prompt without parent begins the
// conversation, unless roots is set. The row before takes the place of a broken link.
func (c *Chain) Reach(roots bool) Reach {
	out := Reach{Parents: map[int]string{}}
	first, seen, lost := max(c.boundary, 0), map[int]bool{}, false
	for i := c.last; i >= first; {
		seen[i] = true
		r := c.rows[i]
		if r.prompt {
			out.Turns++
			if !lost {
				out.Reached++
			}
		}
		p, ok := c.at[r.parent]
		switch {
		case i == first || r.parent == "" && r.prompt && !roots || ok && p < first:
			return out
		case ok && !seen[p]:
			i = p
			continue
		}
		for p = i - 1; p >= first && seen[p]; p-- {
		}
		if p < first {
			return out
		}
		out.Parents[r.line] = c.rows[p].uuid
		lost = lost || r.parent == "" || r.at.Sub(c.rows[p].at) > bridged
		i = p
	}
	return out
}

// SetParent returns a row with another parentUuid, and row itself if it has none.
func SetParent(row []byte, uuid string) []byte {
	json := text.NewJSONReader(row)
	var at text.Span
	json.Object(func(name []byte) {
		if string(name) == "parentUuid" {
			at = json.Span()
		} else {
			json.Skip()
		}
	})
	if json.End() != nil || at.Size() == 0 {
		return row
	}
	return append(append(append(bytes.Clone(row[:at.From]), '"'), uuid...), append([]byte{'"'}, row[at.To:]...)...)
}
