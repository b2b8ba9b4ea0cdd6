package capture

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
	"strandline/internal/transcript/claude"
)

// logFile is the location and the header of a source's log.
type logFile struct {
	layout sessionlog.Layout
	header sessionlog.Header
	rel    string // below the session's folder, empty for a transcript
	name   string // file name of the transcript without its extension
}

func (p logFile) path() string {
	h := p.header
	if p.rel != "" {
		return p.layout.Child(h.Client, h.Slug, p.name, p.rel, h.Generation)
	}
	return p.layout.Transcript(h.Client, h.Slug, p.name, h.Generation)
}

// next returns the log of the next generation, which may be read from a file in
// another folder.
func (p logFile) next(h sessionlog.Header, source string, now time.Time) logFile {
	h.Generation, h.Source = p.header.Generation+1, source
	h.Created = now.UTC()
	p.header = h
	return p
}

// archiveID returns the archive's session id for a log.
func archiveID(h sessionlog.Header) string {
	if h.Agent != "" {
		return h.Session + "~" + h.Agent
	}
	return h.Session
}

// sessionLogs lists the logs of one session, so that all of its files are located
// with two directory listings.
type sessionLogs struct {
	client    string
	name      string                        // of the transcript's logs
	slug      string                        // folder of the logs
	main      []sessionlog.Entry            // generations of the transcript, oldest first
	files     map[string][]sessionlog.Entry // generations of side files by sessionlog.Layout.Rel
	forgotten bool                          // the session was deleted for good and is not captured
	parts     []archive.Part                // its turns and steps that were deleted for good
}

// listing holds the logs of all transcripts, so that work on many sessions lists each
// folder once.
type listing struct {
	mu   sync.Mutex
	logs map[string][]sessionlog.Entry // by the session's name in an Entry
	ends map[string]logEnd             // by path
	// forgotNothing is set in a snapshot of an archive without deleted sessions and parts.
	forgotNothing bool
}

// logEnd is what one read of a log's ends returns.
type logEnd struct {
	sessionlog.Header
	sessionlog.Position
	err error
}

// Listed returns a capture for a short series of calls about many sessions. It lists the
// logs of transcripts now, and reads the ends of each log once. Logs that other
// processes begin meanwhile are found when their file is opened.
func (c *Capture) Listed() (*Capture, error) {
	if c.list != nil {
		return c, nil
	}
	logs := map[string][]sessionlog.Entry{}
	for _, client := range c.Known() {
		of, err := c.Layout.Transcripts(client.Name)
		if err != nil {
			return nil, fmt.Errorf("list logs: %w", err)
		}
		for session, entries := range of {
			logs[session] = append(logs[session], entries...)
		}
	}
	out := *c
	out.list = &listing{logs: logs, ends: map[string]logEnd{}}
	return &out, nil
}

// Snapshot is Listed for calls that write nothing. What is deleted meanwhile may still be
// counted.
func (c *Capture) Snapshot() (*Capture, error) {
	out, err := c.Listed()
	if err != nil {
		return nil, err
	}
	sessions, err := c.Forgotten().List()
	if err != nil {
		return nil, err
	}
	parts, err := c.ForgottenParts().Sessions()
	out.list.forgotNothing = len(sessions)+len(parts) == 0
	return out, err
}

// forgets reports whether a session or a part may have been deleted for good.
func (c *Capture) forgets() bool { return c.list == nil || !c.list.forgotNothing }

// transcripts returns the logs of a session's transcript, oldest first.
func (c *Capture) transcripts(session string) (found []sessionlog.Entry, err error) {
	if c.list == nil {
		for _, client := range c.Known() {
			if found, err = c.Layout.Find(client.Name, session); err != nil || len(found) > 0 {
				return found, err
			}
		}
		return nil, nil
	}
	c.list.mu.Lock()
	defer c.list.mu.Unlock()
	return slices.Clone(c.list.logs[c.Layout.Name(session)]), nil
}

// readEnds reads the headers and positions of logs.
func readEnds(entries []sessionlog.Entry) []logEnd {
	return inParallel(entries, func(e sessionlog.Entry) (end logEnd) {
		end.Header, end.Position, end.err = sessionlog.ReadHeader(e.Path)
		return end
	})
}

// inParallel returns fn of each item. It uses all processors.
func inParallel[T, R any](items []T, fn func(T) R) []R {
	out := make([]R, len(items))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(items)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(items); i = int(next.Add(1)) - 1 {
				out[i] = fn(items[i])
			}
		})
	}
	workers.Wait()
	return out
}

// position is sessionlog.ReadPosition, from the listing if LoggedJobs has read it.
func (c *Capture) position(path string) (sessionlog.Position, error) {
	if c.list != nil {
		if e, ok := c.list.ends[path]; ok {
			return e.Position, e.err
		}
	}
	return sessionlog.ReadPosition(path)
}

// noteLog adds the log of a transcript to the listing.
func (c *Capture) noteLog(to logFile) {
	if c.list == nil || to.rel != "" {
		return
	}
	path := to.path()
	e := sessionlog.Entry{
		Path: path, Client: to.header.Client, Slug: filepath.Base(filepath.Dir(path)), Session: c.Layout.Name(to.name), Generation: to.header.Generation,
	}
	c.list.mu.Lock()
	defer c.list.mu.Unlock()
	if known := c.list.logs[e.Session]; !slices.Contains(known, e) {
		c.list.logs[e.Session] = append(known, e)
	}
}

// isForgotten reports whether a side file belongs to a forgotten part.
func (k sessionLogs) isForgotten(src Source) bool {
	return src.Rel != "" && slices.ContainsFunc(k.parts, func(p archive.Part) bool { return slices.Contains(p.Files, src.Rel) })
}

// sessionLogs lists the logs of a source's session, with side files if side is set.
func (c *Capture) sessionLogs(src Source, side bool) (k sessionLogs, err error) {
	k.name, k.client = src.Session, cmp.Or(src.Client, claude.Name)
	if k.forgotten = c.forgets() && c.Forgotten().Has(src.Session); k.forgotten {
		return k, nil
	}
	if c.forgets() {
		of, err := c.ForgottenParts().Of(src.Session)
		if err != nil {
			return k, err
		}
		k.parts = of.Parts
	}
	if c.list != nil {
		k.main, err = c.transcripts(k.name)
	} else {
		k.main, err = c.Layout.Find(k.client, k.name)
	}
	if err != nil {
		return k, fmt.Errorf("find log: %w", err)
	}
	if k.forgotten = len(k.main) == 0 && src.Rel == "" && c.isForgottenCopy(src); k.forgotten {
		return k, nil
	}
	k.slug = src.Slug()
	if len(k.main) > 0 {
		k.slug = k.main[len(k.main)-1].Slug // a session keeps its first folder
	}
	if side {
		err = c.listSides(&k)
	}
	return k, err
}

// listSides lists the logs of the session's side files.
func (c *Capture) listSides(k *sessionLogs) error {
	all, err := c.Layout.Children(k.client, k.slug, k.name)
	if err != nil {
		return fmt.Errorf("find log: %w", err)
	}
	k.files = map[string][]sessionlog.Entry{}
	for _, e := range all {
		k.files[e.Rel] = append(k.files[e.Rel], e)
	}
	return nil
}

// lister lists the logs of sessions for a sequence of their files. It lists once
// per transcript, not for each of its side files, which may be thousands.
type lister struct {
	capture *Capture
	session string // folder and id of the last session
	logs    sessionLogs
}

func (l *lister) of(src Source) (sessionLogs, error) {
	at := src.Slug() + "/" + src.Session
	var err error
	if src.Rel == "" || at != l.session {
		l.logs, err = l.capture.sessionLogs(src, false)
	}
	if err == nil && src.Rel != "" && l.logs.files == nil && !l.logs.forgotten {
		err = l.capture.listSides(&l.logs)
	}
	if l.session = at; err != nil {
		l.session = ""
	}
	return l.logs, err
}

// of returns the generations of a file, oldest first.
func (k sessionLogs) of(rel string) []sessionlog.Entry {
	if rel != "" {
		return k.files[sessionlog.Layout{}.Rel(rel)]
	}
	return k.main
}

// latest returns the newest log of a file.
func (k sessionLogs) latest(rel string) (e sessionlog.Entry, ok bool) {
	if logs := k.of(rel); len(logs) > 0 {
		return logs[len(logs)-1], true
	}
	return e, false
}

// maxTornHeader is larger than any header.
const maxTornHeader = 8 << 10

// locate returns the latest log of a source, or the location of its first log.
func (c *Capture) locate(k sessionLogs, src Source, f io.ReaderAt) (logFile, error) {
	p := logFile{layout: c.Layout, rel: src.Rel, name: k.name, header: sessionlog.Header{
		Client: k.client, Session: src.Session, Slug: k.slug, Source: src.Path,
		Cwd: src.Cwd, Created: c.Now().UTC(), Generation: 1,
	}}
	if latest, ok := k.latest(src.Rel); ok {
		p.header.Slug, p.header.Generation = latest.Slug, latest.Generation
		// The header in the log is used. Only a small log may have lost its header
		// in a crash and need another.
		if info, err := os.Stat(latest.Path); err == nil && info.Size() > maxTornHeader {
			return p, nil
		}
	}
	return p, c.describe(&p.header, src, f)
}

// describe sets the facts in the header of a new log. One without a time of creation, which
// was damaged, gets the time of its first row: reindex reads logs in the order of these
// times, and copies of rows belong to the session that was first.
func (c *Capture) describe(h *sessionlog.Header, src Source, f io.ReaderAt) error {
	h.Kind, h.Agent = sessionlog.KindTranscript, src.Agent()
	if src.isSideFile() {
		h.Kind = sessionlog.KindSide
		h.Created = cmp.Or(h.Created, c.Now().UTC())
		return nil
	}
	facts, err := c.peek(src.Client, f)
	if err != nil {
		return err
	}
	h.Cwd = cmp.Or(facts.Cwd, h.Cwd)
	h.Created = cmp.Or(h.Created, facts.First, c.Now().UTC())
	if src.Rel == "" && facts.Agent != "" && archive.ValidID(facts.Session) && archive.ValidID(facts.Agent) {
		// Older clients store sub-agents' transcripts beside the others.
		h.Session, h.Agent = facts.Session, facts.Agent
	}
	if h.Agent != "" {
		h.Kind = sessionlog.KindAgent
	}
	h.Project = c.Project(h.Cwd)
	return nil
}

// generations lists the logs of a session or a sub-agent's run, oldest first.
func (c *Capture) generations(session string) ([]sessionlog.Entry, error) {
	parent, agent, isAgent := strings.Cut(session, "~")
	if !isAgent {
		return c.transcripts(session)
	}
	logs, err := c.transcripts(agentPrefix + agent)
	if err != nil || len(logs) > 0 {
		return logs, err
	}
	// The folder is that of the parent's transcript, or any if only side files are logged.
	var slugs []string
	if logs, err = c.transcripts(parent); err == nil && len(logs) == 0 {
		slugs, err = c.Layout.Slugs(claude.Name)
	} else if err == nil {
		slugs = []string{logs[len(logs)-1].Slug}
	}
	for _, slug := range slugs {
		if found := c.Layout.FindChild(claude.Name, slug, parent, agentFolder+"/"+agentPrefix+agent+TranscriptExt); len(found) > 0 {
			return found, nil
		}
	}
	return nil, err
}

// SessionOf returns the client's session of a log: for a sub-agent's log its
// parent. If an older client stored the run beside the transcripts, the parent is in
// the log's header.
func (c *Capture) SessionOf(e sessionlog.Entry) string {
	if e.Rel != "" || !strings.HasPrefix(e.Session, agentPrefix) {
		return e.Session
	}
	if h, _, err := sessionlog.ReadHeader(e.Path); err == nil && h.Agent != "" {
		return h.Session
	}
	return e.Session
}

// find returns the log of a session's generation. Generation 0 is the one in the id
// ("<id>@<generation>"), or the latest.
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
	for _, e := range slices.Backward(logs) {
		if generation == 0 || e.Generation == generation {
			return e, nil
		}
	}
	if len(logs) > 0 {
		return sessionlog.Entry{}, archive.NotFound(fmt.Sprintf("session %s has no generation %d", session, generation),
			fmt.Sprintf("the latest is %d; leave --generation out for it", logs[len(logs)-1].Generation))
	}
	return sessionlog.Entry{}, archive.NotFound(
		fmt.Sprintf("no log of session %s", session), "`strandline sessions` lists the archived sessions")
}

// Open opens the log of a session; generation 0 is the latest.
func (c *Capture) Open(session string, generation int) (*sessionlog.Reader, error) {
	entry, err := c.find(session, generation)
	if err != nil {
		return nil, err
	}
	return sessionlog.OpenReader(entry.Path)
}

// LogOf returns the path of a session's log, CodeNotFound if there is none.
func (c *Capture) LogOf(session string) (string, error) {
	entry, err := c.find(session, 0)
	return entry.Path, err
}

// HasLog reports whether the session with exactly this id has a log.
func (c *Capture) HasLog(session string) bool {
	_, err := c.find(session, 0)
	return err == nil
}

// DamagedBytes returns the number of bytes at the end of a session's log that cannot
// be read. A capture repairs them while the client has its file.
func (c *Capture) DamagedBytes(session string, generation int) (int64, error) {
	r, err := c.Open(session, generation)
	if err != nil {
		return 0, err
	}
	return r.Torn(), r.Close()
}

// A session's transcript may be in more than one folder, for example in a backup of
// the client's folder. Each file would look like a rewrite of the other, and every
// capture of both would begin two generations. An older copy may also be in the place of
// the file itself; a generation of it would be shorter than the log.

// isCopy reports whether a file that does not continue its log needs no generation
// now: it is a prefix of some generation.
func (c *Capture) isCopy(f *os.File, k sessionLogs, src Source, out *Logged) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("read transcript: %w", err)
	}
	size := info.Size()
	if c.MaxLog > 0 && size > maxHookCompare {
		out.Deferred = true
		return true, nil
	}
	for _, e := range k.of(src.Rel) {
		pos, err := sessionlog.ReadPosition(e.Path)
		if err != nil || size > pos.Raw {
			continue // a damaged log has no copy
		}
		if same, err := beginsWith(f, e.Path, size); err != nil || same {
			return same, err
		}
	}
	return false, nil
}

// isKnownCopy reports whether a file whose size differs from its latest log is an older
// copy: in another folder, no longer than one of the logs; in its own, a prefix of one.
func (c *Capture) isKnownCopy(k sessionLogs, src Source, size int64) (bool, error) {
	latest, _ := k.latest(src.Rel)
	h, _, err := sessionlog.ReadHeader(latest.Path)
	if err != nil && archive.ErrorCode(err) != archive.CodeCorrupt {
		return false, err
	}
	for _, e := range k.of(src.Rel) {
		pos, err := sessionlog.ReadPosition(e.Path)
		if err != nil || size > pos.Raw {
			continue // a damaged log has no copy
		}
		if src.Path != h.Source {
			return true, nil
		}
		f, _, err := c.open(src.Client, src.Path, nil)
		if err != nil {
			return false, err
		}
		same, err := beginsWith(f, e.Path, size)
		if err = errors.Join(err, f.Close()); same || err != nil {
			return same, err
		}
	}
	return false, nil
}
