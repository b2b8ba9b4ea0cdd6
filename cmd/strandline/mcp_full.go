//go:build !lean

package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/cli"
	"strandline/internal/config"
	"strandline/internal/embed"
	"strandline/internal/embed/static"
	"strandline/internal/logfile"
	"strandline/internal/logread"
	"strandline/internal/mcpserver"
	"strandline/internal/store/sqlite"
	"strandline/internal/vector"
)

// serveMCP serves models on this process's stdin and stdout.
func serveMCP(ctx context.Context, cfg *config.Config, dir string) error {
	c, journal, err := newCapture(cfg)
	if err != nil {
		return err
	}
	session := os.Getenv("CLAUDE_CODE_SESSION_ID")
	table := static.New() // decoded once for all calls
	server := mcpserver.New(mcpserver.Options{
		Version: version, Now: now,
		Log: slog.New(slog.NewJSONHandler(&logfile.Writer{Path: filepath.Join(cfg.Paths.Home, "strandline.log")}, nil)),
		Open: func(ctx context.Context) (mcpserver.Index, error) {
			if _, err := os.Stat(indexPath(cfg)); err != nil {
				return nil, archive.NotFound("nothing is archived yet", "`strandline import` brings in the sessions that exist")
			}
			store, err := openIndex(ctx, indexPath(cfg), sqlite.Options{ReadOnly: true, Texts: texts(indexPath(cfg))})
			if err != nil {
				return nil, err
			}
			return mcpIndex{store, &vector.Searcher{
				Store: store, Dir: vector.Dir(filepath.Join(cfg.Paths.Home, "vectors")), Embedders: []embed.Embedder{table},
			}}, nil
		},
		Embedder:    table,
		SaveSegment: saveSegment,
		Logs:        logread.Reader{Capture: c, Redact: redactor(cfg)},
		Project:     c.Project(dir),
		Recalled: func(ctx context.Context, refs []archive.Ref) error {
			return journal.RecordAll(ctx, capture.Fact{
				Kind: archive.JournalAccess, Session: session, Data: archive.AccessFact{Refs: refs, How: archive.AccessRecalled},
			})
		},
	})
	return server.Run(ctx, os.Stdin, os.Stdout)
}

// mcpIndex is an index that is searched by words and by meaning.
type mcpIndex struct {
	indexed
	*vector.Searcher
}

// saveSegment is `strandline segments save` with a summary that came over MCP.
func saveSegment(ctx context.Context, d mcpserver.Draft) (string, error) {
	var said bytes.Buffer
	env := cliEnv()
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(d.Summary), &said, &said
	args := []string{"segments", "save"}
	if d.Session != "" {
		args = append(args, "--session", d.Session)
	}
	if d.NoFiles != "" {
		args = append(args, "--no-files", d.NoFiles)
	}
	code := cli.Main(ctx, env, append(args, "--", d.Segment))
	report := strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(said.String()), "strandline: "), "\nhint: ", "; ")
	if code != cli.ExitOK {
		return report, fmt.Errorf("segments save: exit code %d", code)
	}
	return report, nil
}
