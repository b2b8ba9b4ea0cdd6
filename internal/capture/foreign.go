package capture

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"slices"
	"time"

	"strandline/internal/archive"
	"strandline/internal/state"
)

// ErrForeign reports a transcript that another client wrote. Some clients read this
// client's settings and call its hooks.
var ErrForeign = errors.New("the transcript is another client's")

// maxForeign limits how much of a transcript is read to recognize its client, in bytes.
const maxForeign = 64 << 10

// foreign reports whether no row at a transcript's beginning is of this client. It
// returns false if that is unknown.
func foreign(path string) (bool, error) {
	f, _, err := openSource(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	known := []string{"user", "assistant", "system", "summary", "attachment", "progress", "mode", "queue-operation", "file-history-snapshot"}
	lines, rows := bufio.NewScanner(io.LimitReader(f, maxForeign)), 0
	lines.Buffer(nil, maxForeign)
	for lines.Scan() {
		var row struct {
			Session string `json:"sessionId"`
			Type    string `json:"type"`
		}
		if json.Unmarshal(lines.Bytes(), &row) != nil {
			continue // torn, or longer than the limit
		}
		if rows++; row.Session != "" || slices.Contains(known, row.Type) {
			return false, nil
		}
	}
	return rows > 0, nil
}

// recognize sets the client and the session of a transcript that lies outside its client's
// folder and so seems to be in the common form. One that no client's rows fit stays as it is.
func (c *Capture) recognize(src *Source) {
	if !src.common() {
		return
	}
	if other, err := foreign(src.Path); !other || err != nil {
		return // the caller reads it next and reports the error
	}
	f, _, err := openSource(src.Path)
	if err != nil {
		return
	}
	defer f.Close()
	for _, of := range c.Known() {
		if of.New == nil {
			continue
		}
		if facts, err := c.peek(of.Name, f); err == nil && archive.ValidID(facts.Session) {
			src.Client, src.Session = of.Name, facts.Session
			return
		}
	}
}

// ForeignCalls counts the hooks that other clients called. Dir is "state"; if it is
// empty, nothing is counted.
type ForeignCalls struct{ Dir string }

// Foreign is the count, and the last call.
type Foreign struct {
	Calls int       `json:"calls"`
	Last  time.Time `json:"last"`
	Why   string    `json:"why"` // how the last one was recognized
}

func (c ForeignCalls) store() state.Store {
	return state.Store{Dir: c.Dir, Ext: ".json", Lock: "foreign.lock"}
}

const foreignKey = "foreign"

// Note counts a call.
func (c ForeignCalls) Note(ctx context.Context, why string, now time.Time) error {
	return c.store().Update(ctx, foreignKey, func(old []byte) ([]byte, error) {
		var n Foreign
		if json.Unmarshal(old, &n) != nil {
			n = Foreign{} // missing or damaged
		}
		return json.Marshal(Foreign{Calls: n.Calls + 1, Last: now, Why: why})
	})
}

// Read returns the count; it is 0 without calls.
func (c ForeignCalls) Read() (n Foreign, err error) {
	err = c.store().ReadJSON(foreignKey, &n)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return n, err
}
