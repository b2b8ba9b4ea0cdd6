package statusline

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"strandline/internal/usage"
)

// Data holds the values that a line shows.
type Data struct {
	State       usage.Session
	Known       bool // State has the window's usage
	Capture     CaptureStatus
	Health      float64 // of the archive, from 0 to 1
	HealthKnown bool
	Model       string

	storedWindow int64 // the window and model in the session's record
	storedModel  string
}

// CaptureStatus compares the archive with the session's transcript.
type CaptureStatus int

// The capture statuses.
const (
	Unknown  CaptureStatus = iota // nothing of the session was captured
	Captured                      // the whole conversation is in the log
	Pending                       // part of the conversation is not
	Failed                        // the last capture or its indexing failed
)

// collect combines the client's payload with the session's record. The payload
// takes precedence; tokens from the record are shown as an estimate.
func collect(in input, store usage.Store, monitor usage.Monitor) Data {
	state, known := store.Session(in.Session)
	v := Data{State: state, Model: in.Model.Name, storedWindow: state.ClientWindow, storedModel: state.ClientModel}
	v.Capture = captureStatus(in, state, known)
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
	monitor.Derive(&v.State)
	v.Known = known || in.size() > 0
	if h, ok := store.Health(); ok {
		v.Health, v.HealthKnown = h.Mean()
	}
	return v
}

// maxTail is the most uncaptured bytes of a transcript that are searched for
// conversation rows.
const maxTail = 256 << 10

// captureStatus compares the transcript with the captured bytes. Only rows of the
// conversation count: the client writes rows of its own after a turn's last hook.
func captureStatus(in input, s usage.Session, known bool) CaptureStatus {
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
