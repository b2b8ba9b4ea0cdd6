package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"strandline/internal/archive"
	"strandline/internal/config"
	"strandline/internal/embed"
	"strandline/internal/embed/onnx"
)

// Values of embed.model besides the names of added models: the built-in table, and
// an HTTP endpoint.
const (
	modelStatic = "static"
	modelHTTP   = "http"
)

// keyVariable is the environment variable with the endpoint's key. No file contains
// it.
const keyVariable = "STRANDLINE_EMBED_KEY"

func (w Workspace) vectorDir() embed.VectorDir { return embed.VectorDir(w.Config.Paths.Vectors()) }

func (w Workspace) models() onnx.Models { return onnx.Models(w.Config.Paths.Models()) }

// NeedsNetwork reports whether the settings choose an endpoint, but this program
// links no network.
func (a *App) NeedsNetwork() bool {
	cfg, _ := a.Settings() // errors are reported where settings are used
	return cfg.Embed.Model == modelHTTP && a.Network == nil
}

// chosenModel is the embedder that is used besides the built-in table.
type chosenModel struct {
	name string // in vector rows
	// open starts the embedder. It is nil if none is chosen. The closer may be nil.
	open func(ctx context.Context, attempts int) (embed.Embedder, io.Closer, error)
}

// chosen returns the embedder of the settings. It opens no files.
func (a *App) chosen(cfg *config.Config) (c chosenModel, err error) {
	switch name := cfg.Embed.Model; name {
	case modelStatic, "":
		return c, nil
	case modelHTTP:
		if a.Network == nil {
			return c, errors.New("this program links no network")
		}
		return chosenModel{httpEmbedder(cfg), func(_ context.Context, attempts int) (embed.Embedder, io.Closer, error) {
			m, err := a.Network.Endpoint(cfg.Embed.URL, cfg.Embed.EndpointModel, a.Getenv(keyVariable), a.Redactor(cfg), attempts)
			return m, nil, err
		}}, nil
	default:
		m, err := onnx.Models(cfg.Paths.Models()).Get(name)
		if err != nil {
			return c, err
		}
		return chosenModel{m.Embedder(), func(ctx context.Context, _ int) (embed.Embedder, io.Closer, error) {
			if err := m.Check(ctx); err != nil {
				return nil, nil, err
			}
			helper, err := a.helper(cfg)
			if err != nil {
				return nil, nil, err
			}
			x := onnx.New(onnx.Options{Helper: helper, Library: cfg.Embed.Library, Model: m.Path, Vocab: m.VocabPath, Name: m.Embedder()})
			return x, x, nil
		}}, nil
	}
}

// httpEmbedder is the endpoint's name in vector rows.
func httpEmbedder(cfg *config.Config) string { return "http/" + cfg.Embed.EndpointModel }

// Queries embeds queries with the chosen model, if any, and with the built-in table.
type Queries struct {
	Table *embed.Static
	// Embedders and Notes are for an embed.Searcher.
	Embedders []embed.Embedder
	Notes     []string
	model     *embed.QueryEmbedder
}

// queryIdle is how long an unused model keeps running. An ONNX helper takes some
// hundred megabytes, and 0.2 s to start.
const queryIdle = 2 * time.Minute

// NewQueries returns the embedders of queries. It opens nothing yet. Notes say why
// the chosen model is unavailable.
func (a *App) NewQueries(cfg *config.Config) *Queries {
	q := &Queries{Table: embed.NewStatic()}
	chosen, err := a.chosen(cfg)
	switch {
	case err != nil:
		q.Notes = []string{cfg.Embed.Model + ": " + ErrorText(err)}
	case chosen.open != nil:
		q.model = embed.NewQueryEmbedder(embed.QueryOptions{
			Name: chosen.name, Redact: a.Redact, Wait: cfg.Embed.Wait, Idle: queryIdle, Now: a.Now,
			Cache: embed.VectorDir(cfg.Paths.Vectors()).QueryCache(chosen.name),
			Open: func(ctx context.Context) (embed.Embedder, io.Closer, error) {
				return chosen.open(ctx, 1) // a search does not wait for a second attempt
			},
		})
		q.Embedders = append(q.Embedders, q.model)
	}
	q.Embedders = append(q.Embedders, q.Table)
	return q
}

// Close stops the chosen model, if it runs.
func (q *Queries) Close() error {
	if q.model == nil {
		return nil
	}
	return q.model.Close()
}

// Searcher finds the passages of a store by meaning.
func (q *Queries) Searcher(cfg *config.Config, s embed.VectorStore) *embed.Searcher {
	return &embed.Searcher{Store: s, Dir: embed.VectorDir(cfg.Paths.Vectors()), Embedders: q.Embedders, Notes: q.Notes}
}

// sharedQueries are the embedders of all searches, made at the first.
type sharedQueries struct {
	once sync.Once
	made *Queries
}

func (a *App) embedders() *Queries {
	a.queries.once.Do(func() {
		cfg, _ := a.settings()
		a.queries.made = a.NewQueries(cfg)
	})
	return a.queries.made
}

func (s *sharedQueries) close() error {
	s.once.Do(func() {})
	if s.made == nil {
		return nil
	}
	return s.made.Close()
}

// helper finds the program that runs added models.
func (a *App) helper(cfg *config.Config) (string, error) {
	if cfg.Embed.Helper != "" {
		return cfg.Embed.Helper, nil
	}
	name := "strandline-onnx"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	for _, path := range []string{filepath.Join(filepath.Dir(a.Exe), name), name} {
		if found, err := a.System.LookPath(path); err == nil {
			return found, nil
		}
	}
	return "", archive.NotFound("strandline-onnx, which runs added models, is not installed",
		"put it in the folder of strandline (`make onnx` builds it), or set embed.helper")
}

// embedAll computes the missing vectors of all passages, with the built-in table and
// the chosen model, and returns how many passages it processed. If the model fails,
// the table's vectors are complete nevertheless.
func (a *App) embedAll(ctx context.Context, x Archive) (int, error) {
	chosen, failed := a.chosen(x.Config)
	var model embed.Embedder
	var closer io.Closer
	if failed == nil && chosen.open != nil {
		model, closer, failed = chosen.open(ctx, 0)
	}
	done, err := a.embed(ctx, x, 0, model)
	if closer != nil {
		err = errors.Join(err, closer.Close())
	}
	if err = errors.Join(failed, err); err != nil {
		err = fmt.Errorf("%w (searches use the built-in vectors)", err)
	}
	return done, err
}

// backgroundEmbed limits the embedding of background work. The built-in table
// processes some thousand passages in this time.
const backgroundEmbed = 200 * time.Millisecond

// embedSome computes missing vectors of the newest passages with the built-in table,
// for a short time: it runs while the user works.
func (a *App) embedSome(ctx context.Context, x Archive) (int, error) {
	return a.embed(ctx, x, backgroundEmbed, nil)
}

func (a *App) embed(ctx context.Context, x Archive, within time.Duration, model embed.Embedder) (done int, err error) {
	m := embed.Maintenance{Store: x.Index, Dir: x.vectorDir(), Now: a.Now, Within: within, Embedders: []embed.Embedder{embed.NewStatic()}}
	if model != nil {
		m.Embedders = append(m.Embedders, model)
	}
	report, err := m.Run(ctx, 0)
	for _, n := range report.Embedded {
		done += n
	}
	return done, err
}
