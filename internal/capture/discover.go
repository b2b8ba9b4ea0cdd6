package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
)

// Discover lists the files to import below the given paths: transcripts
// (*.jsonl), and the folders that the client keeps beside them. A path may be a
// transcript, a project's folder or a folder of those. Files come in the order
// in which their sessions began, a session's side files right behind it, so
// that a fork finds the rows it copied. The second result names what cannot be
// read.
func (c *Capture) Discover(ctx context.Context, paths []string) ([]Job, []FileError, error) {
	d := discovery{began: c.began, seen: map[string]bool{}}
	return d.jobs(ctx, paths)
}

// List is Discover for callers that only want to know what there is: it opens no
// file, and so lists those as well that cannot be read, in the order of their
// paths.
func List(ctx context.Context, paths []string) ([]Job, []FileError, error) {
	d := discovery{seen: map[string]bool{}}
	return d.jobs(ctx, paths)
}

// began says when the session of a transcript began, by its first row; by the
// file's time where no row tells.
func (c *Capture) began(path string, info os.FileInfo) (time.Time, error) {
	f, _, err := openSource(path)
	if err != nil {
		return time.Time{}, err
	}
	defer f.Close()
	if facts, err := c.peek(f); err == nil && !facts.First.IsZero() {
		return facts.First, nil
	}
	return info.ModTime(), nil
}

type discovery struct {
	// began dates a transcript; nil where the order does not matter.
	began  func(path string, info os.FileInfo) (time.Time, error)
	seen   map[string]bool
	found  []found
	failed []FileError
}

type found struct {
	source Source
	size   int64
	first  time.Time
}

// jobs looks below the paths and puts what it found into order.
func (d *discovery) jobs(ctx context.Context, paths []string) ([]Job, []FileError, error) {
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, nil, fmt.Errorf("find transcripts: %w", err)
		}
		info, err := os.Stat(abs)
		if err != nil {
			return nil, nil, &archive.Error{
				Code: archive.CodeNotFound, Msg: "cannot read " + p, Err: err,
				Hint: "give a transcript (*.jsonl) or a folder that holds transcripts",
			}
		}
		if info.IsDir() {
			err = d.walk(ctx, abs)
		} else {
			d.add(abs, info)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	slices.SortStableFunc(d.found, func(a, b found) int {
		return cmp.Or(a.first.Compare(b.first), cmp.Compare(a.source.Path, b.source.Path))
	})
	var jobs []Job
	for _, f := range d.found {
		jobs = append(jobs, Job{Source: &f.source, Size: f.size})
		side, err := SideFiles(f.source.Path, f.source.Session, "")
		if err != nil {
			d.failed = append(d.failed, FileError{Path: f.source.Path, Err: err})
		}
		for _, s := range side {
			size := int64(0)
			if info, err := os.Stat(s.Path); err == nil {
				size = info.Size()
			}
			jobs = append(jobs, Job{Source: &s, Size: size})
		}
	}
	return jobs, d.failed, nil
}

func (d *discovery) walk(ctx context.Context, root string) error {
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			d.failed = append(d.failed, FileError{Path: path, Err: err})
			if e != nil && e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir() && (e.Name() == agentFolder || e.Name() == sideFolder) && path != root:
			return fs.SkipDir // they come with their session
		case !e.Type().IsRegular():
			return nil
		}
		info, err := e.Info()
		if err != nil {
			d.failed = append(d.failed, FileError{Path: path, Err: err})
			return nil //nolint:nilerr // told in failed; the walk goes on
		}
		d.add(path, info)
		return nil
	})
}

// add notes a transcript; other files are passed over.
func (d *discovery) add(path string, info os.FileInfo) {
	session, ok := strings.CutSuffix(filepath.Base(path), transcriptExt)
	if !ok || !archive.ValidID(session) || !info.Mode().IsRegular() || d.seen[path] {
		return
	}
	d.seen[path] = true
	file := found{source: Source{Path: path, Session: session}, size: info.Size()}
	if d.began != nil {
		first, err := d.began(path, info)
		if err != nil {
			d.failed = append(d.failed, FileError{Path: path, Err: err})
			return
		}
		file.first = first
	}
	d.found = append(d.found, file)
}

// LoggedJobs lists every session that has a log, in the order in which the logs were
// begun: what a rebuilt index is read from. A log that cannot be read comes first
// and under its file's name, so that Bulk reports it and reads the others.
func (c *Capture) LoggedJobs(ctx context.Context) ([]Job, error) {
	type item struct {
		job     Job
		created time.Time
	}
	byID := map[string]*item{}
	for entry, err := range c.Layout.Walk(ctx) {
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("list logs: %w", err)
		}
		if entry.Client != c.Client.Name {
			continue
		}
		r, err := sessionlog.OpenReader(entry.Path)
		if archive.ErrorCode(err) == archive.CodeNotFound {
			continue // its first capture was killed before it wrote a byte
		}
		if err != nil {
			id := entry.Session
			if agent := (Source{Rel: entry.Rel}).Agent(); agent != "" {
				id += "~" + agent
			} else if entry.Rel != "" {
				continue
			}
			byID[id] = &item{job: Job{Session: id}}
			continue
		}
		h, pos := r.Header(), r.Position()
		if err := r.Close(); err != nil {
			return nil, fmt.Errorf("list logs: %w", err)
		}
		if h.Kind != sessionlog.KindTranscript && h.Kind != sessionlog.KindAgent {
			continue
		}
		id := archiveID(h)
		if c.Forgotten().Has(id) {
			continue // deleting it was interrupted
		}
		it, ok := byID[id]
		if !ok {
			it = &item{job: Job{Session: id}, created: h.Created}
			byID[id] = it
		}
		it.job.Size += pos.Raw
		if h.Created.Before(it.created) {
			it.created = h.Created
		}
	}
	items := make([]*item, 0, len(byID))
	for _, it := range byID {
		items = append(items, it)
	}
	slices.SortFunc(items, func(a, b *item) int {
		return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.job.Session, b.job.Session))
	})
	jobs := make([]Job, len(items))
	for i, it := range items {
		jobs[i] = it.job
	}
	return jobs, nil
}
