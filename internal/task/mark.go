package task

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"strandline/internal/archive"
	"strandline/internal/state"
)

// Mark is what hooks remember between two looks at a session. It is derived: a
// mark that is lost costs one look more.
type Mark struct {
	// Checked is how many steps the session had at the last look.
	Checked int `json:"checked_step"`
	// Pending is how many segments waited for a summary then.
	Pending int `json:"pending"`
	// Crossed is the threshold, in percent, that the context window had passed.
	Crossed int `json:"crossed"`
	// Reminded is the threshold, in percent, at whose crossing the model was last
	// told of what waits; 0 after the context has fallen below all of them.
	Reminded int `json:"reminded_at"`
}

// Marks are the marks of an archive.
type Marks struct {
	Dir string // "<archive>/state/segments"
}

// maxMark is the size in bytes above which a file is no mark.
const maxMark = 4096

func (m Marks) path(session string) (string, error) {
	if !archive.ValidID(session) {
		return "", archive.Invalid(fmt.Sprintf("%q is not a session id", archive.Clip(session, 60)), "")
	}
	return filepath.Join(m.Dir, session+".json"), nil
}

// Read returns the mark of a session; the zero mark where there is none that can
// be read.
func (m Marks) Read(session string) (mark Mark) {
	path, err := m.path(session)
	if err != nil {
		return Mark{}
	}
	data, err := os.ReadFile(path)
	if err != nil || len(data) > maxMark || json.Unmarshal(data, &mark) != nil || mark.Checked < 0 {
		return Mark{}
	}
	return mark
}

// Write replaces the mark of a session in one step.
func (m Marks) Write(session string, mark Mark) error {
	path, err := m.path(session)
	if err != nil {
		return err
	}
	data, err := json.Marshal(mark)
	if err != nil {
		return fmt.Errorf("encode mark: %w", err)
	}
	if err := state.Replace(path, data); err != nil {
		return fmt.Errorf("write mark: %w", err)
	}
	return nil
}

// Reset forgets the mark of a session: the next hook looks at once.
func (m Marks) Reset(session string) error {
	path, err := m.path(session)
	if err != nil {
		return err
	}
	if err := state.Remove(path); err != nil {
		return fmt.Errorf("reset mark: %w", err)
	}
	return nil
}
