package capture

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
)

// find returns the log of a session's generation; 0 is the one that the id
// names ("<id>@<generation>"), or the latest.
func (c *Capture) find(session string, generation int) (sessionlog.Entry, error) {
	if id, older, ok := strings.Cut(session, "@"); ok {
		if n, err := strconv.Atoi(older); err == nil && generation == 0 {
			session, generation = id, n
		}
	}
	logs, err := c.generations(session)
	if err != nil {
		return sessionlog.Entry{}, fmt.Errorf("find log of session %s: %w", session, err)
	}
	for i := len(logs) - 1; i >= 0; i-- {
		if generation == 0 || logs[i].Generation == generation {
			return logs[i], nil
		}
	}
	if len(logs) > 0 {
		return sessionlog.Entry{}, archive.NotFound(fmt.Sprintf("session %s has no generation %d", session, generation),
			fmt.Sprintf("the latest is %d; leave --generation out for it", logs[len(logs)-1].Generation))
	}
	return sessionlog.Entry{}, archive.NotFound(
		fmt.Sprintf("no log of session %s", session),
		"`strandline sessions` lists the sessions that are kept")
}

// Open opens the log of a session; generation 0 is the latest.
func (c *Capture) Open(session string, generation int) (*sessionlog.Reader, error) {
	entry, err := c.find(session, generation)
	if err != nil {
		return nil, err
	}
	return sessionlog.OpenReader(entry.Path)
}

// Export writes the exact bytes of a session's transcript.
func (c *Capture) Export(session string, generation int, w io.Writer) error {
	r, err := c.Open(session, generation)
	if err != nil {
		return err
	}
	_, err = r.WriteTo(w)
	if err = errors.Join(err, r.Close()); err != nil {
		return fmt.Errorf("export session %s: %w", session, err)
	}
	return nil
}

// DamagedBytes returns how many bytes at the end of a session's log cannot be read. A
// capture mends that while the client has its file.
func (c *Capture) DamagedBytes(session string, generation int) (int64, error) {
	r, err := c.Open(session, generation)
	if err != nil {
		return 0, err
	}
	return r.Torn(), r.Close()
}

// RestoredFile is one file that Rebuild put back.
type RestoredFile struct {
	Path  string
	Bytes int64
	Kept  bool // the file was there already with the same bytes
}

// Rebuild puts a session's transcript, its sub-agents' transcripts and its side
// files below dir (the client's folder of projects) as the client had them. A
// file that is there with other bytes is never touched: that is an error, and
// so is a session without a log. A path that the client would not look at is
// not made: names come from the log's layout only.
func (c *Capture) Rebuild(ctx context.Context, session, dir string) ([]RestoredFile, error) {
	session, _, _ = strings.Cut(session, "~") // a sub-agent's run comes with its parent
	entry, err := c.find(session, 0)
	if err != nil {
		return nil, err
	}
	folder, err := c.folder(entry)
	if err != nil {
		return nil, fmt.Errorf("rebuild session %s: %w", session, err)
	}
	target := filepath.Join(dir, folder)
	children, err := c.Layout.Children(c.Client.Name, entry.Slug, entry.Session)
	if err != nil {
		return nil, fmt.Errorf("rebuild session %s: %w", session, err)
	}
	files := map[string]sessionlog.Entry{filepath.Join(target, entry.Session+transcriptExt): entry}
	order := []string{filepath.Join(target, entry.Session+transcriptExt)}
	for _, child := range children {
		path := filepath.Join(target, entry.Session, filepath.FromSlash(child.Rel))
		if _, ok := files[path]; !ok {
			order = append(order, path)
		}
		files[path] = child // later generations come later
	}
	for e, err := range c.Layout.Walk(ctx) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil || e.Slug != entry.Slug || !c.isRunOf(e, entry.Session) {
			continue // a folder that cannot be listed is another session's: this one's was
		}
		path := filepath.Join(target, e.Session+transcriptExt)
		if _, ok := files[path]; !ok {
			order = append(order, path)
		}
		files[path] = e
	}
	var out []RestoredFile
	for _, path := range order {
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		done, err := putBack(files[path], path)
		if err != nil {
			return out, fmt.Errorf("rebuild session %s: %w", session, err)
		}
		out = append(out, done)
	}
	return out, nil
}

// folder is the client's name of the folder that a session belongs in. A
// transcript that was imported from somewhere else goes where the client would
// have written it.
func (c *Capture) folder(entry sessionlog.Entry) (string, error) {
	r, err := sessionlog.OpenReader(entry.Path)
	if err != nil {
		return "", err
	}
	h := r.Header()
	if err := r.Close(); err != nil {
		return "", fmt.Errorf("close log: %w", err)
	}
	fromClient := filepath.Base(filepath.Dir(filepath.Dir(h.Source))) == projectsFolder
	if fromClient || h.Cwd == "" || c.Client.Slug == nil {
		return entry.Slug, nil
	}
	return c.Client.Slug(h.Cwd), nil
}

// projectsFolder is where the client keeps one folder per project.
const projectsFolder = "projects"

// putBack writes one file from its log, unless it is there already.
func putBack(entry sessionlog.Entry, path string) (RestoredFile, error) {
	r, err := sessionlog.OpenReader(entry.Path)
	if err != nil {
		return RestoredFile{}, err
	}
	defer r.Close()
	out := RestoredFile{Path: path, Bytes: r.Position().Raw}
	if _, err := os.Lstat(path); err == nil {
		same, err := sameBytes(r, path)
		if err != nil {
			return out, err
		}
		if !same {
			return out, &archive.Error{
				Code: archive.CodeInvalid, Msg: path + " exists with other content",
				Hint: "move it away first, or rebuild into another folder with --to DIR",
			}
		}
		out.Kept = true
		return out, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return out, fmt.Errorf("make folder: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".rebuild-*")
	if err != nil {
		return out, fmt.Errorf("write file: %w", err)
	}
	_, err = r.WriteTo(tmp)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return out, fmt.Errorf("write file: %w", errors.Join(err, os.Remove(tmp.Name())))
	}
	return out, nil
}

// sameBytes compares a file with its log by their digests.
func sameBytes(r *sessionlog.Reader, path string) (bool, error) {
	f, _, err := openSource(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	file, log := sha256.New(), sha256.New()
	if _, err := io.Copy(file, f); err != nil {
		return false, fmt.Errorf("read %s: %w", path, err)
	}
	if _, err := r.WriteTo(log); err != nil {
		return false, fmt.Errorf("read log: %w", err)
	}
	return bytes.Equal(file.Sum(nil), log.Sum(nil)), nil
}

// HasLog reports whether a session of exactly this id is kept.
func (c *Capture) HasLog(session string) bool {
	_, err := c.find(session, 0)
	return err == nil
}

// ExportFile writes the exact bytes of a file that the client keeps in the
// session's folder; rel is its path there, with forward slashes.
func (c *Capture) ExportFile(session, rel string, w io.Writer) error {
	entry, err := c.find(session, 0)
	if err != nil {
		return err
	}
	files, err := c.children(entry.Slug, entry.Session, rel)
	if err != nil {
		return fmt.Errorf("export %s: %w", rel, err)
	}
	if len(files) == 0 {
		return archive.NotFound(fmt.Sprintf("session %s has no file %q", session, archive.Clip(rel, 200)),
			"`strandline show SESSION` lists its files")
	}
	r, err := sessionlog.OpenReader(files[len(files)-1].Path)
	if err != nil {
		return err
	}
	_, err = r.WriteTo(w)
	if err = errors.Join(err, r.Close()); err != nil {
		return fmt.Errorf("export %s: %w", rel, err)
	}
	return nil
}

// SideFiles lists the paths of the files that are kept beside a session's
// transcript.
func (c *Capture) SideFiles(session string) ([]string, error) {
	entry, err := c.find(session, 0)
	if err != nil {
		return nil, err
	}
	all, err := c.Layout.Children(c.Client.Name, entry.Slug, entry.Session)
	if err != nil {
		return nil, fmt.Errorf("list files of session %s: %w", session, err)
	}
	var out []string
	for _, e := range all {
		if len(out) == 0 || out[len(out)-1] != e.Rel {
			out = append(out, e.Rel)
		}
	}
	return out, nil
}
