package app

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/text"
)

// LogCheck is the result of verifying a log.
type LogCheck struct {
	Log    string `json:"log"`
	OK     bool   `json:"ok"`
	Bytes  int64  `json:"bytes"`
	Lines  int    `json:"lines"`
	SHA256 string `json:"sha256,omitempty"`
	// Torn is the number of bytes after the last complete append. They are from an
	// interrupted append or damaged.
	Torn int64 `json:"torn,omitempty"`
	// Forgotten is the number of bytes that were deleted for good: a marker line
	// replaces each turn or step, blanks replace the rest.
	Forgotten int64 `json:"forgotten_bytes,omitempty"`
	// Source compares the client's file: "same", "ahead" (it has more), "gone",
	// "differs", "superseded" (there is a later generation) or "unread". It is empty
	// for a damaged log.
	Source string `json:"source,omitempty"`
	// SourceError is why the client's file cannot be read. The log may still be OK.
	SourceError string `json:"source_error,omitempty"`
	Error       string `json:"error,omitempty"`
}

// Verify checks every byte of the logs, and compares them with the client's files.
// typed limits it to one session.
func (a *App) Verify(ctx context.Context, typed string) ([]LogCheck, error) {
	w, err := a.Workspace()
	id := ""
	if typed != "" {
		w, id, err = a.loggedSession(ctx, typed)
	}
	if err != nil {
		return nil, err
	}
	checks, err := w.Capture.Verify(ctx, id)
	if err != nil {
		return nil, err
	}
	if id != "" && len(checks) == 0 {
		return nil, archive.NotFound("no log of session "+archive.ShortID(id), "`strandline sessions` lists the archived sessions")
	}
	out := make([]LogCheck, len(checks))
	for i, c := range checks {
		out[i] = newLogCheck(w.Config.Paths.Home, c)
	}
	return out, nil
}

func newLogCheck(home string, v capture.Verified) LogCheck {
	rel, err := filepath.Rel(home, v.Log)
	if err != nil {
		rel = v.Log
	}
	c := LogCheck{Log: rel, Bytes: v.Report.Raw, Lines: v.Report.Lines, Source: string(v.Source), Torn: v.Report.Torn, Forgotten: v.Report.Blanked}
	if v.Unread != nil {
		c.SourceError = ErrorText(v.Unread)
	}
	// The next capture appends torn bytes again from the client's file.
	recoverable := v.Source == capture.SourceSame || v.Source == capture.SourceAhead
	torn := text.Size(c.Torn) + " at its end are damaged, and the client's file"
	switch {
	case v.Err != nil:
		c.Error = ErrorText(v.Err)
		return c
	case v.Source == capture.SourceDiffers:
		c.Error = "the client's file no longer begins with the logged bytes; the next capture keeps it as a new generation"
	case c.Torn > 0 && v.Unread != nil:
		c.Error = fmt.Sprintf("%s, which may have them, cannot be read: %s", torn, c.SourceError)
	case c.Torn > 0 && !recoverable:
		c.Error = torn + " does not have them"
	default:
		c.OK = true
	}
	c.SHA256 = hex.EncodeToString(v.Report.SHA256[:])
	return c
}
