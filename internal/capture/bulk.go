package capture

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"strandline/internal/archive"
)

// IndexReader is the part of an index that is read while another connection writes.
type IndexReader interface {
	Known(ctx context.Context, keys []uint64) (map[uint64]archive.Ref, error)
	Cursor(ctx context.Context, session string) (archive.Cursor, error)
}

// Job is one file of a bulk capture or, if Source is nil, a session whose logs are
// to be indexed.
type Job struct {
	Source  *Source
	Session string // archive session id, for a job without Source
	Size    int64  // transcript bytes, for the progress

	Generation int   // the latest one of a logged session
	Earlier    int64 // of Size, the bytes of the generations before it
}

// Progress is the progress of a bulk capture.
type Progress struct {
	Done, Jobs        int   // files
	Bytes, TotalBytes int64 // transcript bytes of those files
	Added             int64 // bytes that were new to the logs
	Sessions, Agents  int   // sessions and sub-agents' runs whose index changed
}

// Report is the result of a bulk capture. Files that could not be read are in Failed;
// the other files are captured.
type Report struct {
	Progress
	Failed []FileError
}

// FileError is the error of one file that was not captured.
type FileError struct {
	Path string
	Err  error
}

// Bulk captures many files in the given order. Logging, reading, and writing the
// index are three concurrent stages that keep this order, so the first session with
// a row owns it, independent of timing. known is read while idx is written; it should
// be a second, read-only connection to the same index (idx works, but more slowly).
// progress may be nil; calls of it do not overlap.
func (c *Capture) Bulk(ctx context.Context, idx Index, known IndexReader, jobs []Job, progress func(Progress)) (Report, error) {
	c, err := c.Listed()
	if err != nil {
		return Report{}, err
	}
	b := &bulk{capture: c, idx: idx, known: known, progress: progress, fresh: map[uint64]archive.Ref{}}
	for _, j := range jobs {
		b.report.TotalBytes += j.Size
	}
	b.report.Jobs = len(jobs)
	logged := make(chan Job, 16)
	steps := make(chan step, 4)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { defer close(logged); return b.log(ctx, jobs, logged) })
	g.Go(func() error { defer close(steps); return b.read(ctx, logged, steps) })
	g.Go(func() error { return b.write(ctx, steps) })
	err = g.Wait()
	return b.report, err
}

// bulk is the shared state of the stages of one Bulk.
type bulk struct {
	capture  *Capture
	idx      Index
	known    IndexReader
	progress func(Progress)

	mu     sync.Mutex // guards the fields below
	report Report
	fresh  map[uint64]archive.Ref // identities that are read but not committed
}

// loggers is how many files are logged at once: each log is synced, which waits for the
// disk.
const loggers = 4

// loggedJob is a job whose file is logged, or that is not to be indexed.
type loggedJob struct {
	Job
	skip bool
}

// log logs the files of the jobs, some at once, and passes the jobs on in their order.
func (b *bulk) log(ctx context.Context, jobs []Job, out chan<- Job) error {
	queue := make(chan chan loggedJob, loggers)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		for next := range queue {
			j := <-next
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if j.skip {
				b.advance(j.Size, "")
			} else if err := send(ctx, out, j.Job); err != nil {
				return err
			}
		}
		return nil
	})
	g.Go(func() error { defer close(queue); return b.startLogging(ctx, jobs, queue) })
	return g.Wait()
}

// startLogging starts to log the files and queues a channel for each result. It returns
// when all are logged.
func (b *bulk) startLogging(ctx context.Context, jobs []Job, queue chan<- chan loggedJob) error {
	var running sync.WaitGroup
	defer running.Wait()
	list, seen := lister{capture: b.capture}, map[string]bool{}
	for _, j := range jobs {
		done := make(chan loggedJob, 1)
		if err := send(ctx, queue, done); err != nil {
			return err
		}
		if j.Source == nil {
			done <- loggedJob{Job: j}
			continue
		}
		if src := j.Source; src.Rel == "" && seen[src.Session] {
			running.Wait() // the same session from another folder continues the log
		} else if src.Rel == "" {
			seen[src.Session] = true
		}
		k, err := list.of(*j.Source)
		c, created := *b.capture, b.capture.Now() // logs are created in the order of the jobs
		c.Now = func() time.Time { return created }
		running.Go(func() {
			session, ok := b.logSource(ctx, &c, k, err, *j.Source)
			j.Session = session
			done <- loggedJob{j, !ok}
		})
	}
	return nil
}

// logSource logs a file and returns the session to index, "" for a side file. It
// returns false for a file that failed and for one of a forgotten session. err is the
// error of listing the session's logs.
func (b *bulk) logSource(ctx context.Context, c *Capture, k sessionLogs, err error, src Source) (session string, ok bool) {
	if k.forgotten && err == nil {
		return "", false
	}
	var logged Logged
	if h, same := unchanged(k, src); err == nil && same && !k.isForgotten(src) && h.Session == src.Session {
		logged.Session = archiveID(h)
	} else if err == nil {
		logged, err = c.logInto(ctx, k, src)
	}
	if err != nil && ctx.Err() == nil {
		b.fail(src.Path, err)
	}
	if err != nil {
		return "", false
	}
	b.mu.Lock()
	b.report.Added += logged.Added
	b.mu.Unlock()
	if src.isSideFile() {
		return "", true
	}
	return logged.Session, true
}

func (b *bulk) fail(path string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.report.Failed = append(b.report.Failed, FileError{Path: path, Err: err})
}

// advance counts a finished job and reports the progress. changed is the session
// whose index the job changed, or "".
func (b *bulk) advance(size int64, changed string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.report.Done++
	b.report.Bytes += size
	switch {
	case changed == "":
	case archive.IsAgentID(changed):
		b.report.Agents++
	default:
		b.report.Sessions++
	}
	if b.progress != nil {
		b.progress(b.report.Progress)
	}
}

// read turns logged files into steps.
func (b *bulk) read(ctx context.Context, in <-chan Job, out chan<- step) error {
	seen := map[string]bool{}
	for j := range in {
		if j.Session == "" {
			b.advance(j.Size, "")
			continue
		}
		if seen[j.Session] {
			// The same session from another folder: its cursor has to be written
			// before it is read again.
			if err := sendStep(ctx, out, step{wait: true}); err != nil {
				return err
			}
		}
		seen[j.Session] = true
		changed := ""
		err := b.capture.indexInto(ctx, j.Session, b.known.Cursor, b.lookup, func(s step) error {
			changed = j.Session
			b.addFresh(s.batch.Keys)
			s.wait = s.retire > 0 // a retired generation's rows get another owner
			return sendStep(ctx, out, s)
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			b.fail(j.Session, err)
		}
		b.advance(j.Size, changed)
	}
	return nil
}

// sendStep sends a step to the writer and, if s.wait is set, waits until it and all
// earlier steps are written.
func sendStep(ctx context.Context, out chan<- step, s step) error {
	if !s.wait {
		return send(ctx, out, s)
	}
	s.written = make(chan struct{})
	if err := send(ctx, out, s); err != nil {
		return err
	}
	select {
	case <-s.written:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func send[T any](ctx context.Context, out chan<- T, v T) error {
	select {
	case out <- v:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// lookup finds identities in the index and among those not committed yet.
func (b *bulk) lookup(ctx context.Context, keys []uint64) (map[uint64]archive.Ref, error) {
	// The order matters: a key that is committed between the two lookups is no longer
	// fresh, but is found in the index.
	own := make(map[uint64]archive.Ref)
	b.mu.Lock()
	for _, k := range keys {
		if ref, ok := b.fresh[k]; ok {
			own[k] = ref
		}
	}
	b.mu.Unlock()
	found, err := b.known.Known(ctx, keys)
	if err != nil {
		return nil, err
	}
	maps.Copy(own, found)
	return own, nil
}

func (b *bulk) addFresh(keys []archive.Identity) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range keys {
		if _, ok := b.fresh[k.Key]; !ok {
			b.fresh[k.Key] = k.Ref
		}
	}
}

// bulkTransaction is the passage text in a transaction of the writer: enough to make
// its fsync cheap, but little enough for writing to overlap with reading and for
// constant memory (100 MB: 1.66 s with 1 MB, 1.9 with 3, 2.05 with 8).
const bulkTransaction = 1 << 20

// write applies the steps, several batches to a transaction.
func (b *bulk) write(ctx context.Context, in <-chan step) error {
	var group []archive.Batch
	size := 0
	flush := func() error {
		err := b.apply(ctx, group)
		group, size = nil, 0
		return err
	}
	for s := range in {
		if s.written != nil {
			if err := flush(); err != nil {
				return err
			}
			if s.retire > 0 {
				if err := b.idx.Retire(ctx, s.id, s.retire); err != nil {
					return fmt.Errorf("retire generation %d of session %s: %w", s.retire, s.id, err)
				}
			}
			close(s.written)
			continue
		}
		group = append(group, s.batch)
		for i := range s.batch.Passages {
			size += len(s.batch.Passages[i].Text)
		}
		if size >= bulkTransaction || len(group) >= 256 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return flush()
}

// apply writes batches in one transaction.
func (b *bulk) apply(ctx context.Context, group []archive.Batch) error {
	if len(group) == 0 {
		return nil
	}
	if err := b.idx.ApplyAll(ctx, group); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, batch := range group {
		for _, k := range batch.Keys {
			delete(b.fresh, k.Key)
		}
	}
	return nil
}
