package maintenance

import (
	"context"
	"errors"
	"fmt"
	"os"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
)

// seal rewrites logs that have come to rest into large frames.
func (p Pass) seal(ctx context.Context, _ Index, st *Stage) error {
	var errs []error
	for entry, err := range p.Capture.Layout.Walk(ctx) {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("list logs: %w", err)
		}
		info, err := os.Stat(entry.Path)
		if err != nil || p.Now().Sub(info.ModTime()) < p.Rest {
			continue
		}
		if err := onlyCopyTorn(entry.Path); err != nil {
			errs = append(errs, err)
			continue
		}
		report, err := sessionlog.Seal(ctx, entry.Path)
		if archive.ErrorCode(err) == archive.CodeBusy {
			continue // it is being written: not at rest after all
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if report.Done {
			st.Done++
			st.Before += report.Before
			st.After += report.After
		}
	}
	return errors.Join(errs...)
}

// onlyCopyTorn refuses to seal a log with a damaged end whose source is gone:
// sealing would drop for good what a repair might still read.
func onlyCopyTorn(path string) error {
	r, err := sessionlog.OpenReader(path)
	if err != nil {
		return nil //nolint:nilerr // Seal meets the same fault and reports it
	}
	torn, source := r.Torn(), r.Header().Source
	if err := r.Close(); err != nil {
		return fmt.Errorf("close log: %w", err)
	}
	if torn == 0 {
		return nil
	}
	if _, err := os.Stat(source); err == nil {
		return nil
	}
	return &archive.Error{
		Code: archive.CodeCorrupt,
		Msg:  fmt.Sprintf("the last %d bytes of %s are damaged and the client's file is gone: it is left as it is", torn, path),
		Hint: "restore the log from a backup if you have one; everything before its end is readable",
	}
}
