package statusline

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"strandline/internal/usage"
)

// Data is what a line shows.
type Data struct {
	State       usage.Session
	Known       bool // State says how full the window is
	Capture     CaptureStatus
	Health      float64 // the memory's, from 0 to 1
	HealthKnown bool    // Health is known
	Model       string

	told      int64 // the window as the hooks were told
	toldModel string
}

// CaptureStatus says how the archive stands to the session.
type CaptureStatus int

// The shields.
const (
	Unknown  CaptureStatus = iota // nothing of the session was captured yet
	Captured                      // all that was said is in the log
	Pending                       // something was said that is not
	Failed                        // the last capture or its indexing failed
)

// look puts together what the client says and what the hooks have left. What the
// client says goes first; where it says nothing, what the last hook knew is shown
// as an estimate.
func look(in input, files usage.Store, pilot usage.Monitor) Data {
	state, known := files.Session(in.Session)
	v := Data{State: state, Model: in.Model.Name, told: state.ClientWindow, toldModel: state.ClientModel}
	v.Capture = shield(in, state, known)
	if size := in.size(); size > 0 {
		v.State.ClientWindow, v.State.ClientModel = size, in.Model.ID
	}
	if in.Model.ID != "" {
		v.State.Model = in.Model.ID
	}
	if tokens := in.tokens(); tokens > 0 {
		v.State.LastTokenEstimate, v.State.Estimated = tokens, false
	} else {
		v.State.Estimated = v.State.LastTokenEstimate > 0
	}
	pilot.Derive(&v.State)
	v.Known = known || in.size() > 0
	if h, ok := files.Health(); ok {
		v.Health, v.HealthKnown = h.Mean()
	}
	return v
}

// maxTail is how much of a transcript behind the log is looked through for words
// of the conversation.
const maxTail = 256 << 10

// shield compares the transcript with what the last hook has captured. The client
// goes on to write its own notes behind the last hook of a turn; only words of
// the conversation count.
func shield(in input, s usage.Session, known bool) CaptureStatus {
	switch {
	case !known || s.Captured == 0:
		return Unknown
	case s.CaptureFailed:
		return Failed
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
		return Captured
	case info.Size() < s.Captured, info.Size() > s.Captured+maxTail:
		return Pending
	}
	tail, err := io.ReadAll(io.NewSectionReader(f, s.Captured, maxTail))
	if err != nil || bytes.Contains(tail, []byte(`"type":"user"`)) || bytes.Contains(tail, []byte(`"type":"assistant"`)) {
		return Pending
	}
	return Captured
}
