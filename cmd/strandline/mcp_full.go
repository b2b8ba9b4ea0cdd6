//go:build !lean

package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/cli"
	"strandline/internal/config"
	"strandline/internal/embed"
	"strandline/internal/index/sqlite"
	"strandline/internal/logread"
	"strandline/internal/mcpserver"
	"strandline/internal/state"
	"strandline/internal/task"
)

// serveMCP serves models on this process's stdin and stdout.
func serveMCP(ctx context.Context, cfg *config.Config, dir string) (err error) {
	c, journal, err := newCapture(cfg)
	if err != nil {
		return err
	}
	session := os.Getenv("CLAUDE_CODE_SESSION_ID")
	queries := cli.NewQueries(cliEnv(), cfg) // once for all calls
	defer func() { err = errors.Join(err, queries.Close()) }()
	server := mcpserver.New(mcpserver.Options{
		Version: version, Now: now,
		Log: slog.New(slog.NewJSONHandler(&state.LogFile{Path: cfg.Paths.Errors()}, nil)),
		Open: func(ctx context.Context) (mcpserver.Index, error) {
			if _, err := os.Stat(cfg.Paths.Index()); err != nil {
				return nil, archive.NotFound("nothing is archived yet", "`strandline import` brings in the sessions that exist")
			}
			store, err := openIndex(ctx, cfg.Paths.Index(), sqlite.Options{ReadOnly: true, Texts: c.Reread})
			if err != nil {
				return nil, err
			}
			return mcpIndex{store, queries.Searcher(cfg, store)}, nil
		},
		Embedder:    queries.Table,
		Decay:       cfg.Lifecycle.Decay,
		SaveSegment: saveSegment,
		Logs:        logread.Reader{Capture: c, Redact: redactor(cfg)},
		Project:     c.Project(dir),
		Recalled: func(ctx context.Context, refs []archive.Ref) error {
			return journal.Accessed(ctx, session, refs)
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
func saveSegment(ctx context.Context, d mcpserver.Draft) (string, error) {
	return cli.SaveSegment(ctx, cliEnv(), d.Session, task.Draft{Segment: d.Segment, Text: strings.ToValidUTF8(d.Summary, ""), NoFiles: d.NoFiles})
}
