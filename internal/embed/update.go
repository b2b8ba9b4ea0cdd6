package embed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/state"
)

// VectorDir is the folder of the derived files, one for each embedder and dimension.
// They may be deleted at any time: the next Update writes them again. Searches go
// on while it is updated.
type VectorDir string

// path names the file of a set. Whatever an embedder is called, its file lies in
// the folder and is another one than that of any other.
func (d VectorDir) path(set archive.VectorSet) string {
	return filepath.Join(string(d), fmt.Sprintf("%s-%d-%x.vec", fileName(set.Embedder), set.Dim, uint64(set.Stamp)))
}

// queryPrefix begins the names of files with remembered queries.
const queryPrefix = "queries-"

// QueryCache is the file in which an embedder's vectors of queries may be
// remembered. It goes when the embedder's vectors go.
func (d VectorDir) QueryCache(embedder string) string {
	return filepath.Join(string(d), queryPrefix+fileName(embedder))
}

// fileName makes a part of a file's name of an embedder's.
func fileName(embedder string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '.':
			return r
		}
		return '_'
	}, strings.ToLower(embedder))
	if len(clean) > 60 {
		clean = clean[:60]
	}
	return strings.TrimLeft(clean, ".")
}

// FileUpdate tells what Update did with one set.
type FileUpdate struct {
	Set     archive.VectorSet
	Vectors int64  // in the file now
	Added   int64  // vectors added or, if it was rebuilt, all of them
	Rebuilt string // why the file was written anew, empty if it was not
}

const (
	// mergeBlocks is how many blocks there may be more than full ones would be;
	// beyond, they are merged into full ones.
	mergeBlocks = 32
	// A file is rebuilt without them once a tenth of its rows are gone.
	goneShare = 10
)

// Update brings every file up to the store's vectors: rows that came are added,
// a file that is damaged, of another set or full of rows that are gone is written
// anew, and files of sets that are no more are removed. Where another process
// does the same, it does nothing.
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
		u, err := d.updateSet(ctx, src, set)
		if err != nil {
			return done, fmt.Errorf("vectors of %s: %w", set.Embedder, err)
		}
		done = append(done, u)
	}
	return done, d.sweep(keep)
}

func (d VectorDir) updateSet(ctx context.Context, src VectorReader, set archive.VectorSet) (FileUpdate, error) {
	path := d.path(set)
	flat, err := openFlat(path)
	var why string
	switch {
	case err == nil:
		why = flat.unfit(set)
		if why == "" {
			if err := flat.verify(); err != nil {
				why = err.Error()
			}
		}
	case errors.Is(err, fs.ErrNotExist):
		why = "there was none"
	case errors.As(err, new(errFormat)):
		why = err.Error()
	default:
		return FileUpdate{}, err
	}
	if why != "" {
		if flat != nil {
			if err := flat.Close(); err != nil {
				return FileUpdate{}, err
			}
		}
		return rebuild(ctx, path, src, set, why)
	}
	u, err := grow(ctx, path, flat, src, set)
	return u, errors.Join(err, flat.Close())
}

func rebuild(ctx context.Context, path string, src VectorReader, set archive.VectorSet, why string) (FileUpdate, error) {
	u := FileUpdate{Set: set, Rebuilt: why}
	err := write(path, set, func(b *builder) error {
		err := b.fill(ctx, src, set)
		u.Vectors, u.Added = b.head.vectors, b.head.vectors
		return err
	})
	return u, err
}

// grow adds what came since the file was written.
func grow(ctx context.Context, path string, flat *Flat, src VectorReader, set archive.VectorSet) (u FileUpdate, err error) {
	u = FileUpdate{Set: set, Vectors: flat.head.vectors}
	if flat.head.set.Last == set.Last {
		return u, nil
	}
	if flat.head.blocks > mergeBlocks+int(flat.head.vectors/blockRows) {
		err := write(path, set, func(b *builder) error {
			err := flat.each(b.addVector)
			if err == nil {
				b.head.set.Last = flat.head.set.Last
				err = b.fill(ctx, src, set)
			}
			u.Vectors, u.Added = b.head.vectors, b.head.vectors-flat.head.vectors
			return err
		})
		return u, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return u, fmt.Errorf("add vectors: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// Behind the valid part there may be the rest of an update that was cut off.
	if _, err := f.Seek(flat.head.size, io.SeekStart); err != nil {
		return u, fmt.Errorf("add vectors: %w", err)
	}
	b := newBuilder(f, flat.head)
	if err := b.fill(ctx, src, set); err != nil {
		return u, err
	}
	b.head.set = set
	u.Vectors, u.Added = b.head.vectors, b.head.vectors-flat.head.vectors
	return u, putHeader(f, &b.head)
}

// sweep removes files that belong to no set any more, and what was left of one
// that was being written.
func (d VectorDir) sweep(keep map[string]bool) error {
	entries, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list vectors: %w", err)
	}
	var errs []error
	for _, e := range entries {
		path := filepath.Join(string(d), e.Name())
		ours := strings.HasSuffix(e.Name(), ".vec") || strings.HasPrefix(e.Name(), ".vectors-") || strings.HasPrefix(e.Name(), queryPrefix)
		if ours && !keep[path] && e.Type().IsRegular() {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, fmt.Errorf("remove vectors: %w", err))
			}
		}
	}
	return errors.Join(errs...)
}
