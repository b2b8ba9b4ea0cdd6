package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
)

// Proof is the result of searching every file of the archive for some texts.
type Proof struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"` // read, of logs decompressed
	Texts int   `json:"texts"` // searched for
	// Shared counts the texts that logs in Kept contain.
	Shared int `json:"shared"`
	// Kept are logs of other sessions that contain one of the texts, such as forks.
	Kept []string `json:"kept"`
	// Left are other files that contain a text that no log contains.
	Left []string `json:"left"`
	// Found is one of the texts in Left, "" if there is none.
	Found string `json:"found,omitempty"`
}

// Samples takes at most so many texts from passages of a session to search for
// after its deletion: plain runs, spread over the session, that its logs contain
// unescaped. Texts that the index generates are left out, since other sessions
// have them as well.
func (w Workspace) Samples(ctx context.Context, session string, passages []archive.Passage, most int) ([]string, error) {
	all := archive.Convert(passages, func(p archive.Passage) string { return sample(p.Text) })
	all = slices.DeleteFunc(all, func(s string) bool { return s == "" })
	logs, err := w.logs(ctx, []string{session})
	if err != nil {
		return nil, err
	}
	some := evenly(all, candidates*most)
	held, err := containedIn(logs[session], some)
	if err == nil && len(held) < most && len(some) < len(all) {
		held, err = containedIn(logs[session], all)
	}
	return evenly(held, most), err
}

// candidates is how many texts per sample are searched for in the logs. The cost
// is texts times bytes, and nearly every text is found.
const candidates = 8

// containedIn returns the texts that one of the logs contains, in their order.
func containedIn(logs []sessionlog.Entry, texts []string) ([]string, error) {
	held := map[string]bool{}
	for _, e := range logs {
		found, _, err := search(e.Path, texts)
		if err != nil {
			return nil, fmt.Errorf("take samples: %w", err)
		}
		for _, s := range found {
			held[s] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return !held[s] }), nil
}

// evenly takes at most so many items of a list, at equal distances.
func evenly(list []string, most int) []string {
	if len(list) <= most {
		return list
	}
	out := make([]string, most)
	for i := range out {
		out[i] = list[i*len(list)/most]
	}
	return out
}

// Lengths of a sample in bytes. Shorter ones occur in other sessions by chance;
// longer ones are often split between two pages of a database.
const (
	minSample = 24
	maxSample = 48
)

// sample returns the longest run of a text that JSON does not escape, "" if all
// are too short.
func sample(text string) (best string) {
	escaped := func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) }
	for _, run := range strings.FieldsFunc(text, escaped) {
		if run = strings.TrimSpace(run); len(run) >= minSample && len(run) > len(best) {
			best = run
		}
	}
	return best[:min(len(best), maxSample)]
}

// Prove searches every file below home, logs decompressed, for the texts.
func Prove(ctx context.Context, home string, texts []string) (Proof, error) {
	texts = slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return t == "" })
	p := Proof{Texts: len(texts), Kept: []string{}, Left: []string{}}
	held := map[string]bool{} // texts that a log contains
	elsewhere := map[string][]string{}
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !d.Type().IsRegular():
			return nil
		}
		found, n, err := search(path, texts)
		if errors.Is(err, fs.ErrNotExist) || archive.ErrorCode(err) == archive.CodeNotFound {
			return nil
		}
		if err != nil {
			return err
		}
		p.Files++
		p.Bytes += n
		rel, err := filepath.Rel(home, path)
		if err != nil || len(found) == 0 {
			return err
		}
		if strings.HasPrefix(filepath.ToSlash(rel), "log/") {
			p.Kept = append(p.Kept, rel)
			for _, t := range found {
				held[t] = true
			}
			return nil
		}
		elsewhere[rel] = found
		return nil
	})
	if err != nil {
		return p, fmt.Errorf("search for deleted texts: %w", err)
	}
	p.Shared = len(held)
	for rel, found := range elsewhere {
		if i := slices.IndexFunc(found, func(t string) bool { return !held[t] }); i >= 0 {
			p.Left, p.Found = append(p.Left, rel), found[i]
		}
	}
	slices.Sort(p.Left)
	return p, nil
}

// search returns the texts that a file contains and the number of bytes read.
func search(path string, texts []string) (found []string, n int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	if found, n, err = scan(f, texts); err != nil || !strings.HasSuffix(path, ".zst") {
		return found, n, err
	}
	r, err := sessionlog.OpenReader(path)
	if archive.ErrorCode(err) == archive.CodeCorrupt {
		return found, n, nil // its compressed bytes were searched
	}
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	inside, n, err := scan(r.NewSection(0, r.Position().Raw), texts)
	return append(found, inside...), n, err
}

// scan returns the texts that a stream contains.
func scan(r io.Reader, texts []string) (found []string, n int64, err error) {
	const step = 1 << 20
	longest := 1
	for _, t := range texts {
		longest = max(longest, len(t))
	}
	missing := slices.Clone(texts)
	buf := make([]byte, 0, step+longest)
	for {
		k, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		n += int64(k)
		buf = buf[:len(buf)+k]
		missing = slices.DeleteFunc(missing, func(t string) bool {
			if !bytes.Contains(buf, []byte(t)) {
				return false
			}
			found = append(found, t)
			return true
		})
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return found, n, nil
		}
		if err != nil {
			return found, n, fmt.Errorf("read: %w", err)
		}
		rest := min(len(buf), longest-1)
		buf = buf[:copy(buf, buf[len(buf)-rest:])]
	}
}
