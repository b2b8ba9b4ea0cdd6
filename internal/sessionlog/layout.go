package sessionlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/text"
)

// Layout returns the paths of an archive's logs:
//
//	log/<client>/<slug>/<session>.jsonl.zst      a transcript
//	log/<client>/<slug>/<session>.g2.jsonl.zst   its second generation
//	log/<client>/<slug>/<session>/<rel>.zst      another file of the session
//
// The path is always below Root and valid on every system: a name that is not is
// replaced by its safe characters, a tilde and its hash. The names in an Entry are
// accepted in place of the original ones.
// Root is STRANDLINE_HOME.
type Layout struct{ Root string }

// Entry is an existing log. Its header has the client's names.
type Entry struct {
	Path       string // of the log
	Client     string
	Slug       string
	Session    string
	Rel        string // slash-separated path below the session's folder, "" for the transcript
	Generation int    // from 1
}

// Transcript returns the path of a transcript's log. A generation below 2 is the first.
func (l Layout) Transcript(client, slug, session string, gen int) string {
	return filepath.Join(l.dir(client, slug), withGeneration(sessionName(session)+".jsonl", gen)+logExt)
}

// Child returns the path of the log of a file in the client's folder of a session. rel
// is its path there. A generation below 2 is the first.
func (l Layout) Child(client, slug, session, rel string, gen int) string {
	dir, name := path.Split(l.Rel(rel))
	return filepath.Join(l.dir(client, slug), sessionName(session), filepath.FromSlash(dir), withGeneration(name, gen)+logExt)
}

// Valid reports whether the names of an entry, apart from Path, are those that this package
// gives to files. Entries from another machine are checked before a path is made of them.
func (l Layout) Valid(e Entry) bool {
	return e.Client == folderName(e.Client) && e.Slug == folderName(e.Slug) && e.Session == sessionName(e.Session) && (e.Rel == "" || e.Rel == l.Rel(e.Rel))
}

// Name returns the name of a session in an Entry.
func (Layout) Name(session string) string { return sessionName(session) }

func (l Layout) dir(client, slug string) string {
	return filepath.Join(l.Root, "log", folderName(client), folderName(slug))
}

// Slugs lists the project folders of a client's logs. A missing folder has none.
func (l Layout) Slugs(client string) ([]string, error) {
	return subfolders(filepath.Join(l.Root, "log", folderName(client)))
}

// Find returns the logs of a session's transcript in all folders of the client, by slug
// and generation. It tests paths and does not list folders of logs, so it is fast in
// large archives. Generations have no gaps.
func (l Layout) Find(client, session string) ([]Entry, error) {
	client, session = folderName(client), sessionName(session)
	slugs, err := l.Slugs(client)
	if err != nil {
		return nil, err
	}
	var found []Entry
	for _, slug := range slugs {
		e := Entry{Client: client, Slug: slug, Session: session}
		found = append(found, generations(e, func(gen int) string { return l.Transcript(client, slug, session, gen) })...)
	}
	return found, nil
}

// FindChild returns the logs of one other file of a session by generation. Like Find it
// lists no folder.
func (l Layout) FindChild(client, slug, session, rel string) []Entry {
	e := Entry{Client: folderName(client), Slug: folderName(slug), Session: sessionName(session), Rel: l.Rel(rel)}
	return generations(e, func(gen int) string { return l.Child(client, slug, session, rel, gen) })
}

// generations returns the existing generations of a log. They have no gaps, but the first
// may have been deleted.
func generations(e Entry, path func(gen int) string) (found []Entry) {
	for e.Generation = 1; ; e.Generation++ {
		e.Path = path(e.Generation)
		if fi, err := os.Lstat(e.Path); err == nil && fi.Mode().IsRegular() {
			found = append(found, e)
		} else if e.Generation > 1 {
			return found
		}
	}
}

// Children returns the logs of the other files of a session, by Rel and generation. A
// missing folder has no logs.
func (l Layout) Children(client, slug, session string) ([]Entry, error) {
	base := Entry{Client: folderName(client), Slug: folderName(slug), Session: sessionName(session)}
	dir := filepath.Join(l.dir(client, slug), base.Session)
	var found []Entry
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // missing, or deleted meanwhile
		case err != nil:
			return err
		case !d.Type().IsRegular() || !strings.HasSuffix(p, logExt):
			return nil
		}
		e := base
		above, name := path.Split(filepath.ToSlash(strings.TrimSuffix(p[len(dir)+1:], logExt)))
		name, e.Generation = CutGeneration(name)
		e.Path, e.Rel = p, above+name
		found = append(found, e)
		return nil
	})
	if err != nil {
		return nil, fileError("list the logs in", dir, err)
	}
	sortEntries(found)
	return found, nil
}

// Walk yields all logs by client, slug and session, a session's transcripts before its
// other files. A folder that cannot be listed is yielded as an error, and the walk
// continues after it. If ctx is done, its error is the last.
func (l Layout) Walk(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		clients, err := subfolders(filepath.Join(l.Root, "log"))
		if err != nil && !yield(Entry{}, err) {
			return
		}
		for _, client := range clients {
			slugs, err := l.Slugs(client)
			if err != nil && !yield(Entry{}, err) {
				return
			}
			for _, slug := range slugs {
				if !l.walkSlug(ctx, client, slug, yield) {
					return
				}
			}
		}
	}
}

// walkSlug yields the logs of one folder. It returns false to end the walk.
func (l Layout) walkSlug(ctx context.Context, client, slug string, yield func(Entry, error) bool) bool {
	bySession, err := l.list(client, slug)
	if err != nil && !yield(Entry{}, err) {
		return false
	}
	for _, session := range slices.Sorted(maps.Keys(bySession)) {
		if err := ctx.Err(); err != nil {
			yield(Entry{}, err)
			return false
		}
		entries := bySession[session]
		var err error
		if entries[0].Path == "" { // the session's folder
			var children []Entry
			children, err = l.Children(client, slug, session)
			entries = append(entries[1:], children...)
		}
		for _, e := range entries {
			if !yield(e, nil) {
				return false
			}
		}
		if err != nil && !yield(Entry{}, err) {
			return false
		}
	}
	return true
}

// list returns the logs of transcripts in one folder by session and generation. For a
// session's folder there is an entry without a path. A missing folder has none.
func (l Layout) list(client, slug string) (map[string][]Entry, error) {
	dir := filepath.Join(l.Root, "log", client, slug)
	files, err := os.ReadDir(dir)
	bySession := map[string][]Entry{}
	for _, d := range files {
		name, isLog := strings.CutSuffix(d.Name(), transcriptExt)
		switch {
		case d.IsDir():
			bySession[d.Name()] = append(bySession[d.Name()], Entry{})
		case isLog && d.Type().IsRegular():
			session, gen := CutGeneration(name)
			bySession[session] = append(bySession[session], Entry{Path: filepath.Join(dir, d.Name()),
				Client: client, Slug: slug, Session: session, Generation: gen})
		}
	}
	for _, entries := range bySession {
		sortEntries(entries)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return bySession, fileError("list the logs in", dir, err)
	}
	return bySession, nil
}

// Transcripts returns what Find returns for every session of a client, by the session's
// name. It lists each folder once.
func (l Layout) Transcripts(client string) (map[string][]Entry, error) {
	slugs, err := l.Slugs(client)
	all := map[string][]Entry{}
	for _, slug := range slugs {
		bySession, lerr := l.list(folderName(client), slug)
		err = errors.Join(err, lerr)
		for session, entries := range bySession {
			if entries[0].Path == "" {
				entries = entries[1:]
			}
			if len(entries) > 0 {
				all[session] = append(all[session], entries...)
			}
		}
	}
	return all, err
}

func sortEntries(list []Entry) {
	slices.SortFunc(list, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Rel, b.Rel), cmp.Compare(a.Generation, b.Generation))
	})
}

// subfolders returns the sorted names of the folders in dir, without symbolic links. A
// missing dir has none.
func subfolders(dir string) ([]string, error) {
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fileError("list the logs in", dir, err)
	}
	var names []string
	for _, d := range list {
		if d.IsDir() {
			names = append(names, d.Name())
		}
	}
	return names, nil
}

// Sessions, slugs and the elements of side files' paths become file names in the
// archive. They come from payloads and from folders of other programs. A name that
// is not valid and safe on every system is replaced by its safe characters, a tilde
// and its hash.

const (
	maxName = 200 // bytes; with the extensions it is valid on every file system

	logExt        = ".zst"
	transcriptExt = ".jsonl" + logExt

	// readable are the characters of a replaced name, before the tilde.
	readable = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
)

// sessionName returns the file and folder name of a session.
func sessionName(s string) string {
	return cleanName(s, plainName(s, "") && !endsLikeGeneration(s) && !hasLogExt(s))
}

// folderName returns the name of another folder: of a client, a project, or above a side
// file.
func folderName(s string) string { return cleanName(s, plainName(s, " +@=,()") && !hasLogExt(s)) }

// fileName returns the name of a side file, before a generation and the extension.
func fileName(s string) string {
	ext := path.Ext(s)
	return cleanName(s, plainName(s, " +@=,()") && !endsLikeGeneration(s) && !endsLikeGeneration(strings.TrimSuffix(s, ext)))
}

func cleanName(s string, ok bool) string {
	if ok || isReplacement(s) {
		return s
	}
	head := strings.Map(func(r rune) rune {
		if strings.ContainsRune(readable, r) {
			return r
		}
		return '-'
	}, s)
	return fmt.Sprintf("%s~%016x", head[:min(len(head), 60)], xxhash.Sum64String(s))
}

// plainName reports whether s is a safe file name: letters, digits, ".-_" and the extra
// characters, without a dot or space at either end, and not a device name of Windows.
func plainName(s, extra string) bool {
	if s == "" || len(s) > maxName || strings.Trim(s, ". ") != s || strings.Trim(s, readable+"."+extra) != "" {
		return false
	}
	stem, _, _ := strings.Cut(s, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	port := len(stem) == 4 && (strings.HasPrefix(stem, "COM") || strings.HasPrefix(stem, "LPT")) && text.IsDigit(stem[3])
	return !port && !slices.Contains([]string{"CON", "PRN", "AUX", "NUL"}, stem)
}

// isReplacement reports whether s has the form of a replaced name, so that a name read
// from the archive is not replaced again.
func isReplacement(s string) bool {
	head, sum, ok := strings.Cut(s, "~")
	return ok && len(head) <= 60 && len(sum) == 16 && strings.Trim(sum, "0123456789abcdef") == "" && strings.Trim(head, readable) == ""
}

// hasLogExt reports whether s has an extension of logs and their temporary files, which
// folders must not have.
func hasLogExt(s string) bool {
	return slices.Contains([]string{logExt, ".tmp", ".lock"}, strings.ToLower(path.Ext(s)))
}

// endsLikeGeneration reports whether s ends with ".g" and digits.
func endsLikeGeneration(s string) bool {
	ext := path.Ext(s)
	return len(ext) > 2 && (ext[1] == 'g' || ext[1] == 'G') && strings.Trim(ext[2:], "0123456789") == ""
}

// withGeneration inserts the generation before the extension; the first has none.
func withGeneration(name string, gen int) string {
	if gen < 2 {
		return name
	}
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + ".g" + strconv.Itoa(gen) + ext
}

// CutGeneration returns the name of a file without its generation, and that.
func CutGeneration(name string) (string, int) {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	if endsLikeGeneration(name) {
		stem, ext = name, ""
	}
	if !endsLikeGeneration(stem) {
		return name, 1
	}
	mark := path.Ext(stem)
	gen, err := strconv.Atoi(mark[2:])
	if err != nil || gen < 2 || mark != ".g"+strconv.Itoa(gen) {
		return name, 1
	}
	return strings.TrimSuffix(stem, mark) + ext, gen
}

// Rel returns the Entry.Rel of the child log for rel: the path of a side file below its
// session's folder, with slashes.
func (Layout) Rel(rel string) string {
	parts := strings.FieldsFunc(rel, func(r rune) bool { return r == '/' || r == '\\' })
	const maxDepth = 8 // deeper paths become one name
	if len(parts) == 0 || len(parts) > maxDepth {
		return cleanName(rel, false)
	}
	for i, p := range parts[:len(parts)-1] {
		parts[i] = folderName(p)
	}
	parts[len(parts)-1] = fileName(parts[len(parts)-1])
	return strings.Join(parts, "/")
}
