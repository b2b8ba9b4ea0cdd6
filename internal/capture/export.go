package capture

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
	"strandline/internal/transcript/claude"
)

// Export writes the exact bytes of a session's transcript; generation 0 is the
// latest.
func (c *Capture) Export(session string, generation int, w io.Writer) error {
	entry, err := c.find(session, generation)
	if err != nil {
		return err
	}
	return exportLog(entry, "session "+session, w)
}

// ExportFile writes the exact bytes of a file in the client's folder of a session.
// rel is its path there, with forward slashes.
func (c *Capture) ExportFile(session, rel string, w io.Writer) error {
	entry, err := c.find(session, 0)
	if err != nil {
		return err
	}
	files := c.Layout.FindChild(entry.Client, entry.Slug, entry.Session, rel)
	if len(files) == 0 {
		return archive.NotFound(fmt.Sprintf("session %s has no file %q", session, archive.Clip(rel, 200)),
			"`strandline show SESSION` lists its files")
	}
	return exportLog(files[len(files)-1], rel, w)
}

func exportLog(entry sessionlog.Entry, what string, w io.Writer) error {
	r, err := sessionlog.OpenReader(entry.Path)
	if err != nil {
		return err
	}
	_, err = r.WriteTo(w)
	if err = errors.Join(err, r.Close()); err != nil {
		return fmt.Errorf("export %s: %w", what, err)
	}
	return nil
}

// SideFiles lists the paths of the archived files in the client's folder of a
// session.
func (c *Capture) SideFiles(session string) ([]string, error) {
	entry, err := c.find(session, 0)
	if err != nil {
		return nil, err
	}
	all, err := c.Layout.Children(entry.Client, entry.Slug, entry.Session)
	if err != nil {
		return nil, fmt.Errorf("list files of session %s: %w", session, err)
	}
	var out []string
	for _, e := range all {
		out = append(out, e.Rel)
	}
	return slices.Compact(out), nil
}

// RestoredFile is one file that Rebuild wrote.
type RestoredFile struct {
	Path  string
	Bytes int64
	Kept  bool // the file existed with the same content
}

// Rebuild writes a session's transcript, its sub-agents' transcripts and its side
// files below a folder, where the client has them. An existing file with other content is
// an error, unless o.Replace is set and the archive holds all of its bytes; so is a session
// without a log. All paths are made from the log's layout.
func (c *Capture) Rebuild(ctx context.Context, session string, o Rebuilding) ([]RestoredFile, error) {
	session, _, _ = strings.Cut(session, "~") // a sub-agent's run is rebuilt with its parent
	entry, err := c.find(session, 0)
	if err != nil {
		return nil, err
	}
	var out []RestoredFile
	files, err := c.filesOf(ctx, entry, o)
	for i := 0; i < len(files) && err == nil; i++ {
		if err = context.Cause(ctx); err != nil {
			return out, err
		}
		var done RestoredFile
		if done, err = restoreFile(ctx, files[i]); err == nil {
			out = append(out, done)
		}
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("rebuild session %s: %w", session, err)
	}
	return out, err
}

// logCopy is a log and the path to restore it to.
type logCopy struct {
	log  sessionlog.Entry
	path string
	// write writes another content than the log's; nil writes the log's.
	write func(ctx context.Context, r *sessionlog.Reader, w io.Writer) error
	// held are the logs one of which has to hold an existing file that is replaced.
	held []sessionlog.Entry
}

// filesOf lists the latest logs of a session's files and the paths to restore them to.
func (c *Capture) filesOf(ctx context.Context, entry sessionlog.Entry, o Rebuilding) (files []logCopy, err error) {
	path, err := c.pathOf(entry, o)
	if err != nil {
		return nil, err
	}
	target := filepath.Dir(path)
	at := map[string]int{}
	add := func(e sessionlog.Entry, path string) {
		if i, ok := at[path]; ok {
			files[i].log = e // a later generation
			return
		}
		at[path] = len(files)
		files = append(files, logCopy{log: e, path: path})
	}
	add(entry, path)
	if o.changes() {
		files[0].write = func(ctx context.Context, r *sessionlog.Reader, w io.Writer) error {
			return writeResumable(ctx, r, o, w)
		}
	}
	if o.Replace {
		if files[0].held, err = c.transcripts(entry.Session); err != nil {
			return nil, fmt.Errorf("find log: %w", err)
		}
	}
	children, err := c.Layout.Children(entry.Client, entry.Slug, entry.Session)
	if err != nil {
		return nil, err
	}
	for _, child := range children {
		if isNote(child.Rel) {
			add(child, notePath(o.Dir, target, entry.Session, child.Rel))
			continue
		}
		add(child, filepath.Join(target, entry.Session, filepath.FromSlash(child.Rel)))
	}
	for e, err := range c.Layout.Walk(ctx) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		// An error is about another session's folder: this one's was listed above.
		if err == nil && e.Client == entry.Client && (e.Slug == entry.Slug || e.Client != claude.Name) && e.Session != entry.Session && c.SessionOf(e) == entry.Session {
			if path, err = c.pathOf(e, o); err != nil {
				return nil, err
			}
			add(e, path)
		}
	}
	return files, nil
}

// projectsFolder is the client's folder of project folders.
const projectsFolder = "projects"

// clientFolder returns the client's folder name for a session. A transcript that was
// imported from elsewhere gets the name that the client would use.
func (c *Capture) clientFolder(entry sessionlog.Entry) (string, error) {
	h, _, err := sessionlog.ReadHeader(entry.Path)
	if err != nil {
		return "", err
	}
	fromClient := filepath.Base(filepath.Dir(filepath.Dir(h.Source))) == projectsFolder
	if fromClient || h.Cwd == "" {
		return entry.Slug, nil
	}
	return claude.Slug(h.Cwd), nil
}

// restoreFile writes one file from its log, unless it exists.
func restoreFile(ctx context.Context, file logCopy) (RestoredFile, error) {
	r, err := sessionlog.OpenReader(file.log.Path)
	if err != nil {
		return RestoredFile{}, err
	}
	defer r.Close()
	path := file.path
	out := RestoredFile{Path: path, Bytes: r.Position().Raw}
	if _, err := os.Lstat(path); err == nil {
		if out.Kept = isNote(file.log.Rel); out.Kept {
			return out, nil // a later session may have changed it
		}
		if file.write == nil {
			if out.Kept, err = hasContent(path, r); err != nil || out.Kept {
				return out, err
			}
		}
		if held, err := heldBy(path, file.held); err != nil {
			return out, err
		} else if !held {
			return out, archive.Invalid(path+" exists with other content", "move it away first, or rebuild into another folder with --to DIR")
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return out, fmt.Errorf("make folder: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".rebuild-*")
	if err != nil {
		return out, fmt.Errorf("write file: %w", err)
	}
	if file.write == nil {
		_, err = r.WriteTo(tmp)
	} else {
		err = writeBuffered(ctx, file, r, tmp)
	}
	if info, serr := tmp.Stat(); serr == nil {
		out.Bytes = info.Size()
	}
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return out, fmt.Errorf("write file: %w", errors.Join(err, os.Remove(tmp.Name())))
	}
	return out, nil
}

func writeBuffered(ctx context.Context, file logCopy, r *sessionlog.Reader, to io.Writer) error {
	w := bufio.NewWriterSize(to, 1<<20)
	return errors.Join(file.write(ctx, r, w), w.Flush())
}

// hasContent reports whether a file has the content of a log. It compares hashes.
func hasContent(path string, r *sessionlog.Reader) (bool, error) {
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
