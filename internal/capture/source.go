package capture

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// Source is one file of a client to be archived.
type Source struct {
	Client  string // its name; "" is the one in the common form
	Path    string
	Session string // the client's session id; "agent-<id>" for a sub-agent's transcript beside the others
	// Rel is the path below the client's "<session>/" folder with forward
	// slashes, e.g. "subagents/agent-a1.jsonl"; empty for the transcript itself.
	Rel string
	// Cwd is the working directory of the session, if the caller knows it.
	Cwd string

	folder string // of the logs, if it is not that of the file
	// changed is when a session in a database changed; zero for a file.
	changed time.Time
}

// Slug returns the name of the folder of the logs: of the client's project folder that
// contains the file or, if the client has none, one for the working directory.
func (s Source) Slug() string {
	if s.folder != "" {
		return s.folder
	}
	if !s.common() {
		return cmp.Or(claude.Slug(s.Cwd), "unknown")
	}
	dir := filepath.Dir(s.Path)
	if s.Rel != "" {
		for range strings.Count(s.Rel, "/") + 1 {
			dir = filepath.Dir(dir)
		}
	}
	return filepath.Base(dir)
}

// common reports whether the file is of the client whose rows are in the common form, and
// which has a folder per session.
func (s Source) common() bool { return s.Client == "" || s.Client == claude.Name }

// stored reports whether the source is a session in a client's database.
func (s Source) stored() bool {
	_, session := transcript.SplitStored(s.Path)
	return !s.common() && session != ""
}

// Agent returns the sub-agent's id if the file is its transcript, else "".
func (s Source) Agent() string {
	name, ok := strings.CutPrefix(filepath.Base(s.Rel), agentPrefix)
	if !ok || !strings.HasSuffix(name, TranscriptExt) {
		return ""
	}
	return strings.TrimSuffix(name, TranscriptExt)
}

// isSideFile reports whether the file is archived but not indexed.
func (s Source) isSideFile() bool { return s.Rel != "" && s.Agent() == "" }

const (
	agentPrefix = "agent-"
	// TranscriptExt is the extension of transcripts in the common form.
	TranscriptExt = ".jsonl"
	sideFolder    = "tool-results"
	agentFolder   = "subagents"
)

// TranscriptSource checks the transcript path of a hook's payload. The path must be
// absolute and its last element must be the session's id, so that a payload cannot
// archive an unrelated file under a session's name.
func TranscriptSource(path, session, cwd string) (Source, error) {
	if !archive.ValidID(session) {
		return Source{}, archive.Invalid(fmt.Sprintf("invalid session id %q", archive.Clip(session, 60)), "")
	}
	if !filepath.IsAbs(path) || filepath.Base(path) != session+TranscriptExt {
		return Source{}, archive.Invalid(fmt.Sprintf("%q is not the transcript of session %s", archive.Clip(path, 200), session), "")
	}
	return Source{Path: filepath.Clean(path), Session: session, Cwd: cwd}, nil
}

// HookSource is SourceOf for a hook whose payload says what the rows do: the folder, and
// the id of the sub-agent whose own transcript it is, "" for none. With a folder it reads nothing.
func (c *Capture) HookSource(client, path, session, agent, cwd string) (Source, error) {
	if cwd == "" {
		return c.SourceOf(client, path, cmp.Or(agent, session), cwd)
	}
	src, err := c.named(client, path, cmp.Or(agent, session), cwd)
	if err == nil && agent != "" {
		src.Session = agentPrefix + agent
	}
	return src, err
}

// SourceOf is TranscriptSource for a client: the path must name the session as the
// client's transcripts do.
func (c *Capture) SourceOf(client, path, session, cwd string) (Source, error) {
	src, err := c.named(client, path, session, cwd)
	if err != nil || src.common() {
		return src, err
	}
	f, _, err := c.open(client, src.Path, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return src, nil
	}
	if err != nil {
		return Source{}, err
	}
	facts, err := c.peek(client, f)
	src.describe(facts)
	return src, errors.Join(err, f.Close())
}

// named is SourceOf by the path alone.
func (c *Capture) named(client, path, session, cwd string) (Source, error) {
	src := Source{Client: client, Path: filepath.Clean(path), Session: session, Cwd: cwd}
	if src.common() {
		return TranscriptSource(path, session, cwd)
	}
	of := c.ClientOf(client)
	if of.File == nil {
		return Source{}, archive.Invalid(fmt.Sprintf("%q is no known client", archive.Clip(client, 60)), "")
	}
	if named, ok := of.File(path); !filepath.IsAbs(path) || !ok || named != session || !archive.ValidID(session) {
		return Source{}, archive.Invalid(fmt.Sprintf("%q is not a transcript of %s's session %q", archive.Clip(path, 200), of.Title, archive.Clip(session, 60)), "")
	}
	return src, nil
}

// openSource opens a regular file.
func openSource(path string) (*os.File, os.FileInfo, error) {
	return withInfo(transcript.OpenFile(path))
}

func withInfo(f *os.File, err error) (*os.File, os.FileInfo, error) {
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("open transcript: %w", errors.Join(err, f.Close()))
	}
	return f, info, nil
}

// SideFiles lists the files in the client's folder of a session: sub-agents'
// transcripts with their descriptions, and large tool outputs. It omits anything
// but regular files with a valid name. A missing folder has no files. A link is not
// followed: it could lead to files that are not the client's.
func SideFiles(transcript, session, cwd string) ([]Source, error) {
	return sideFiles(Source{Path: transcript, Session: session, Cwd: cwd}, nil)
}

// sideFiles is SideFiles of a transcript. In a folder with more than maxCompared files it
// omits those that are known, unless known is nil.
func sideFiles(main Source, known func(rel []byte) bool) ([]Source, error) {
	root := filepath.Join(filepath.Dir(main.Path), main.Session)
	var out []Source
	for _, folder := range []string{agentFolder, sideFolder} {
		dir := filepath.Join(root, folder)
		if isLink(root) || isLink(dir) {
			continue
		}
		entries, err := readFolder(dir + string(filepath.Separator))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return out, fmt.Errorf("list %s: %w", folder, err)
		}
		if known != nil && len(entries) > maxCompared {
			rel := make([]byte, 0, 256)
			entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
				return known(append(append(append(rel, folder...), '/'), e.Name()...))
			})
		}
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		for _, e := range entries {
			if e.Type().IsRegular() && archive.ValidID(e.Name()) {
				out = append(out, Source{
					Path: filepath.Join(dir, e.Name()), Session: main.Session, Rel: folder + "/" + e.Name(), Cwd: main.Cwd,
				})
			}
		}
	}
	return out, nil
}

// readFolder is os.ReadDir without the order.
func readFolder(dir string) ([]fs.DirEntry, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	entries, err := f.ReadDir(-1)
	return entries, errors.Join(err, f.Close())
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// peekBytes is enough of a transcript to contain the first rows that hold the
// session's working directory.
const peekBytes = 256 << 10

// firstPeek is usually enough, and much cheaper for thousands of files.
const firstPeek = 16 << 10

// open opens a file of a client for reading: the file itself, or what the client makes of
// it. Of a session in a database these are the lines in the latest of its logs and what
// they lack.
func (c *Capture) open(client, path string, logs []sessionlog.Entry) (*os.File, os.FileInfo, error) {
	of := c.ClientOf(client)
	if _, session := transcript.SplitStored(path); of.Database != nil && session != "" {
		return withInfo(openStored(of.Database, path, logs))
	}
	if of.Open != nil {
		return withInfo(of.Open(path))
	}
	return openSource(path)
}

// openStored opens a session in a database. A log that cannot be read is left out: the
// session's lines begin a generation.
func openStored(db *transcript.Database, path string, logs []sessionlog.Entry) (*os.File, error) {
	if len(logs) > 0 {
		if log, err := sessionlog.OpenReader(logs[len(logs)-1].Path); err == nil {
			defer log.Close()
			if f, err := db.Open(path, func() io.Reader { return log.NewSection(0, log.Position().Raw) }); err == nil || log.Torn() == 0 {
				return f, err
			}
		}
	}
	return db.Open(path, nil)
}

// peek reads the facts from the start of a client's transcript.
func (c *Capture) peek(client string, f io.ReaderAt) (transcript.Facts, error) {
	facts := func(head []byte) transcript.Facts { return claude.Peek(c.ClientOf(client).Common()(head)) }
	head := make([]byte, firstPeek)
	n, err := f.ReadAt(head, 0)
	if n == firstPeek {
		if facts := facts(head[:bytes.LastIndexByte(head, '\n')+1]); facts.Cwd != "" && !facts.First.IsZero() {
			return facts, nil
		}
		head = make([]byte, peekBytes)
		n, err = f.ReadAt(head, 0)
	}
	if err != nil && err != io.EOF {
		return transcript.Facts{}, fmt.Errorf("read head of transcript: %w", err)
	}
	head = head[:n]
	if n == peekBytes {
		if i := bytes.LastIndexByte(head, '\n'); i > 0 {
			head = head[:i+1]
		}
	}
	return facts(head), nil
}
