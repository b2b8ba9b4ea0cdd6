package maintenance

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

// Proof is what a look at every byte of the archive found of some texts.
type Proof struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"` // of logs those that decompression gives
	Texts int   `json:"texts"` // that were looked for
	// Shared counts the texts that other sessions' logs hold, which are Kept.
	Shared int `json:"shared"`
	// Kept are logs of other sessions that hold one of the texts: a fork, or a
	// session that spoke of the same.
	Kept []string `json:"kept"`
	// Left are other files that hold a text which stands in no log.
	Left []string `json:"left"`
	// Found is one of those texts, "" if there is none.
	Found string `json:"found,omitempty"`
}

// Samples takes texts from passages of a session to look for after it is deleted:
// runs of letters, spread over the session, that its logs hold as they are. What an
// index words for itself would be found in passages of other sessions as well.
func (f Forget) Samples(ctx context.Context, session string, passages []archive.Passage, most int) ([]string, error) {
	var all []string
	for i := range passages {
		if s := sample(passages[i].Text); s != "" {
			all = append(all, s)
		}
	}
	logs, err := f.logs(ctx, []string{session})
	if err != nil {
		return nil, err
	}
	some := evenly(all, triedFor*most)
	held, err := heldBy(logs[session], some)
	if err == nil && len(held) < most && len(some) < len(all) {
		held, err = heldBy(logs[session], all)
	}
	return evenly(held, most), err
}

// triedFor is how many texts are looked for in the logs for each sample: looking
// takes as long as texts and bytes of the logs together, and nearly every text
// stands there.
const triedFor = 8

// heldBy returns those of the texts that one of the logs holds, in their order.
func heldBy(logs []sessionlog.Entry, texts []string) ([]string, error) {
	held := map[string]bool{}
	for _, e := range logs {
		found, _, err := look(e.Path, texts)
		if err != nil {
			return nil, fmt.Errorf("take samples: %w", err)
		}
		for _, s := range found {
			held[s] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return !held[s] }), nil
}

// evenly takes at most so many of a list, spread over it.
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

// Lengths of a sample, in bytes. Shorter ones stand in other sessions by chance;
// a longer one is seldom whole in one page of a database.
const (
	sampleLeast = 24
	sampleMost  = 48
)

// sample returns the longest run of a text that JSON writes as it is.
func sample(text string) (best string) {
	plain := func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) }
	for _, run := range strings.FieldsFunc(text, plain) {
		if run = strings.TrimSpace(run); len(run) >= sampleLeast && len(run) > len(best) {
			best = run
		}
	}
	return best[:min(len(best), sampleMost)]
}

// Prove reads every file below home, logs decompressed, and looks for the texts.
func Prove(ctx context.Context, home string, texts []string) (Proof, error) {
	texts = slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return t == "" })
	p := Proof{Texts: len(texts), Kept: []string{}, Left: []string{}}
	held := map[string]bool{} // texts that stand in a log
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
		found, n, err := look(path, texts)
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
		return p, fmt.Errorf("look for what was deleted: %w", err)
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

// look returns the texts that a file holds, and how many bytes it read.
func look(path string, texts []string) (found []string, n int64, err error) {
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
		return found, n, nil // its bytes as they are were looked at
	}
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	inside, n, err := scan(r.NewSection(0, r.Position().Raw), texts)
	return append(found, inside...), n, err
}

// scan looks for texts in a stream.
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
