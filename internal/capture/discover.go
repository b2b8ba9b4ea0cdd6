package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// Discover lists the files to import below the given paths: the transcripts of the known
// clients and Claude Code's folders beside them. A path may be a transcript, a project's folder
// or a folder of those. Files are in the order in which their sessions began, a
// session's side files directly after it, so that a fork comes after the session that
// it copied. The second result lists the files that cannot be read.
func (c *Capture) Discover(ctx context.Context, paths []string) ([]Job, []FileError, error) {
	return (&discovery{capture: c, clients: c.Known(), seen: map[string]bool{}, folders: map[string]bool{}}).jobs(ctx, paths)
}

// List is Discover of Claude Code's files without opening them: it includes files that
// cannot be read, and sorts by path.
func List(ctx context.Context, paths []string) ([]Job, []FileError, error) {
	return (&discovery{clients: []transcript.Client{claude.Client()}, seen: map[string]bool{}, folders: map[string]bool{}}).jobs(ctx, paths)
}

// began completes the source of a transcript and returns the time of its first row, or
// the file's time if no row has one.
func (c *Capture) began(src *Source, info os.FileInfo) (time.Time, error) {
	f, _, err := c.open(src.Client, src.Path, nil)
	if err != nil {
		return time.Time{}, err
	}
	defer f.Close()
	facts, err := c.peek(src.Client, f)
	if err == nil && !src.common() {
		src.describe(facts)
	}
	if err == nil && !facts.First.IsZero() {
		return facts.First, nil
	}
	return info.ModTime(), nil
}

// describe sets what only the rows of a transcript say: where the session ran, and that it
// is of a sub-agent.
func (s *Source) describe(facts transcript.Facts) {
	s.Cwd = cmp.Or(s.Cwd, facts.Cwd)
	if archive.ValidID(facts.Agent) && archive.ValidID(facts.Session) {
		s.Session = agentPrefix + facts.Agent
	}
}

type discovery struct {
	// capture dates the transcripts; nil if the order does not matter.
	capture *Capture
	clients []transcript.Client
	seen    map[string]bool
	// folders are those that were met in walked ones.
	folders map[string]bool
	found   []found
	failed  []FileError
}

type found struct {
	source Source
	// walked reports that the folder of the file is in discovery.folders.
	walked bool
	size   int64
	first  time.Time
}

// jobs searches the paths and sorts the transcripts.
func (d *discovery) jobs(ctx context.Context, paths []string) (_ []Job, _ []FileError, err error) {
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
			d.add(abs, info, false)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	slices.SortStableFunc(d.found, func(a, b found) int {
		return cmp.Or(a.first.Compare(b.first), cmp.Compare(a.source.Path, b.source.Path))
	})
	newest := map[string]string{} // transcript of a project
	for _, f := range d.found {
		newest[filepath.Dir(f.source.Path)] = f.source.Path
	}
	var jobs []Job
	for _, f := range d.found {
		jobs = append(jobs, Job{Source: &f.source, Size: f.size})
		var side []Source
		if f.source.common() && (!f.walked || d.folders[strings.TrimSuffix(f.source.Path, TranscriptExt)]) {
			if side, err = SideFiles(f.source.Path, f.source.Session, ""); err != nil {
				d.fail(f.source.Path, err)
			}
		}
		if d.capture != nil && f.source.common() {
			side = append(side, notes(f.source, newest[filepath.Dir(f.source.Path)] == f.source.Path)...)
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

func (d *discovery) fail(path string, err error) {
	d.failed = append(d.failed, FileError{Path: path, Err: err})
}

func (d *discovery) walk(ctx context.Context, root string) error {
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			d.fail(path, err)
			if e != nil && e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir() && (e.Name() == agentFolder || e.Name() == sideFolder) && path != root:
			return fs.SkipDir // its files are listed with their session
		case e.IsDir():
			d.folders[path] = true
			return nil
		case !e.Type().IsRegular():
			return nil
		}
		if info, err := e.Info(); err != nil {
			d.fail(path, err)
		} else {
			d.add(path, info, true)
		}
		return nil
	})
}

// add adds a transcript and ignores other files.
func (d *discovery) add(path string, info os.FileInfo, walked bool) {
	client, session := d.of(path)
	if !info.Mode().IsRegular() || d.seen[path] {
		return
	}
	if session == "" {
		d.addStored(path)
		return
	}
	d.seen[path] = true
	file := found{source: Source{Client: client, Path: path, Session: session}, walked: walked, size: info.Size()}
	if d.capture != nil {
		d.capture.recognize(&file.source)
		var err error
		if file.first, err = d.capture.began(&file.source, info); errors.Is(err, fs.ErrNotExist) {
			return // removed since, or without a conversation
		} else if err != nil {
			d.fail(path, err)
			return
		}
	}
	d.found = append(d.found, file)
}

// addStored adds the sessions in a client's database and ignores other files.
func (d *discovery) addStored(path string) {
	if d.capture == nil {
		return
	}
	for _, c := range d.capture.Known() {
		if c.Database == nil || !c.Database.Match(path) {
			continue
		}
		d.seen[path] = true
		list, err := c.Database.List(path)
		if err != nil {
			d.fail(path, err)
		}
		for _, s := range list {
			if archive.ValidID(s.ID) {
				d.found = append(d.found, found{source: storedSource(c.Name, s), size: s.Bytes, first: s.Created})
			}
		}
		return
	}
}

// storedSource returns the source of a session in a database.
func storedSource(client string, s transcript.Stored) Source {
	src := Source{Client: client, Path: s.Path, Session: s.ID, changed: s.Changed}
	src.describe(transcript.Facts{Session: s.Parent, Agent: s.ID, Cwd: s.Cwd})
	return src
}

// of returns the client and the session of a transcript, "" if a path is none.
func (d *discovery) of(path string) (client, session string) {
	for _, c := range d.clients {
		if session, ok := c.File(path); ok && archive.ValidID(session) {
			return c.Name, session
		}
	}
	return "", ""
}

// LoggedJobs lists every session with a log, by the time of its first log: the jobs of
// a rebuilt index. Logs that cannot be read come first, under the session in their
// file name, so that Bulk reports them and reads the others.
func (c *Capture) LoggedJobs(ctx context.Context) ([]Job, error) {
	type item struct {
		Job
		created time.Time
	}
	byID := map[string]item{}
	var entries []sessionlog.Entry
	for entry, err := range c.Layout.Walk(ctx) {
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("list logs: %w", err)
		}
		if slices.ContainsFunc(c.Known(), func(x transcript.Client) bool { return x.Name == entry.Client }) {
			entries = append(entries, entry)
		}
	}
	for i, end := range readEnds(entries) {
		entry, h, pos, err := entries[i], end.Header, end.Position, end.err
		if c.list != nil {
			c.list.ends[entry.Path] = end
		}
		if archive.ErrorCode(err) == archive.CodeNotFound {
			continue // the first capture was killed before it wrote a byte
		}
		if err != nil {
			id := entry.Session
			if agent := (Source{Rel: entry.Rel}).Agent(); agent != "" {
				id += "~" + agent
			} else if entry.Rel != "" {
				continue
			}
			byID[id] = item{Job: Job{Session: id}}
			continue
		}
		id := archiveID(h)
		if h.Kind != sessionlog.KindTranscript && h.Kind != sessionlog.KindAgent || c.forgets() && c.Forgotten().Has(id) {
			continue // a side file, or an interrupted deletion
		}
		it, ok := byID[id]
		if !ok {
			it = item{Job: Job{Session: id}, created: h.Created}
		}
		if it.Size += pos.Raw; entry.Generation > it.Generation {
			it.Generation, it.Earlier = entry.Generation, it.Size-pos.Raw
		}
		if h.Created.Before(it.created) {
			it.created = h.Created
		}
		byID[id] = it
	}
	items := slices.SortedFunc(maps.Values(byID), func(a, b item) int {
		return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.Session, b.Session))
	})
	jobs := make([]Job, len(items))
	for i, it := range items {
		jobs[i] = it.Job
	}
	return jobs, nil
}
