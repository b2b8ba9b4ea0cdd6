//go:build !lean

package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/embed"
	"strandline/internal/index/sqlite"
	"strandline/internal/mcpserver"
	"strandline/internal/task"
)

// ServeMCP implements cli.Frontends. A rejected setting is replaced by its fallback.
func (f servers) ServeMCP(ctx context.Context) (err error) {
	w, err := f.app.LenientWorkspace()
	if err != nil {
		return err
	}
	cfg, c, journal := w.Config, w.Capture, w.Journal
	session := os.Getenv("CLAUDE_CODE_SESSION_ID")
	queries := f.app.NewQueries(cfg) // once for all calls
	defer func() { err = errors.Join(err, queries.Close()) }()
	server := mcpserver.New(mcpserver.Options{
		Version: version, Now: now,
		Log: w.Logger(),
		Open: func(ctx context.Context) (mcpserver.Index, error) {
			if _, err := os.Stat(cfg.Paths.Index()); err != nil {
				return nil, archive.NotFound("nothing is archived yet", "`strandline import` brings in the sessions that exist")
			}
			store, err := openIndex(ctx, cfg.Paths.Index(), sqlite.Options{ReadOnly: true, Texts: c.ReadPassages})
			if err != nil {
				return nil, err
			}
			return mcpIndex{store, queries.Searcher(cfg, store)}, nil
		},
		Embedder:    queries.Table,
		Decay:       cfg.Lifecycle.Decay,
		SaveSegment: f.saveSegment,
		Logs:        w.Reader(),
		Project:     c.Project(f.app.ProjectDir()),
		Recalled: func(ctx context.Context, refs []archive.Ref) error {
			return journal.RecordAccess(ctx, session, refs)
		},
	})
	return server.Run(ctx, os.Stdin, os.Stdout)
}

// mcpIndex is an index that is searched by words and by meaning.
type mcpIndex struct {
	indexed
	*embed.Searcher
}

// saveSegment takes a summary as `strandline segments save` does.
func (f servers) saveSegment(ctx context.Context, d mcpserver.Draft) (string, error) {
	return f.app.SaveSegment(ctx, d.Session, task.Draft{Segment: d.Segment, Text: strings.ToValidUTF8(d.Summary, ""), NoFiles: d.NoFiles})
}
