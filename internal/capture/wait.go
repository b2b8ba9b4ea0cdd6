package capture

import (
	"context"
	"fmt"
	"os"
	"time"
)

// WaitUnchanged waits until a file has not changed for the given time. The client
// writes some rows after its last hook has run. A missing file is unchanged. The error
// is that of ctx.
func WaitUnchanged(ctx context.Context, path string, quiet time.Duration) error {
	const checks = 10 // per quiet time
	tick := time.NewTicker(max(quiet/checks, time.Millisecond))
	defer tick.Stop()
	before, unchanged := fileVersion(path), 0
	for unchanged < checks {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for the transcript: %w", context.Cause(ctx))
		}
		if now := fileVersion(path); now != before {
			before, unchanged = now, 0
		} else {
			unchanged++
		}
	}
	return nil
}

// fileVersion returns the size and modification time of a file, which a write
// changes.
func fileVersion(path string) [2]int64 {
	info, err := os.Stat(path)
	if err != nil {
		return [2]int64{-1}
	}
	return [2]int64{info.Size(), info.ModTime().UnixNano()}
}
