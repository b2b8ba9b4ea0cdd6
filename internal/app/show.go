package app

import (
	"time"

	"strandline/internal/archive"
)

// Outline is a session's outline for scripts.
type Outline struct {
	Session
	TurnList []Turn   `json:"turn_list"`
	Files    []string `json:"files"`
}

// Turn is a line of an outline.
type Turn struct {
	Handle   string    `json:"handle"`
	Title    string    `json:"title"`
	Start    time.Time `json:"start"`
	Steps    int       `json:"steps"`
	LineFrom int       `json:"line_from"`
	LineTo   int       `json:"line_to"`
	Dead     bool      `json:"dead,omitempty"`
	Copy     string    `json:"copy_of,omitempty"`
}

// Block is a piece of a turn for scripts.
type Block struct {
	Line   int       `json:"line"`
	Kind   string    `json:"kind"`
	Name   string    `json:"name,omitempty"` // of the tool or the row
	ToolID string    `json:"tool_id,omitempty"`
	Time   time.Time `json:"time"`
	Error  bool      `json:"error,omitempty"`
	Own    bool      `json:"own,omitempty"` // Strandline itself had put it there
	Text   string    `json:"text"`
}

// NewOutline is the outline of a session: its turns, and the names of the files
// that the client keeps beside its transcript.
func NewOutline(s archive.Session, turns []archive.Turn, files []string) Outline {
	out := Outline{Session: NewSession(s), TurnList: make([]Turn, 0, len(turns)), Files: append([]string{}, files...)}
	for _, t := range turns {
		out.TurnList = append(out.TurnList, NewTurn(t))
	}
	return out
}

// NewTurn is a line of an outline.
func NewTurn(t archive.Turn) Turn {
	out := Turn{
		Handle: archive.Ref{Session: t.Session, Turn: t.Index, Step: -1}.Handle(), Title: t.Title, Start: t.Start,
		Steps: t.Steps, LineFrom: t.LineFrom, LineTo: t.LineTo, Dead: t.Dead,
	}
	if t.Copy != nil {
		out.Copy = t.Copy.Handle()
	}
	return out
}

// NewBlocks are the pieces of a turn or a step, in order.
func NewBlocks(blocks []LogBlock) []Block {
	out := make([]Block, 0, len(blocks))
	for _, b := range blocks {
		out = append(out, Block{
			Line: b.Line, Kind: b.Kind, Name: b.Name, ToolID: b.ToolID, Time: b.Time, Error: b.Error, Own: b.Own, Text: b.Text,
		})
	}
	return out
}

// Place is a turn or a step: what was said in it, and what its calls came to.
type Place struct {
	Handle string  `json:"handle"`
	Blocks []Block `json:"blocks"`
	Calls  []Call  `json:"calls"`
}

// NewPlace is the place at with its blocks, and with those of its turn's calls that
// are in it.
func NewPlace(at archive.Ref, blocks []LogBlock, calls []archive.Call) Place {
	in := calls[:0:0]
	for _, c := range calls {
		if at.Step < 0 || c.Step == at.Step {
			in = append(in, c)
		}
	}
	return Place{Handle: at.Handle(), Blocks: NewBlocks(blocks), Calls: Calls(in)}
}
