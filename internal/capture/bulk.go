package capture

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"golang.org/x/sync/errgroup"

	"strandline/internal/archive"
)

// IndexReader is the part of an index that is read while another connection writes.
type IndexReader interface {
	Known(ctx context.Context, keys []uint64) (map[uint64]archive.Ref, error)
	Cursor(ctx context.Context, session string) (archive.Cursor, error)
}

// Job is one file of a bulk capture, or a session whose logs are to be indexed
// when Source is nil.
type Job struct {
	Source  *Source
	Session string // archive session id, for a job without Source
	Size    int64  // transcript bytes, for the progress
}

// Progress tells how far a bulk capture is.
type Progress struct {
	Done, Jobs        int   // files
	Bytes, TotalBytes int64 // transcript bytes of those files
	Added             int64 // bytes that were new to the logs
	Sessions, Agents  int   // sessions, and sub-agents' runs, whose index changed
}

// Report is the outcome of a bulk capture. A file that could not be read is in
// Failed and does not keep the others from being captured.
type Report struct {
	Progress
	Failed []FileError
}

// FileError is one file that was not captured.
type FileError struct {
	Path string
	Err  error
}

// Bulk captures many files in the order given. Three stages overlap: logging,
// reading, and writing the index; each is one goroutine, so that the first
// session to hold a row owns it whatever the timing. idx is written by one
// stage while another asks known, which should be a second, read-only
// connection to the same index (idx itself works, more slowly). progress may be
// nil; it is not called by two goroutines at once.
func (c *Capture) Bulk(ctx context.Context, idx Index, known IndexReader, jobs []Job, progress func(Progress)) (Report, error) {
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
	err := g.Wait()
	return b.report, err
}

// bulk is the state that the stages of one Bulk share.
type bulk struct {
	capture  *Capture
	idx      Index
	known    IndexReader
	progress func(Progress)

	mu     sync.Mutex // guards what follows
	report Report
	fresh  map[uint64]archive.Ref // identities read but not yet committed
}

func (b *bulk) log(ctx context.Context, jobs []Job, out chan<- Job) error {
	list := lister{capture: b.capture}
	for _, j := range jobs {
		if j.Source != nil {
			var logged Logged
			k, err := list.of(*j.Source)
			if k.forgotten && err == nil {
				b.advance(j.Size, "")
				continue
			}
			if err == nil {
				logged, err = b.capture.logInto(ctx, k, *j.Source)
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				b.fail(j.Source.Path, err)
				b.advance(j.Size, "")
				continue
			}
			b.mu.Lock()
			b.report.Added += logged.Added
			b.mu.Unlock()
			j.Session = logged.Session
			if j.Source.Rel != "" && j.Source.Agent() == "" {
				j.Session = "" // a side file is kept, not read
			}
		}
		select {
		case out <- j:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (b *bulk) fail(path string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.report.Failed = append(b.report.Failed, FileError{Path: path, Err: err})
}

// advance counts a finished job and tells the progress. changed is the session
// whose index it changed, if there is one.
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

// read turns logged files into batches.
func (b *bulk) read(ctx context.Context, in <-chan Job, out chan<- step) error {
	seen := map[string]bool{}
	for j := range in {
		if j.Session == "" {
			b.advance(j.Size, "")
			continue
		}
		send := func(s step) error { return send(ctx, out, s) }
		if seen[j.Session] {
			// The same session from a second place: its cursor has to be
			// written before it is read again.
			if err := send(step{wait: true}); err != nil {
				return err
			}
		}
		seen[j.Session] = true
		changed := ""
		err := b.capture.indexInto(ctx, j.Session, b.known.Cursor, b.lookup, func(s step) error {
			changed = j.Session
			b.remember(s.batch.Keys)
			// What a retired generation owned has another name afterwards.
			s.wait = s.retire > 0
			return send(s)
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

// send passes a step to the writer and, where the step asks for it, waits until
// it and everything before are written.
func send(ctx context.Context, out chan<- step, s step) error {
	var done chan struct{}
	if s.wait {
		done = make(chan struct{})
		s.written = done
	}
	select {
	case out <- s:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// lookup asks the index and knows what is on its way into it.
func (b *bulk) lookup(ctx context.Context, keys []uint64) (map[uint64]archive.Ref, error) {
	// The overlay is asked first: a key that is committed in between has left
	// it, but is in the answer already.
	b.mu.Lock()
	own := make(map[uint64]archive.Ref)
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

func (b *bulk) remember(keys []archive.Identity) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range keys {
		if _, ok := b.fresh[k.Key]; !ok {
			b.fresh[k.Key] = k.Ref
		}
	}
}

// A transaction of the writer ends at so much passage text: large enough to
// pay for its fsync, small enough that writing overlaps with reading and memory
// stays constant (100 MB: 1.66 s with 1 MB, 1.9 with 3, 2.05 with 8).
const bulkTransaction = 1 << 20

// write applies batches, several to a transaction.
func (b *bulk) write(ctx context.Context, in <-chan step) error {
	var group []archive.Batch
	size := 0
	flush := func() error {
		if len(group) == 0 {
			return nil
		}
		if err := b.idx.ApplyAll(ctx, group); err != nil {
			return fmt.Errorf("write index: %w", err)
		}
		b.mu.Lock()
		for _, batch := range group {
			for _, k := range batch.Keys {
				delete(b.fresh, k.Key)
			}
		}
		b.mu.Unlock()
		group, size = nil, 0
		return nil
	}
	for s := range in {
		if s.written != nil {
			if err := b.setAside(ctx, s, flush); err != nil {
				return err
			}
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

// setAside does the steps that need everything before them to be written.
func (b *bulk) setAside(ctx context.Context, s step, flush func() error) error {
	if err := flush(); err != nil {
		return err
	}
	if s.retire > 0 {
		if err := b.idx.Retire(ctx, s.id, s.retire); err != nil {
			return fmt.Errorf("set aside generation %d of session %s: %w", s.retire, s.id, err)
		}
	}
	close(s.written)
	return nil
}
