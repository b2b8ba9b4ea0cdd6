package capture

import (
	"fmt"
	"os"

	"strandline/internal/sessionlog"
)

// A session's transcript may lie in more than one folder: a backup of the
// client's folder, a project that was copied. Each of the files would look like
// a rewrite of the other, and every look at both would begin two generations.

// isCopy reports that a file which does not continue its log needs no
// generation of its own, or not now: it is another one than the latest generation
// was read from, and all of it is the beginning of some generation.
func (c *Capture) isCopy(f *os.File, k sessionLogs, src Source, out *Logged) (bool, error) {
	if src.Path == out.header.Source {
		return false, nil
	}
	info, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("read transcript: %w", err)
	}
	size := info.Size()
	if c.MaxLog > 0 && size > maxHookCompare {
		out.Deferred = true
		return true, nil
	}
	for _, e := range k.logs(src.Rel) {
		pos, err := sessionlog.ReadPosition(e.Path)
		if err != nil {
			return false, err
		}
		if size > pos.Raw {
			continue
		}
		if same, err := beginsWith(f, e.Path, size); err != nil || same {
			return same, err
		}
	}
	return false, nil
}

// isKnownCopy reports that a file of another size than its latest log is a copy in
// another folder and no longer than something that is kept.
func (k sessionLogs) isKnownCopy(src Source, size int64) (bool, error) {
	latest, _ := k.latest(src.Rel)
	r, err := sessionlog.OpenReader(latest.Path)
	if err != nil {
		return false, err
	}
	source := r.Header().Source
	if err := r.Close(); err != nil {
		return false, fmt.Errorf("close log: %w", err)
	}
	if src.Path == source {
		return false, nil
	}
	for _, e := range k.logs(src.Rel) {
		pos, err := sessionlog.ReadPosition(e.Path)
		if err != nil || size <= pos.Raw {
			return err == nil, err
		}
	}
	return false, nil
}
