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

// The names of embed.model that are no added model's.
const (
	ModelStatic = "static"
	ModelHTTP   = "http"
)

// keyVariable holds the endpoint's key; it stands in no file of ours.
const keyVariable = "STRANDLINE_EMBED_KEY"

// vectorDir is the folder of the files that are derived from vectors.
func (r Workspace) VectorDir() embed.VectorDir { return embed.VectorDir(r.Config.Paths.Vectors()) }

func (r Workspace) Models() onnx.Models { return onnx.Models(r.Config.Paths.Models()) }

// NeedsNetwork reports that the settings ask for an endpoint and that this program
// links no network.
func (a *App) NeedsNetwork() bool {
	cfg, _ := a.Settings() // what is wrong with them is told where they are used
	return cfg.Embed.Model == ModelHTTP && a.Network == nil
}

// ChosenModel is the embedder that the settings name beside the built-in table.
type ChosenModel struct {
	Name string // in vector rows
	Open func(ctx context.Context, attempts int) (embed.Embedder, io.Closer, error)
}

// chosen returns what the settings name beside the built-in table; its Open is nil
// if that is nothing. Only opening it reads its files or starts anything.
func (a *App) Chosen(cfg *config.Config) (c ChosenModel, err error) {
	switch name := cfg.Embed.Model; name {
	case ModelStatic, "":
		return c, nil
	case ModelHTTP:
		if a.Network == nil {
			return c, errors.New("this program links no network")
		}
		c.Name = HTTPEmbedder(cfg)
		c.Open = func(_ context.Context, attempts int) (embed.Embedder, io.Closer, error) {
			m, err := a.Network.Endpoint(cfg.Embed.URL, cfg.Embed.EndpointModel, a.Getenv(keyVariable), a.Redactor(cfg), attempts)
			return m, nil, err
		}
		return c, nil
	default:
		m, err := onnx.Models(cfg.Paths.Models()).Get(name)
		if err != nil {
			return c, err
		}
		c.Name = m.Embedder()
		c.Open = func(ctx context.Context, _ int) (embed.Embedder, io.Closer, error) {
			if err := m.Check(ctx); err != nil {
				return nil, nil, err
			}
			helper, err := a.helper(cfg)
			if err != nil {
				return nil, nil, err
			}
			x := onnx.New(onnx.Options{Helper: helper, Library: cfg.Embed.Library, Model: m.Path, Vocab: m.VocabPath, Name: m.Embedder()})
			return x, x, nil
		}
		return c, nil
	}
}

// HTTPEmbedder is the endpoint's name in vector rows.
func HTTPEmbedder(cfg *config.Config) string { return "http/" + cfg.Embed.EndpointModel }

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
	chosen, err := a.Chosen(cfg)
	switch {
	case err != nil:
		q.Notes = []string{cfg.Embed.Model + ": " + ErrorText(err)}
	case chosen.Open != nil:
		q.model = embed.NewQueryEmbedder(embed.QueryOptions{
			Name: chosen.Name, Redact: a.Redact, Wait: cfg.Embed.Wait, Idle: queryIdle, Now: a.Now,
			Cache: embed.VectorDir(cfg.Paths.Vectors()).QueryCache(chosen.Name),
			Open: func(ctx context.Context) (embed.Embedder, io.Closer, error) {
				return chosen.Open(ctx, 1) // a search does not wait for a second attempt
			},
		})
		q.Embedders = append(q.Embedders, q.model)
	}
	q.Embedders = append(q.Embedders, q.Table)
	return q
}

// Close ends the chosen model, if it runs.
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
	beside := filepath.Join(filepath.Dir(a.Exe), name)
	for _, path := range []string{beside, name} {
		if found, err := a.System.LookPath(path); err == nil {
			return found, nil
		}
	}
	return "", archive.NotFound("strandline-onnx is not there, which runs added models",
		"put it beside strandline (`make onnx` builds it), or set embed.helper")
}

// EmbedAll makes vectors of every passage that has none, with the built-in table
// and with what the settings name. Where the latter fails the table's vectors
// are there all the same.
func (a *App) EmbedAll(ctx context.Context, x Archive) (int, error) {
	u := embed.Maintenance{Store: x.Index, Dir: x.VectorDir(), Now: a.Now, Embedders: []embed.Embedder{embed.NewStatic()}}
	var closer io.Closer
	second, failed := a.Chosen(x.Config)
	if failed == nil && second.Open != nil {
		var e embed.Embedder
		if e, closer, failed = second.Open(ctx, 0); failed == nil {
			u.Embedders = append(u.Embedders, e)
		}
	}
	done, err := run(ctx, u)
	if closer != nil {
		err = errors.Join(err, closer.Close())
	}
	if err = errors.Join(failed, err); err != nil {
		err = fmt.Errorf("%w (searches use the built-in vectors)", err)
	}
	return done, err
}

// embedWithin is how long a pass that a hook started may embed. The built-in
// table makes vectors of some thousand passages in it.
const embedWithin = 200 * time.Millisecond

// EmbedSome makes vectors of the newest passages, with the built-in table only:
// it runs while the user works.
func (a *App) EmbedSome(ctx context.Context, x Archive) (int, error) {
	return run(ctx, embed.Maintenance{
		Store: x.Index, Dir: x.VectorDir(), Now: a.Now, Within: embedWithin,
		Embedders: []embed.Embedder{embed.NewStatic()},
	})
}

// run does a pass and counts the passages.
func run(ctx context.Context, u embed.Maintenance) (done int, err error) {
	report, err := u.Run(ctx, 0)
	for _, n := range report.Embedded {
		done += n
	}
	return done, err
}
