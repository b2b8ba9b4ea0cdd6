package capture

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
	"strandline/internal/transcript/claude"
)

// Rebuilding selects what Rebuild writes and where.
type Rebuilding struct {
	Dir string // the client's folder of projects
	// Cwd is the working directory in whose folder the client looks for the session;
	// "" is the one that it had.
	Cwd  string
	Mend bool // relink rows whose parent is not in the transcript
	// FromLastCompaction leaves out the rows before it that a resume does not read.
	FromLastCompaction bool
	// Replace allows to replace a file if the log holds all of its bytes.
	Replace bool
}

// changes reports whether the transcript is not written byte for byte.
func (o Rebuilding) changes() bool { return o.Mend || o.FromLastCompaction }

// Reach reports how many turns of a session the client's resume finds.
func (c *Capture) Reach(ctx context.Context, session string) (claude.Reach, error) {
	r, err := c.Open(session, 0)
	if err != nil {
		return claude.Reach{}, err
	}
	defer r.Close()
	if c.ClientOf(r.Header().Client).New != nil {
		return claude.Reach{}, nil // a resume reads all of it
	}
	chain, err := readChain(ctx, r)
	if err != nil {
		return claude.Reach{}, err
	}
	return chain.Reach(false), nil
}

// readChain reads the links between the rows of a log.
func readChain(ctx context.Context, r *sessionlog.Reader) (*claude.Chain, error) {
	chain := claude.NewChain()
	err := eachChunk(ctx, r, func(chunk []byte, first int, _, _ int64) error {
		chain.Read(chunk, first)
		return nil
	})
	return chain, err
}

// eachChunk calls fn with the chunks of complete lines of a log, the number of their
// first line and their offsets. A chunk is shorter than its offsets say if its one line is
// too long to be parsed.
func eachChunk(ctx context.Context, r *sessionlog.Reader, fn func(chunk []byte, first int, from, to int64) error) error {
	lines := lineReader{log: r, end: r.Position().Raw}
	for first := 0; ; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		from := lines.offset
		chunk, to, err := lines.next()
		if err != nil || len(chunk) == 0 {
			return err
		}
		if err := fn(chunk, first, from, to); err != nil {
			return err
		}
		first += bytes.Count(chunk, []byte("\n"))
	}
}

// writeResumable writes a transcript as o selects it: with mended links, or from the last
// compaction on. Memory depends on the number of rows, not on their size.
func writeResumable(ctx context.Context, r *sessionlog.Reader, o Rebuilding, w io.Writer) error {
	chain, err := readChain(ctx, r)
	if err != nil {
		return err
	}
	begin, kept := 0, map[int]bool(nil)
	if o.FromLastCompaction {
		var ok bool
		if begin, kept, ok = chain.Compacted(); !ok {
			return archive.Invalid("the session was never compacted", "rebuild it without --from-last-compaction")
		}
	}
	parents := map[int]string(nil)
	if o.Mend {
		parents = chain.Reach(true).Parents
	}
	return eachChunk(ctx, r, func(chunk []byte, line int, from, to int64) error {
		if int64(len(chunk)) < to-from {
			if line < begin {
				return nil
			}
			if _, err := io.Copy(w, r.NewSection(from, to-from)); err != nil {
				return fmt.Errorf("copy a long row: %w", err)
			}
			return nil
		}
		for row := range bytes.Lines(chunk[:to-from]) { // the last line may lack its newline
			if line >= begin || kept[line] {
				if uuid, ok := parents[line]; ok {
					row = claude.SetParent(row, uuid)
				}
				if _, err := w.Write(row); err != nil {
					return fmt.Errorf("write transcript: %w", err)
				}
			}
			line++
		}
		return nil
	})
}

// heldBy reports whether one of a session's logs begins with all bytes of a file.
func heldBy(path string, logs []sessionlog.Entry) (bool, error) {
	f, info, err := openSource(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	for _, e := range logs {
		if pos, err := sessionlog.ReadPosition(e.Path); err != nil || info.Size() > pos.Raw {
			continue // a damaged log holds no copy
		}
		if same, err := beginsWith(f, e.Path, info.Size()); err != nil || same {
			return same, err
		}
	}
	return false, nil
}

// TranscriptPath returns where Rebuild writes a session's transcript, and the size of its
// latest log.
func (c *Capture) TranscriptPath(session string, o Rebuilding) (path string, held int64, err error) {
	entry, err := c.find(session, 0)
	if err != nil {
		return "", 0, err
	}
	if path, err = c.pathOf(entry, o); err != nil {
		return "", 0, err
	}
	pos, err := sessionlog.ReadPosition(entry.Path)
	return path, pos.Raw, err
}

// pathOf returns where Rebuild writes a transcript.
func (c *Capture) pathOf(entry sessionlog.Entry, o Rebuilding) (string, error) {
	client := c.ClientOf(entry.Client)
	if client.New == nil {
		folder, err := c.folderOf(entry, o)
		return filepath.Join(o.Dir, folder, entry.Session+TranscriptExt), err
	}
	if o.changes() {
		return "", archive.Invalid(client.Title+" resumes a session from its whole transcript only", "leave out --mend and --from-last-compaction")
	}
	h, _, err := sessionlog.ReadHeader(entry.Path)
	if err != nil {
		return "", err
	}
	if (Source{Client: client.Name, Path: h.Source}).stored() {
		return "", archive.Invalid(client.Title+" keeps its sessions in a database, into which none can be put back", "print its lines with: strandline export "+archive.ShortID(entry.Session))
	}
	place := filepath.Join(filepath.Base(filepath.Dir(h.Source)), filepath.Base(h.Source))
	if client.Place != nil {
		place = client.Place(h.Source, h.Session)
	}
	if !filepath.IsLocal(place) {
		return "", archive.Invalid("the place of the transcript is not known: "+archive.Clip(h.Source, 200), "")
	}
	return filepath.Join(o.Dir, place), nil
}

// folderOf returns the client's folder name of the rebuilt session.
func (c *Capture) folderOf(entry sessionlog.Entry, o Rebuilding) (string, error) {
	if o.Cwd != "" {
		return claude.Slug(o.Cwd), nil
	}
	return c.clientFolder(entry)
}
