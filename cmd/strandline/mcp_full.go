//go:build !lean

package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/config"
	"strandline/internal/logfile"
	"strandline/internal/logread"
	"strandline/internal/mcpserver"
	"strandline/internal/store/sqlite"
)

// serveMCP serves models on this process's stdin and stdout.
func serveMCP(ctx context.Context, cfg *config.Config, dir string) error {
	c, journal, err := newCapture(cfg)
	if err != nil {
		return err
	}
	session := os.Getenv("CLAUDE_CODE_SESSION_ID")
	server := mcpserver.New(mcpserver.Options{
		Version: version, Now: now,
		Log: slog.New(slog.NewJSONHandler(&logfile.Writer{Path: filepath.Join(cfg.Paths.Home, "strandline.log")}, nil)),
		Open: func(ctx context.Context) (mcpserver.Index, error) {
			if _, err := os.Stat(indexPath(cfg)); err != nil {
				return nil, archive.NotFound("nothing is archived yet", "`strandline import` brings in the sessions that exist")
			}
			return openIndex(ctx, indexPath(cfg), sqlite.Options{ReadOnly: true, Texts: texts(indexPath(cfg))})
		},
		Logs:    logread.Reader{Capture: c, Redact: redactor(cfg)},
		Project: c.Project(dir),
		Recalled: func(ctx context.Context, refs []archive.Ref) error {
			return journal.RecordAll(ctx, capture.Fact{
				Kind: archive.JournalAccess, Session: session, Data: archive.AccessFact{Refs: refs, How: archive.AccessRecalled},
			})
		},
	})
	return server.Run(ctx, os.Stdin, os.Stdout)
}
