package statusline

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"strandline/internal/usage"
)

// View is what a line shows.
type View struct {
	State  usage.Session
	Known  bool // State says how full the window is
	Shield Shield
	Health float64 // the memory's, from 0 to 1
	Healed bool    // Health is known
	Model  string

	told      int64 // the window as the hooks were told
	toldModel string
}

// Shield says how the archive stands to the session.
type Shield int

// The shields.
const (
	Unknown Shield = iota // nothing of the session was captured yet
	Kept                  // all that was said is in the log
	Behind                // something was said that is not
	Doubt                 // the last capture or its indexing failed
)

// look puts together what the client says and what the hooks have left. What the
// client says goes first; where it says nothing, what the last hook knew is shown
// as an estimate.
func look(in input, files usage.Files, pilot usage.Pilot) View {
	state, known := files.Session(in.Session)
	v := View{State: state, Model: in.Model.Name, told: state.Told, toldModel: state.ToldModel}
	v.Shield = shield(in, state, known)
	if size := in.size(); size > 0 {
		v.State.Told, v.State.ToldModel = size, in.Model.ID
	}
	if in.Model.ID != "" {
		v.State.Model = in.Model.ID
	}
	if tokens := in.tokens(); tokens > 0 {
		v.State.LastTokenEstimate, v.State.Estimated = tokens, false
	} else {
		v.State.Estimated = v.State.LastTokenEstimate > 0
	}
	pilot.Settle(&v.State)
	v.Known = known || in.size() > 0
	if h, ok := files.Health(); ok {
		v.Health, v.Healed = h.Mean()
	}
	return v
}

// maxTail is how much of a transcript behind the log is looked through for words
// of the conversation.
const maxTail = 256 << 10

// shield compares the transcript with what the last hook has captured. The client
// goes on to write its own notes behind the last hook of a turn; only words of
// the conversation count.
func shield(in input, s usage.Session, known bool) Shield {
	switch {
	case !known || s.Captured == 0:
		return Unknown
	case s.Doubt:
		return Doubt
	case filepath.Base(in.Transcript) != in.Session+".jsonl":
		return Unknown
	}
	f, err := os.Open(in.Transcript)
	if err != nil {
		return Unknown
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil || !info.Mode().IsRegular():
		return Unknown
	case info.Size() == s.Captured:
		return Kept
	case info.Size() < s.Captured, info.Size() > s.Captured+maxTail:
		return Behind
	}
	tail, err := io.ReadAll(io.NewSectionReader(f, s.Captured, maxTail))
	if err != nil || bytes.Contains(tail, []byte(`"type":"user"`)) || bytes.Contains(tail, []byte(`"type":"assistant"`)) {
		return Behind
	}
	return Kept
}
