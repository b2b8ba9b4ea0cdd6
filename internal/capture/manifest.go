package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
	"strandline/internal/state"
	"strandline/internal/transcript/claude"
)

// Manifest lists the logs of an archive, with the journal's, and how many bytes of the
// source they had, so that a deleted or shortened one is noticed. It is a text file with a
// checksum, a size and a path per line; damaged lines are ignored. Update adds missing logs.
type Manifest struct{ layout sessionlog.Layout }

// Manifest returns the archive's list of logs.
func (c *Capture) Manifest() Manifest { return Manifest{c.Layout} }

// manifestWait is how long Update waits for another process: it lists all logs.
const manifestWait = 10 * time.Second

func (m Manifest) path() string { return filepath.Join(m.layout.Root, "manifest") }

// Add adds the log at path. It is called when the log gets its first bytes.
func (m Manifest) Add(path string, raw int64) error {
	rel, err := filepath.Rel(m.layout.Root, path)
	if err != nil {
		return fmt.Errorf("add a log to the manifest: %w", err)
	}
	f, err := os.OpenFile(m.path(), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteString(manifestLine(filepath.ToSlash(rel), raw))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("add a log to the manifest: %w", err)
	}
	return nil
}

func manifestLine(rel string, raw int64) string {
	entry := strconv.FormatInt(raw, 10) + " " + rel
	return fmt.Sprintf("%016x %s\n", xxhash.Sum64String(entry), entry)
}

// sizes returns the listed sizes by the path of the log.
func (m Manifest) sizes() (map[string]int64, error) {
	data, err := os.ReadFile(m.path())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	out := map[string]int64{}
	for line := range strings.Lines(string(data)) {
		_, entry, _ := strings.Cut(line, " ")
		size, rel, _ := strings.Cut(strings.TrimSuffix(entry, "\n"), " ")
		raw, err := strconv.ParseInt(size, 10, 64)
		if err == nil && filepath.IsLocal(rel) && line == manifestLine(rel, raw) {
			path := filepath.Join(m.layout.Root, filepath.FromSlash(rel))
			out[path] = max(out[path], raw)
		}
	}
	return out, nil
}

// LogOf returns the path of the newest listed log of a session's transcript, "" if none is.
func (m Manifest) LogOf(session string) (newest string, err error) {
	sizes, err := m.sizes()
	for path := range sizes {
		if strings.HasSuffix(path, TranscriptExt+".zst") && filepath.Base(filepath.Dir(path)) != agentFolder &&
			m.owner(path) == m.layout.Name(session) && len(path) >= len(newest) {
			newest = max(path, newest)
		}
	}
	return newest, err
}

const journalFolder = "journal"

// LostLog is a log that does not exist any more or was shortened.
type LostLog struct {
	Path   string
	Raw    int64 // bytes of the source that it has now
	Had    int64 // bytes that it had
	Exists bool
}

// String describes the loss.
func (l LostLog) String() string {
	what, of := "the log was deleted", "transcript"
	if l.Exists {
		what = "the log was shortened"
	}
	if filepath.Base(filepath.Dir(l.Path)) == journalFolder {
		of = "journal"
	}
	return fmt.Sprintf("%s: %d bytes of the %s from byte %d on are lost", what, l.Had-l.Raw, of, l.Raw)
}

// LostLogs returns the listed logs that do not exist any more, except for forgotten
// sessions. session limits them to one session; "" means all. If known is not nil, it has
// sizes by path, and LostLogs returns logs as well that are shorter, unless the client's
// file still has the rest.
func (c *Capture) LostLogs(session string, known map[string]int64) ([]LostLog, error) {
	sizes, err := c.Manifest().sizes()
	if err != nil {
		return nil, err
	}
	for path, raw := range known {
		sizes[path] = max(sizes[path], raw)
	}
	var lost []LostLog
	for _, path := range slices.Sorted(maps.Keys(sizes)) {
		owner := c.Manifest().owner(path)
		if session != "" && owner != c.Layout.Name(session) {
			continue
		}
		if c.list != nil && known == nil {
			if end, ok := c.list.ends[path]; ok && end.err == nil {
				continue
			}
		}
		l := LostLog{Path: path, Had: sizes[path], Exists: true}
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			l.Exists = false
		} else if err != nil || known == nil {
			continue
		} else if l.Raw, err = recoverable(path, l.Had); err != nil || l.Raw >= l.Had {
			continue // the log's own check reports errors
		}
		if owner == "" || !c.Forgotten().Has(owner) && !c.isForgottenFile(owner, path) {
			lost = append(lost, l)
		}
	}
	return lost, nil
}

// isForgottenFile reports whether a side file was deleted with a turn or a step.
func (c *Capture) isForgottenFile(session, path string) bool {
	rel, err := filepath.Rel(filepath.Join(c.Layout.Root, "log", claude.Name), path)
	slug, _, inFolder := strings.Cut(filepath.ToSlash(rel), "/")
	of, perr := c.ForgottenParts().Of(session)
	return err == nil && perr == nil && inFolder && slices.ContainsFunc(of.Parts, func(p archive.Part) bool {
		return slices.ContainsFunc(p.Files, func(rel string) bool { return path == c.Layout.Child(claude.Name, slug, session, rel, 1) })
	})
}

// recoverable returns how many of the source's bytes a log has, or the client's file if
// the next capture takes them from there. had is how many there should be.
func recoverable(path string, had int64) (int64, error) {
	if pos, err := sessionlog.ReadPosition(path); err == nil && pos.Raw >= had {
		return pos.Raw, nil
	}
	r, err := sessionlog.OpenReader(path)
	if archive.ErrorCode(err) == archive.CodeNotFound {
		return 0, nil // truncated within its header
	}
	if err != nil {
		return 0, err
	}
	defer r.Close()
	raw := r.Position().Raw
	if info, err := os.Stat(r.Header().Source); err == nil {
		raw = max(raw, info.Size())
	}
	return raw, nil
}

// owner returns the session's name in the path of a log, log/<client>/<slug>/<name>…, "" for
// the journal's.
func (m Manifest) owner(path string) string {
	parts := strings.Split(filepath.ToSlash(strings.TrimPrefix(path, m.layout.Root)), "/")
	if len(parts) < 5 {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimSuffix(parts[4], TranscriptExt+".zst"), ".g")
	return name
}

// Update writes the manifest again: the logs that exist, those that are lost, and none of
// those for which drop is true, which were deleted on purpose. known has more sizes. A log
// that another process creates meanwhile may be missing until the next call. Update waits for
// that of another process, at most manifestWait: one of them may list what the other drops.
func (m Manifest) Update(ctx context.Context, known map[string]int64, drop func(path string) bool) (err error) {
	wait, cancel := context.WithTimeout(ctx, manifestWait)
	defer cancel()
	lock, err := state.WaitLock(wait, m.path()+".lock", false)
	if errors.Is(err, state.ErrHeld) {
		return &archive.Error{Code: archive.CodeBusy, Msg: "another process writes the manifest", Err: err, Hint: "run the command again"}
	}
	if err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	defer lock.Release() // also released when the process ends
	sizes, err := m.sizes()
	if err != nil {
		return err
	}
	note := func(path string, raw int64) { sizes[path] = max(sizes[path], raw) }
	for path, raw := range known {
		note(path, raw)
	}
	for e, err := range m.layout.Walk(ctx) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil { // else its logs are listed
			pos, _ := sessionlog.ReadPosition(e.Path) // 0 for one that cannot be read
			note(e.Path, pos.Raw)
		}
	}
	journal, err := sessionlog.Journal{Dir: filepath.Join(m.layout.Root, journalFolder)}.Sizes()
	if err != nil {
		return err
	}
	for path, raw := range journal {
		note(path, raw)
	}
	var out strings.Builder
	for _, path := range slices.Sorted(maps.Keys(sizes)) {
		rel, err := filepath.Rel(m.layout.Root, path)
		if err == nil && (drop == nil || !drop(path)) {
			out.WriteString(manifestLine(filepath.ToSlash(rel), sizes[path]))
		}
	}
	if before, err := os.ReadFile(m.path()); err == nil && string(before) == out.String() {
		return nil
	}
	if err := state.Replace(m.path(), []byte(out.String())); err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	return nil
}
