package capture

import (
	"context"
	"fmt"
	"os"
	"time"
)

// WaitUnchanged waits until a transcript has not changed for the given time. The
// client writes some rows when its last hook has run already; whoever wants them
// has to come later. A missing file is quiet. The error is that of ctx.
func WaitUnchanged(ctx context.Context, path string, quiet time.Duration) error {
	const looks = 10 // per quiet time
	tick := time.NewTicker(max(quiet/looks, time.Millisecond))
	defer tick.Stop()
	before, unchanged := stampOf(path), 0
	for unchanged < looks {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for a quiet transcript: %w", context.Cause(ctx))
		}
		if now := stampOf(path); now != before {
			before, unchanged = now, 0
		} else {
			unchanged++
		}
	}
	return nil
}

// stamp is what changes when a file is written to.
type stamp struct {
	size int64
	time int64
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{size: -1}
	}
	return stamp{size: info.Size(), time: info.ModTime().UnixNano()}
}
