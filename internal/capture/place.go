package capture

import (
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
)

// logFile is where a source's log stands.
type logFile struct {
	layout sessionlog.Layout
	header sessionlog.Header
	rel    string // below the session's folder, empty for a transcript
	name   string // file name of the transcript without its ending
}

func (p logFile) path() string {
	h := p.header
	if p.rel != "" {
		return p.layout.ChildGeneration(h.Client, h.Slug, p.name, p.rel, h.Generation)
	}
	return p.layout.Transcript(h.Client, h.Slug, p.name, h.Generation)
}

// archiveID is the id under which the archive knows what the header describes.
func archiveID(h sessionlog.Header) string {
	if h.Agent != "" {
		return h.Session + "~" + h.Agent
	}
	return h.Session
}

// sessionLogs lists the logs of one session, so that many of its files can be located
// with two directory listings.
type sessionLogs struct {
	name  string                        // file name of the transcript without its ending
	slug  string                        // folder of the logs, empty while there is none
	main  []sessionlog.Entry            // generations of the transcript, oldest first
	files map[string][]sessionlog.Entry // generations of side files by sessionlog.Layout.Rel
	forgotten  bool                          // the session was forgotten: nothing of it is taken in
	parts []archive.Part                // turns and steps of it that were
}

// isForgotten reports that a side file went with a part of the session.
func (k sessionLogs) isForgotten(src Source) bool {
	return src.Rel != "" && slices.ContainsFunc(k.parts, func(p archive.Part) bool { return slices.Contains(p.Files, src.Rel) })
}

// sessionLogs lists what the archive holds of a source's session; side says whether
// the side files are wanted as well.
func (c *Capture) sessionLogs(src Source, side bool) (sessionLogs, error) {
	k := sessionLogs{name: src.Session, files: map[string][]sessionlog.Entry{}}
	if src.Rel == "" {
		k.name = strings.TrimSuffix(filepath.Base(src.Path), transcriptExt)
	}
	if k.forgotten = c.Forgotten().Has(src.Session); k.forgotten {
		return k, nil
	}
	of, err := c.ForgottenParts().Of(src.Session)
	if err != nil {
		return k, err
	}
	k.parts = of.Parts
	if k.main, err = c.Layout.Find(c.Client.Name, k.name); err != nil {
		return k, fmt.Errorf("find log: %w", err)
	}
	k.slug = src.Slug()
	if len(k.main) > 0 {
		k.slug = k.main[len(k.main)-1].Slug // a session keeps its first folder
	}
	if !side {
		return k, nil
	}
	all, err := c.Layout.Children(c.Client.Name, k.slug, k.name)
	if err != nil {
		return k, fmt.Errorf("find log: %w", err)
	}
	for _, e := range all {
		k.files[e.Rel] = append(k.files[e.Rel], e)
	}
	return k, nil
}

// lister lists what is kept of sessions whose files come one after the other:
// anew for every transcript, and once for all of its side files, of which a
// session may have thousands.
type lister struct {
	capture *Capture
	session string // folder and id of the session that was listed last
	kept    sessionLogs
}

func (l *lister) of(src Source) (sessionLogs, error) {
	at := src.Slug() + "/" + src.Session
	if src.Rel != "" && at == l.session {
		return l.kept, nil
	}
	k, err := l.capture.sessionLogs(src, true)
	if err != nil {
		l.session = ""
		return k, err
	}
	l.session, l.kept = at, k
	return k, nil
}

// logs returns the generations of a file, oldest first.
func (k sessionLogs) logs(rel string) []sessionlog.Entry {
	if rel != "" {
		return k.files[sessionlog.Layout{}.Rel(rel)]
	}
	return k.main
}

// latest returns the newest log of a file.
func (k sessionLogs) latest(rel string) (sessionlog.Entry, bool) {
	logs := k.logs(rel)
	if len(logs) == 0 {
		return sessionlog.Entry{}, false
	}
	return logs[len(logs)-1], true
}

// locate finds the latest log of a source, or says where a first one goes.
func (c *Capture) locate(k sessionLogs, src Source, f io.ReaderAt) (logFile, error) {
	p := logFile{layout: c.Layout, rel: src.Rel, name: k.name, header: sessionlog.Header{
		Client: c.Client.Name, Session: src.Session, Slug: k.slug, Source: src.Path,
		Cwd: src.Cwd, Created: c.Now().UTC(), Generation: 1,
	}}
	if latest, ok := k.latest(src.Rel); ok {
		p.header.Slug, p.header.Generation = latest.Slug, latest.Generation
		// The header that the log holds is the one that counts. Only a log that
		// was torn before its header was whole needs another, and that is small.
		if info, err := os.Stat(latest.Path); err == nil && info.Size() > maxTornHeader {
			return p, nil
		}
	}
	return p, c.describe(&p.header, src, f)
}

// maxTornHeader is larger than any header.
const maxTornHeader = 8 << 10

// next is the place of the generation that follows, of which the same is known,
// but that it may be read from a file in another folder.
func (p logFile) next(h sessionlog.Header, source string, now time.Time) logFile {
	h.Generation, h.Source = p.header.Generation+1, source
	h.Created = now.UTC()
	p.header = h
	return p
}

// describe fills in the facts of a log that does not exist yet.
func (c *Capture) describe(h *sessionlog.Header, src Source, f io.ReaderAt) error {
	h.Kind, h.Agent = sessionlog.KindTranscript, src.Agent()
	if src.Rel != "" && h.Agent == "" {
		h.Kind = sessionlog.KindSide
		return nil
	}
	facts, err := c.peek(f)
	if err != nil {
		return err
	}
	if facts.Cwd != "" {
		h.Cwd = facts.Cwd
	}
	if src.Rel == "" && facts.Agent != "" && archive.ValidID(facts.Session) && archive.ValidID(facts.Agent) {
		// Older clients keep sub-agents' files beside the transcripts.
		h.Session, h.Agent = facts.Session, facts.Agent
	}
	if h.Agent != "" {
		h.Kind = sessionlog.KindAgent
	}
	h.Project = c.Project(h.Cwd)
	return nil
}

// children lists the generations of one file below a session's folder.
func (c *Capture) children(slug, name, rel string) ([]sessionlog.Entry, error) {
	all, err := c.Layout.Children(c.Client.Name, slug, name)
	if err != nil {
		return nil, err
	}
	want := c.Layout.Rel(rel)
	return slices.DeleteFunc(all, func(e sessionlog.Entry) bool { return e.Rel != want }), nil
}

// generations lists the logs of a session or a sub-agent's run, oldest first.
func (c *Capture) generations(session string) ([]sessionlog.Entry, error) {
	parent, agent, isAgent := strings.Cut(session, "~")
	if !isAgent {
		return c.Layout.Find(c.Client.Name, session)
	}
	logs, err := c.Layout.Find(c.Client.Name, agentPrefix+agent)
	if err != nil || len(logs) > 0 {
		return logs, err
	}
	homes, err := c.slugs(parent)
	for _, slug := range homes {
		found, err := c.children(slug, parent, agentFolder+"/"+agentPrefix+agent+transcriptExt)
		if err != nil || len(found) > 0 {
			return found, err
		}
	}
	return nil, err
}

// slugs lists the folders that hold a session's files: that of its transcript
// or, when only side files were kept so far, every folder.
func (c *Capture) slugs(session string) ([]string, error) {
	logs, err := c.Layout.Find(c.Client.Name, session)
	if err != nil {
		return nil, err
	}
	if len(logs) > 0 {
		return []string{logs[len(logs)-1].Slug}, nil
	}
	entries, err := os.ReadDir(filepath.Join(c.Layout.Root, "log", c.Client.Name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list project folders: %w", err)
	}
	var slugs []string
	for _, e := range entries {
		if e.IsDir() {
			slugs = append(slugs, e.Name())
		}
	}
	return slugs, nil
}

// isRunOf reports whether a log holds a run of one of the session's sub-agents
// that an older client kept beside the transcript: the header says whose it is.
func (c *Capture) isRunOf(e sessionlog.Entry, session string) bool {
	if e.Client != c.Client.Name || e.Rel != "" || !strings.HasPrefix(e.Session, agentPrefix) {
		return false
	}
	r, err := sessionlog.OpenReader(e.Path)
	if err != nil {
		return false // nothing says whose it is
	}
	h := r.Header()
	return r.Close() == nil && h.Agent != "" && h.Session == session
}
