package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/transcript"
)

// Source is one file of a client to be archived.
type Source struct {
	Path    string
	Session string // the client's session id
	// Rel is the path below the client's "<session>/" folder with forward
	// slashes, e.g. "subagents/agent-a1.jsonl"; empty for the transcript itself.
	Rel string
	// Cwd is the working directory of the session, if the caller knows it.
	Cwd string

	folder string // of the session's transcript, if the file is elsewhere
}

// Slug returns the name of the client's project folder that contains the file.
func (s Source) Slug() string {
	if s.folder != "" {
		return s.folder
	}
	dir := filepath.Dir(s.Path)
	if s.Rel != "" {
		for range strings.Count(s.Rel, "/") + 1 {
			dir = filepath.Dir(dir)
		}
	}
	return filepath.Base(dir)
}

// Agent returns the sub-agent's id if the file is its transcript, else "".
func (s Source) Agent() string {
	name, ok := strings.CutPrefix(filepath.Base(s.Rel), agentPrefix)
	if !ok || !strings.HasSuffix(name, transcriptExt) {
		return ""
	}
	return strings.TrimSuffix(name, transcriptExt)
}

// isSideFile reports whether the file is archived but not indexed.
func (s Source) isSideFile() bool { return s.Rel != "" && s.Agent() == "" }

const (
	agentPrefix   = "agent-"
	transcriptExt = ".jsonl"
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
	if !filepath.IsAbs(path) || filepath.Base(path) != session+transcriptExt {
		return Source{}, archive.Invalid(fmt.Sprintf("%q is not the transcript of session %s", archive.Clip(path, 200), session), "")
	}
	return Source{Path: filepath.Clean(path), Session: session, Cwd: cwd}, nil
}

// openSource opens a regular file. It does not block on a FIFO or a device.
func openSource(path string) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open transcript: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = archive.Invalid(fmt.Sprintf("%s is not a regular file", path), "")
	}
	if err != nil {
		_ = f.Close() // the first error is returned
		return nil, nil, fmt.Errorf("open transcript: %w", err)
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

// peek reads the facts from the start of a transcript.
func (c *Capture) peek(f io.ReaderAt) (transcript.Facts, error) {
	head := make([]byte, firstPeek)
	n, err := f.ReadAt(head, 0)
	if n == firstPeek {
		if facts := c.Client.Peek(head[:bytes.LastIndexByte(head, '\n')+1]); facts.Cwd != "" && !facts.First.IsZero() {
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
	return c.Client.Peek(head), nil
}
