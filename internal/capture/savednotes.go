package capture

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"strandline/internal/sessionlog"
)

// SavedNote is an archived note of a session, in its latest generation.
type SavedNote struct {
	Session string // as in the archive's paths
	Rel     string // "plans/calm-blue-otter.md"
	Time    time.Time
	path    string
}

// SavedNotes lists the newest archived notes, at most limit: those in the manifest. Of the
// memory of a project, which each of its sessions has, only the newest is listed.
func (c *Capture) SavedNotes(limit int) (notes []SavedNote, err error) {
	m := c.Manifest()
	sizes, err := m.sizes()
	if err != nil {
		return nil, err
	}
	latest := map[string]SavedNote{}
	for path := range sizes {
		owner := m.owner(path)
		_, rel, ok := strings.Cut(filepath.ToSlash(path), "/"+owner+"/")
		if !ok || owner == "" || !isNote(rel) {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			continue // deleted with its session
		}
		rel, _ = sessionlog.CutGeneration(strings.TrimSuffix(rel, ".zst"))
		n := SavedNote{Session: owner, Rel: rel, Time: info.ModTime(), path: path}
		of := filepath.Dir(filepath.Dir(path))
		if strings.HasPrefix(rel, memoryFolder+"/") {
			of = filepath.Dir(of)
		}
		if key := of + "/" + rel; n.Time.After(latest[key].Time) {
			latest[key] = n
		}
	}
	for _, n := range latest {
		notes = append(notes, n)
	}
	slices.SortFunc(notes, func(a, b SavedNote) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.path, b.path))
	})
	return notes[:min(len(notes), limit)], nil
}

// Text returns the note's text, not redacted.
func (n SavedNote) Text() (string, error) {
	r, err := sessionlog.OpenReader(n.path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	var b bytes.Buffer
	if _, err := r.WriteTo(&b); err != nil {
		return "", fmt.Errorf("read %s: %w", n.Rel, err)
	}
	return b.String(), nil
}
