package capture

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/sessionlog"
	"strandline/internal/state"
)

// Manifest lists the logs of an archive, so that a deleted one is noticed. It is a text
// file with a checksum and a path per line; damaged lines are ignored. A name that is
// missing is added again by Update.
type Manifest struct{ layout sessionlog.Layout }

// Manifest returns the archive's list of logs.
func (c *Capture) Manifest() Manifest { return Manifest{c.Layout} }

func (m Manifest) path() string { return filepath.Join(m.layout.Root, "manifest") }

// Add adds the log at path. It is called once per log, when it gets its first bytes.
func (m Manifest) Add(path string) error {
	line, err := m.line(path)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(m.path(), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteString(line)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("add a log to the manifest: %w", err)
	}
	return nil
}

func (m Manifest) line(path string) (string, error) {
	rel, err := filepath.Rel(m.layout.Root, path)
	if err != nil {
		return "", fmt.Errorf("add a log to the manifest: %w", err)
	}
	rel = filepath.ToSlash(rel)
	return fmt.Sprintf("%016x %s\n", xxhash.Sum64String(rel), rel), nil
}

// names returns the listed paths below the archive's folder, once each.
func (m Manifest) names() (map[string]bool, error) {
	data, err := os.ReadFile(m.path())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	names := map[string]bool{}
	for in := bufio.NewScanner(bytes.NewReader(data)); in.Scan(); {
		sum, rel, _ := strings.Cut(in.Text(), " ")
		if sum == fmt.Sprintf("%016x", xxhash.Sum64String(rel)) && filepath.IsLocal(rel) {
			names[rel] = true
		}
	}
	return names, nil
}

// LostLogs returns the paths of listed logs that do not exist any more, except for
// forgotten sessions. session limits them to one session; "" means all.
func (c *Capture) LostLogs(session string) ([]string, error) {
	names, err := c.Manifest().names()
	var lost []string
	for rel := range names {
		owner := ownerOf(rel)
		if session != "" && owner != c.Layout.Name(session) {
			continue
		}
		path := filepath.Join(c.Layout.Root, filepath.FromSlash(rel))
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && !c.Forgotten().Has(owner) {
			lost = append(lost, path)
		}
	}
	slices.Sort(lost)
	return lost, err
}

// ownerOf returns the session's name in the path of a log, log/<client>/<slug>/<name>….
func ownerOf(rel string) string {
	parts := strings.Split(rel, "/")
	if len(parts) < 4 {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimSuffix(parts[3], transcriptExt+".zst"), ".g")
	return name
}

// Update writes the manifest again: the logs that exist, those that are lost, and none of
// those in drop, which were deleted on purpose. A log that another process creates
// meanwhile may be missing until the next call.
func (m Manifest) Update(ctx context.Context, drop func(path string) bool) error {
	names, err := m.names()
	if err != nil {
		return err
	}
	var out strings.Builder
	add := func(path string) error {
		if drop != nil && drop(path) {
			return nil
		}
		line, err := m.line(path)
		out.WriteString(line)
		return err
	}
	for e, err := range m.layout.Walk(ctx) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			continue // its logs are in names
		}
		rel, err := filepath.Rel(m.layout.Root, e.Path)
		if err == nil {
			names[filepath.ToSlash(rel)] = true
		}
	}
	for _, rel := range slices.Sorted(maps.Keys(names)) {
		if err := add(filepath.Join(m.layout.Root, filepath.FromSlash(rel))); err != nil {
			return err
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
