package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/embed"
	"strandline/internal/index/sqlite"
	"strandline/internal/recall"
	"strandline/internal/sessionlog"
)

// world is an archive of transcripts, imported as strandline import does it.
type world struct {
	home   string
	store  index // opened for reading, as a search does it
	table  *embed.Static
	closed bool
}

// index is the part of a store that is evaluated.
type index interface {
	recall.SearchStore
	embed.VectorStore
	Sessions(ctx context.Context, f archive.SessionFilter) ([]archive.Session, error)
	Turns(ctx context.Context, sp archive.Span) ([]archive.Turn, error)
	Passages(ctx context.Context, sp archive.PassageSpan) ([]archive.Passage, error)
	Close() error
}

// filled is what an archive is brought into.
type filled interface {
	capture.Index
	embed.VectorStore
	embed.VectorWriter
}

// only returns a world of which only some sessions are searched.
func (w *world) only(sessions []archive.Session) *world {
	ids := archive.Convert(sessions, func(s archive.Session) string { return s.ID })
	return &world{home: w.home, store: limited{w.store, ids}, table: w.table, closed: true}
}

// limited is an index of which only some sessions are searched.
type limited struct {
	index
	sessions []string
}

// Search implements index.
func (x limited) Search(ctx context.Context, q archive.Query) ([]archive.Hit, error) {
	q.Sessions = x.sessions
	return x.index.Search(ctx, q)
}

// HitsOf implements index.
func (x limited) HitsOf(ctx context.Context, q archive.Query, passages []int64) ([]archive.Hit, error) {
	q.Sessions = x.sessions
	return x.index.HitsOf(ctx, q, passages)
}

// VectorScope implements index.
func (x limited) VectorScope(ctx context.Context, q archive.Query) (func(int64) bool, error) {
	q.Sessions = x.sessions
	return x.index.VectorScope(ctx, q)
}

// build imports the transcripts below paths into an archive at home, which is
// empty.
func build(ctx context.Context, home string, paths ...string) (*world, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for the archive: %w", err)
	}
	index := filepath.Join(home, "index.db")
	if err := fill(ctx, home, index, paths); err != nil {
		return nil, err
	}
	if err := addVectors(ctx, home, index); err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, index, sqlite.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return &world{home: home, store: s, table: embed.NewStatic()}, nil
}

// fill imports into the index and closes it.
func fill(ctx context.Context, home, index string, paths []string) (err error) {
	s, err := sqlite.Open(ctx, index, sqlite.Options{Bulk: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	known, err := sqlite.Open(ctx, index, sqlite.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, known.Close()) }()
	return importInto(ctx, home, s, known, paths)
}

// importInto brings the transcripts below paths into a store.
func importInto(ctx context.Context, home string, s, known filled, paths []string) error {
	c := newCapture(home)
	jobs, failed, err := c.Discover(ctx, paths)
	if err != nil {
		return err
	}
	if len(failed) > 0 {
		return fmt.Errorf("find transcripts: %w", failed[0].Err)
	}
	report, err := c.Bulk(ctx, s, known, jobs, nil)
	if err != nil {
		return err
	}
	for _, f := range report.Failed {
		return fmt.Errorf("import %s: %w", f.Path, f.Err)
	}
	return nil
}

// addVectors does what strandline maintain does for vectors.
func addVectors(ctx context.Context, home, index string) (err error) {
	s, err := sqlite.Open(ctx, index, sqlite.Options{Bulk: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return embedAll(ctx, home, s)
}

// embedAll makes vectors of a store's passages.
func embedAll(ctx context.Context, home string, s filled) error {
	u := embed.Maintenance{Store: s, Dir: vectorDir(home), Embedders: []embed.Embedder{embed.NewStatic()}, Now: time.Now}
	_, err := u.Run(ctx, 0)
	return err
}

func vectorDir(home string) embed.VectorDir { return embed.VectorDir(filepath.Join(home, "vectors")) }

// vectors searches what addVectors made.
func (w *world) vectors() *embed.Searcher {
	return &embed.Searcher{Store: w.store, Dir: vectorDir(w.home), Embedders: []embed.Embedder{w.table}}
}

// newCapture returns a capture without redaction.
func newCapture(home string) *capture.Capture {
	return &capture.Capture{
		Layout: sessionlog.Layout{Root: home},
		Project: func(dir string) archive.Project {
			name := dir[strings.LastIndexAny(dir, `/\`)+1:]
			return archive.Project{Key: "dir:" + dir, Name: name, Root: dir}
		},
		Now: time.Now,
	}
}
