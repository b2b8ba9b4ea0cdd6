package sessionlog

import (
	"cmp"
	"context"
	"errors"
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
type Layout struct {
	Root string // STRANDLINE_HOME
}

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
// is its path there.
func (l Layout) Child(client, slug, session, rel string) string {
	return l.ChildGeneration(client, slug, session, rel, 1)
}

// ChildGeneration is Child for a later generation.
func (l Layout) ChildGeneration(client, slug, session, rel string, gen int) string {
	dir, name := path.Split(l.Rel(rel))
	return filepath.Join(l.dir(client, slug), sessionName(session), filepath.FromSlash(dir), withGeneration(name, gen)+logExt)
}

// Name returns the name of a session in an Entry.
func (Layout) Name(session string) string { return sessionName(session) }

// Rel returns the Entry.Rel of the child log for rel.
func (Layout) Rel(rel string) string { return relName(rel) }

func (l Layout) dir(client, slug string) string {
	return filepath.Join(l.Root, "log", folderName(client), folderName(slug))
}

// Find returns the logs of a session's transcript in all folders of the client, by slug
// and generation. It tests paths and does not list folders of logs, so it is fast in
// large archives. Generations have no gaps.
func (l Layout) Find(client, session string) ([]Entry, error) {
	client, session = folderName(client), sessionName(session)
	slugs, err := subfolders(filepath.Join(l.Root, "log", client))
	if err != nil {
		return nil, fileError("list the logs in", filepath.Join(l.Root, "log", client), err)
	}
	var found []Entry
	for _, slug := range slugs {
		for gen := 1; ; gen++ {
			p := l.Transcript(client, slug, session, gen)
			fi, err := os.Lstat(p)
			if err != nil || !fi.Mode().IsRegular() {
				if gen == 1 { // only the first may have been deleted
					continue
				}
				break
			}
			found = append(found, Entry{Path: p, Client: client, Slug: slug, Session: session, Generation: gen})
		}
	}
	return found, nil
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
		rel, err := filepath.Rel(dir, strings.TrimSuffix(p, logExt))
		if err != nil {
			return err
		}
		e := base
		above, name := path.Split(filepath.ToSlash(rel))
		name, e.Generation = cutGeneration(name)
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
		root := filepath.Join(l.Root, "log")
		clients, err := subfolders(root)
		if err != nil && !yield(Entry{}, fileError("list the logs in", root, err)) {
			return
		}
		for _, client := range clients {
			slugs, err := subfolders(filepath.Join(root, client))
			if err != nil && !yield(Entry{}, fileError("list the logs in", filepath.Join(root, client), err)) {
				return
			}
			for _, slug := range slugs {
				if err := ctx.Err(); err != nil {
					yield(Entry{}, err)
					return
				}
				if !l.walkSlug(ctx, client, slug, yield) {
					return
				}
			}
		}
	}
}

// walkSlug yields the logs of one folder. It returns false to end the walk.
func (l Layout) walkSlug(ctx context.Context, client, slug string, yield func(Entry, error) bool) bool {
	dir := filepath.Join(l.Root, "log", client, slug)
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !yield(Entry{}, fileError("list the logs in", dir, err)) {
		return false
	}
	bySession := map[string][]Entry{}
	for _, d := range list {
		name, isLog := strings.CutSuffix(d.Name(), transcriptExt)
		switch {
		case d.IsDir():
			bySession[d.Name()] = append(bySession[d.Name()], Entry{})
		case isLog && d.Type().IsRegular():
			session, gen := cutGeneration(name)
			bySession[session] = append(bySession[session], Entry{Path: filepath.Join(dir, d.Name()),
				Client: client, Slug: slug, Session: session, Generation: gen})
		}
	}
	for _, session := range slices.Sorted(maps.Keys(bySession)) {
		if err := ctx.Err(); err != nil {
			yield(Entry{}, err)
			return false
		}
		entries := bySession[session]
		sortEntries(entries)
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

func sortEntries(list []Entry) {
	slices.SortFunc(list, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Rel, b.Rel), cmp.Compare(a.Generation, b.Generation))
	})
}

// subfolders returns the sorted names of the folders in dir, without symbolic links. A
// missing dir has none.
func subfolders(dir string) ([]string, error) {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, d := range list {
		if d.IsDir() {
			names = append(names, d.Name())
		}
	}
	return names, err
}

// Sessions, slugs and the elements of side files' paths become file names in the
// archive. They come from payloads and from folders of other programs. A name that
// is not valid and safe on every system is replaced by its safe characters, a tilde
// and its hash.

const (
	maxName = 200 // bytes; with the extensions it is valid on every file system

	logExt        = ".zst"
	transcriptExt = ".jsonl" + logExt
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
	readable := strings.Map(func(r rune) rune {
		if r < 0x80 && text.IsAlnum(byte(r)) || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, s)
	sum := strconv.FormatUint(xxhash.Sum64String(s), 16)
	return readable[:min(len(readable), 60)] + "~" + strings.Repeat("0", 16-len(sum)) + sum
}

// plainName reports whether s is a safe file name: letters, digits, ".-_" and the extra
// characters, without a dot or space at either end, and not a device name of Windows.
func plainName(s, extra string) bool {
	if s == "" || len(s) > maxName || strings.Trim(s, ". ") != s {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !text.IsAlnum(c) && c != '-' && c != '_' && c != '.' && strings.IndexByte(extra, c) < 0 {
			return false
		}
	}
	stem, _, _ := strings.Cut(s, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL":
		return false
	}
	port := len(stem) == 4 && (strings.HasPrefix(stem, "COM") || strings.HasPrefix(stem, "LPT"))
	return !port || stem[3] < '0' || stem[3] > '9'
}

// isReplacement reports whether s has the form of a replaced name, so that a name read
// from the archive is not replaced again.
func isReplacement(s string) bool {
	head, sum, ok := strings.Cut(s, "~")
	return ok && len(head) <= 60 && len(sum) == 16 && strings.Trim(sum, "0123456789abcdef") == "" &&
		strings.IndexFunc(head, func(r rune) bool {
			return r >= 0x80 || !text.IsAlnum(byte(r)) && r != '-' && r != '_'
		}) < 0
}

// hasLogExt reports whether s has an extension of logs and their temporary files, which
// folders must not have.
func hasLogExt(s string) bool {
	switch strings.ToLower(path.Ext(s)) {
	case logExt, ".tmp", ".lock":
		return true
	}
	return false
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

// cutGeneration is the inverse of withGeneration.
func cutGeneration(name string) (string, int) {
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

// relName returns the path of a side file below its session's folder, with slashes.
func relName(rel string) string {
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
