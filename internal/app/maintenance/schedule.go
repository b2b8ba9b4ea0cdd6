package maintenance

import (
	"os"
	"path/filepath"
	"time"
)

// Schedule says when the next pass of upkeep is due. It is one empty file, whose
// time a hook can ask for without opening anything.
type Schedule struct {
	Path string
}

// every is how far passes that hooks start are apart. What one does can wait,
// and starting it costs a hook about two milliseconds.
const every = time.Hour

// Due reports that the last pass began more than an hour ago, or that none ever
// did. A time of the future is that of a clock that was wrong: it counts as none.
func (s Schedule) Due(now time.Time) bool {
	info, err := os.Stat(s.Path)
	return err != nil || now.Sub(info.ModTime()) >= every || info.ModTime().Sub(now) > every
}

// Begin notes that a pass begins. Where that cannot be written the next hook
// starts another, which finds nothing to do.
func (s Schedule) Begin(now time.Time) {
	if os.Chtimes(s.Path, now, now) == nil {
		return
	}
	if os.MkdirAll(filepath.Dir(s.Path), 0o700) == nil && os.WriteFile(s.Path, nil, 0o600) == nil {
		_ = os.Chtimes(s.Path, now, now) // see above
	}
}
