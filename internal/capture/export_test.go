package capture

import "context"

// Log appends the new bytes of one file to its log.
func (c *Capture) Log(ctx context.Context, src Source) (Logged, error) {
	k, err := c.sessionLogs(src, src.Rel != "")
	if err != nil || k.forgotten {
		return Logged{}, err
	}
	return c.logInto(ctx, k, src)
}

// MaxCompared is maxCompared.
const MaxCompared = maxCompared
