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

// Values of the setting embed.model that do not name an installed model.
const (
	modelStatic = "static"
	modelHTTP   = "http"
)

// keyVariable is the environment variable with the endpoint's key. No file stores it.
const keyVariable = "STRANDLINE_EMBED_KEY"

func (w Workspace) vectorDir() embed.VectorDir { return embed.VectorDir(w.Config.Paths.Vectors()) }

func (w Workspace) models() onnx.Models { return onnx.Models(w.Config.Paths.Models()) }

// NeedsNetwork reports whether the settings name an endpoint that this program cannot
// reach because it links no network.
func (a *App) NeedsNetwork() bool {
	cfg, _ := a.Settings() // commands report rejected settings
	return cfg.Embed.Model == modelHTTP && a.Network == nil
}

// chosenModel is the embedder that the settings add to the built-in table. Open is
// nil if they add none.
type chosenModel struct {
	Name string // in vector rows
	Open func(ctx context.Context, attempts int) (embed.Embedder, io.Closer, error)
}

// chosenModel reads the settings only. Open reads the model's files or starts its
// program.
func (a *App) chosenModel(cfg *config.Config) (c chosenModel, err error) {
	switch name := cfg.Embed.Model; name {
	case modelStatic, "":
		return c, nil
	case modelHTTP:
		if a.Network == nil {
			return c, errors.New("this program links no network")
		}
		return chosenModel{httpEmbedder(cfg), func(_ context.Context, attempts int) (embed.Embedder, io.Closer, error) {
			m, err := a.Network.Endpoint(cfg.Embed.URL, cfg.Embed.EndpointModel, a.Getenv(keyVariable), a.Redact, attempts)
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

// queryEmbedders embed queries: the chosen model, if any, and the built-in table.
type queryEmbedders struct {
	once  sync.Once
	table *embed.Static
	all   []embed.Embedder
	notes []string // why the chosen model is unavailable
	model *embed.QueryEmbedder
}

// queryIdle is how long an unused model keeps running. An ONNX helper takes some
// hundred megabytes, and 0.2 s to start.
const queryIdle = 2 * time.Minute

// queryEmbedders returns the embedders that all searches of the App share. The chosen
// model is opened at its first use.
func (a *App) queryEmbedders() *queryEmbedders {
	q := a.embedders
	q.once.Do(func() {
		cfg, _ := a.settings()
		q.table = embed.NewStatic()
		chosen, err := a.chosenModel(cfg)
		switch {
		case err != nil:
			q.notes = []string{cfg.Embed.Model + ": " + ErrorText(err)}
		case chosen.Open != nil:
			q.model = embed.NewQueryEmbedder(embed.QueryOptions{
				Name: chosen.Name, Redact: a.Redact, Wait: cfg.Embed.Wait, Idle: queryIdle, Now: a.Now,
				Cache: embed.VectorDir(cfg.Paths.Vectors()).QueryCache(chosen.Name),
				Open: func(ctx context.Context) (embed.Embedder, io.Closer, error) {
					return chosen.Open(ctx, 1) // a search does not wait for a second attempt
				},
			})
			q.all = append(q.all, q.model)
		}
		q.all = append(q.all, q.table)
	})
	return q
}

// searcher finds the passages of an index by meaning.
func (q *queryEmbedders) searcher(x Archive) *embed.Searcher {
	return &embed.Searcher{Store: x.Index, Dir: x.vectorDir(), Embedders: q.all, Notes: q.notes}
}

// Close stops the embedding model, if a search started it.
func (a *App) Close() error {
	a.embedders.once.Do(func() {}) // no search starts it afterwards
	if a.embedders.model == nil {
		return nil
	}
	return a.embedders.model.Close()
}

// helper finds the program that runs installed models.
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
	return "", archive.NotFound("strandline-onnx, which runs installed models, is missing",
		"put it next to strandline (`make onnx` builds it), or set embed.helper")
}

// embedAll makes the missing vectors of all passages, with the built-in table and with
// the chosen model. If the model fails, the table's vectors are stored all the same.
func (a *App) embedAll(ctx context.Context, x Archive) (int, error) {
	m := a.embedding(x, 0)
	var closer io.Closer
	chosen, failed := a.chosenModel(x.Config)
	if failed == nil && chosen.Open != nil {
		var e embed.Embedder
		if e, closer, failed = chosen.Open(ctx, 0); failed == nil {
			m.Embedders = append(m.Embedders, e)
		}
	}
	done, err := countEmbedded(m.Run(ctx, 0))
	if closer != nil {
		err = errors.Join(err, closer.Close())
	}
	if err = errors.Join(failed, err); err != nil {
		err = fmt.Errorf("%w (searches use the built-in vectors)", err)
	}
	return done, err
}

// embedWithin is the time limit of embedding in background maintenance: enough for
// thousands of passages with the built-in table.
const embedWithin = 200 * time.Millisecond

// embedNewest makes vectors of the newest passages, with the built-in table only,
// since it runs while the user works.
func (a *App) embedNewest(ctx context.Context, x Archive) (int, error) {
	return countEmbedded(a.embedding(x, embedWithin).Run(ctx, 0))
}

func (a *App) embedding(x Archive, within time.Duration) embed.Maintenance {
	return embed.Maintenance{Store: x.Index, Dir: x.vectorDir(), Now: a.Now, Within: within, Embedders: []embed.Embedder{embed.NewStatic()}}
}

// countEmbedded returns the number of embedded passages.
func countEmbedded(r embed.MaintenanceReport, err error) (done int, _ error) {
	for _, n := range r.Embedded {
		done += n
	}
	return done, err
}
