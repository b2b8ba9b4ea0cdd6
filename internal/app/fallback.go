package app

import (
	"context"
	"errors"
	"fmt"

	"strandline/internal/archive"
)

// newestBytes is how many transcript bytes of the newest sessions are indexed in memory
// while the index cannot be opened: about two seconds of work.
const newestBytes = 64 << 20

// reading is withArchive for a question, which run may be asked twice. If the index cannot
// be read, an index in memory answers, with the newest sessions from their logs; a damaged
// or missing index is rebuilt in the background.
func (a *App) reading(ctx context.Context, run func(Archive) error) error {
	w, err := a.Workspace()
	if err != nil {
		return err
	}
	a.indexPending(ctx, w)
	opened := false
	err = a.useIndex(ctx, w, ReadOnly, func(x Archive) error {
		opened = true
		return run(x)
	})
	damaged, code := errors.Is(err, archive.ErrDamagedIndex), archive.ErrorCode(err)
	if err == nil || opened && !damaged || code == archive.CodeBusy || !exists(w.File("log")) {
		return err
	}
	if code == archive.CodeNotFound {
		err = archive.NotFound("the index is missing", "`strandline reindex` rebuilds it from the logs")
	}
	if damaged || code == archive.CodeNotFound {
		if derr := a.System.Detach("catchup", "--reindex"); derr != nil {
			return errors.Join(err, derr)
		}
	}
	return a.answerFromLogs(ctx, w, err, run)
}

// answerFromLogs calls run with an index in memory of the newest sessions.
func (a *App) answerFromLogs(ctx context.Context, w Workspace, cause error, run func(Archive) error) (err error) {
	jobs, err := w.Capture.LoggedJobs(ctx)
	if err != nil {
		return errors.Join(cause, err)
	}
	from, size := len(jobs), int64(0)
	for from > 0 && size+jobs[from-1].Size <= newestBytes {
		from--
		size += jobs[from].Size
	}
	if from == len(jobs) {
		return cause
	}
	index, err := a.Stores.OpenIndex(ctx, "", BulkWrite)
	if err != nil {
		return errors.Join(cause, err)
	}
	defer func() { err = errors.Join(err, index.Close()) }()
	if _, err = w.Capture.Bulk(ctx, index, index, jobs[from:], nil); err == nil {
		err = w.Journal.Sync(ctx, index)
	}
	if err != nil {
		return errors.Join(cause, err)
	}
	if a.Notice != nil {
		a.Notice(noticeOf(cause, len(jobs)-from, len(jobs)))
	}
	return run(Archive{Workspace: w, Index: index, Cause: cause})
}

// noticeOf says why the logs answer, and which of them.
func noticeOf(cause error, some, all int) string {
	which := "all sessions"
	if some < all {
		which = fmt.Sprintf("the newest %d of %d sessions", some, all)
	}
	return fmt.Sprintf("%s; this answer comes from the logs of %s", ErrorText(cause), which)
}
