package embed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/state"
)

// VectorDir is the folder of the flat files, one for each embedder and number of
// components. The files are derived: Update rebuilds missing ones. Searches can run
// during an update.
type VectorDir string

// Names in the folder.
const (
	vectorExt   = ".vec"
	queryPrefix = "queries-"  // files of cached queries
	tempPrefix  = ".vectors-" // files that are being written
)

// path returns the path of a set's file. It is unique and inside the folder for any
// embedder name.
func (d VectorDir) path(set archive.VectorSet) string {
	return filepath.Join(string(d), fmt.Sprintf("%s-%d-%x%s", fileName(set.Embedder), set.Dim, uint64(set.Stamp), vectorExt))
}

// QueryCache returns the path of the file that caches an embedder's query vectors.
// Update deletes it together with the embedder's last vectors.
func (d VectorDir) QueryCache(embedder string) string {
	return filepath.Join(string(d), queryPrefix+fileName(embedder))
}

// fileName makes an embedder's name usable in a file name.
func fileName(embedder string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, strings.ToLower(embedder))
	return strings.TrimLeft(clean[:min(len(clean), 60)], ".")
}

// FileUpdate is what Update did with one set.
type FileUpdate struct {
	Set     archive.VectorSet
	Vectors int64  // in the file now
	Added   int64  // all vectors if the file was rebuilt
	Rebuilt string // why the file was rebuilt, or ""
}

const (
	// mergeBlocks is the number of blocks beyond full ones at which blocks are merged.
	mergeBlocks = 32
	// deletedShare: a file is rebuilt once one in deletedShare of its rows is deleted.
	deletedShare = 10
)

// Update brings all files up to the store: it appends new rows, rebuilds files that
// are missing, damaged, of another set or full of deleted rows, and deletes files of
// sets that the store no longer has. If another process is updating the folder, it
// does nothing.
func (d VectorDir) Update(ctx context.Context, src VectorReader) (done []FileUpdate, err error) {
	sets, err := src.VectorSets(ctx)
	if err != nil {
		return nil, err
	}
	lock, err := state.TryLock(filepath.Join(string(d), ".lock"))
	if errors.Is(err, state.ErrHeld) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("update the vector files: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	keep := map[string]bool{}
	for _, set := range sets {
		keep[d.path(set)], keep[d.QueryCache(set.Embedder)] = true, true
		u, err := updateFile(ctx, d.path(set), src, set)
		if err != nil {
			return done, fmt.Errorf("vectors of %s: %w", set.Embedder, err)
		}
		done = append(done, u)
	}
	return done, d.sweep(keep)
}

// updateFile brings the file of one set up to the store.
func updateFile(ctx context.Context, path string, src VectorReader, set archive.VectorSet) (u FileUpdate, err error) {
	u.Set = set
	flat, err := OpenFlat(path)
	switch {
	case err == nil:
		if u.Rebuilt = flat.mismatch(set); u.Rebuilt == "" {
			if err := flat.verify(); err != nil {
				u.Rebuilt = err.Error()
			}
		}
	case errors.Is(err, fs.ErrNotExist):
		u.Rebuilt = "there was none"
	case errors.As(err, new(formatError)):
		u.Rebuilt = err.Error()
	default:
		return u, err
	}
	had := int64(0)
	content := func(b *builder) error {
		err := b.fill(ctx, src, set)
		u.Vectors, u.Added = b.head.vectors, b.head.vectors-had
		return err
	}
	if u.Rebuilt != "" {
		if flat != nil {
			if err := flat.Close(); err != nil {
				return u, err
			}
		}
		err = create(path, set, content)
		return u, err
	}
	defer func() { err = errors.Join(err, flat.Close()) }()
	had, u.Vectors = flat.head.vectors, flat.head.vectors
	if flat.head.set.Last == set.Last {
		return u, nil
	}
	if flat.head.blocks > mergeBlocks+int(had/blockRows) {
		err = create(path, set, func(b *builder) error {
			if err := flat.each(b.addVector); err != nil {
				return err
			}
			b.head.set.Last = flat.head.set.Last
			return content(b)
		})
		return u, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return u, fmt.Errorf("append vectors: %w", err)
	}
	// An interrupted update can have left bytes after the valid part.
	err = errors.Join((&builder{w: f, head: flat.head}).write(f, set, content), f.Close())
	return u, err
}

// sweep deletes the package's files in the folder that are not in keep.
func (d VectorDir) sweep(keep map[string]bool) error {
	entries, err := os.ReadDir(string(d))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list vectors: %w", err)
	}
	var errs []error
	for _, e := range entries {
		name, path := e.Name(), filepath.Join(string(d), e.Name())
		ours := strings.HasSuffix(name, vectorExt) || strings.HasPrefix(name, tempPrefix) || strings.HasPrefix(name, queryPrefix)
		if !ours || keep[path] || !e.Type().IsRegular() {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove vectors: %w", err))
		}
	}
	return errors.Join(errs...)
}
