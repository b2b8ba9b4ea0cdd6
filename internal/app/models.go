package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"strandline/internal/archive"
	"strandline/internal/config"
	"strandline/internal/embed"
	"strandline/internal/embed/onnx"
)

// Model is an embedder in the list of models.
type Model struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Used     bool   `json:"used"`
	Embedder string `json:"embedder"`
	Dim      int    `json:"dimensions,omitempty"`
	Passages int64  `json:"passages"`
	Bytes    int64  `json:"bytes,omitempty"`
	SHA256   string `json:"sha256,omitempty"`
	Source   string `json:"source,omitempty"`
}

// Models lists the embedders and how many passages have their vectors.
func (a *App) Models(ctx context.Context) ([]Model, error) {
	w, err := a.Workspace()
	if err != nil {
		return nil, err
	}
	list := []Model{{Name: modelStatic, Kind: "built in", Used: true, Embedder: embed.StaticName, Dim: embed.StaticDim}}
	if e := w.Config.Embed; e.URL != "" {
		list = append(list, Model{Name: modelHTTP, Kind: "endpoint", Used: e.Model == modelHTTP, Embedder: httpEmbedder(w.Config), Source: e.URL})
	}
	added, err := w.models().List()
	if err != nil {
		return nil, err
	}
	for _, m := range added {
		list = append(list, Model{
			Name: m.Name, Kind: "onnx", Used: w.Config.Embed.Model == m.Name, Embedder: m.Embedder(),
			Bytes: m.Model.Bytes, SHA256: m.Model.SHA256, Source: m.Model.Source,
		})
	}
	return list, a.ifIndexed(ctx, w, func(x Archive) error {
		sets, err := x.Index.VectorSets(ctx)
		for _, set := range sets {
			for i := range list {
				if list[i].Embedder == set.Embedder {
					list[i].Passages, list[i].Dim = set.Rows, set.Dim
				}
			}
		}
		return err
	})
}

// withModels calls do while no other process changes the models.
func (a *App) withModels(do func(w Workspace) error) error {
	return a.locked("model", "change of the models", do)
}

// AddModel copies or downloads a model. The vocabulary is by default beside the
// model, the name that of its file. It returns ErrNotLinked if it needs a network
// that is not linked.
func (a *App) AddModel(ctx context.Context, req onnx.AddRequest) (m onnx.Model, err error) {
	if req.Vocab == "" {
		req.Vocab = vocabBeside(req.Model)
	}
	if req.Name == "" {
		base := filepath.Base(strings.SplitN(req.Model, "?", 2)[0])
		req.Name = strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base)))
	}
	if onnx.IsURL(req.Model) || onnx.IsURL(req.Vocab) {
		if a.Network == nil {
			return m, ErrNotLinked
		}
		req.Fetch = a.Network.Fetcher()
	}
	req.Now = a.Now
	err = a.withModels(func(w Workspace) error {
		m, err = w.models().Add(ctx, req)
		return err
	})
	return m, err
}

// vocabBeside returns the file or address of the vocab.txt beside a model.
func vocabBeside(model string) string {
	if !onnx.IsURL(model) {
		return filepath.Join(filepath.Dir(model), "vocab.txt")
	}
	u, err := url.Parse(model)
	if err != nil {
		return "" // adding the model reports the address
	}
	return u.ResolveReference(&url.URL{Path: "vocab.txt", RawQuery: u.RawQuery}).String()
}

// UseModel sets the embedder beside the built-in one, after a check of its files. It
// returns the path of the settings file.
func (a *App) UseModel(ctx context.Context, name string) (string, error) {
	w, err := a.Workspace()
	if err != nil {
		return "", err
	}
	switch name {
	case modelStatic:
	case modelHTTP:
		if w.Config.Embed.URL == "" {
			return "", archive.Invalid("no endpoint is set", "strandline config set embed.url http://127.0.0.1:11434/api/embed")
		}
	default:
		m, err := w.models().Get(name)
		if err == nil {
			err = m.Verify(ctx)
		}
		if err != nil {
			return "", err
		}
	}
	return w.Config.ConfigFile, config.Set(w.Config.ConfigFile, "embed.model", name)
}

// RemoveModel deletes a model's files and its vectors.
func (a *App) RemoveModel(ctx context.Context, name string) error {
	return a.withModels(func(w Workspace) error {
		if name == modelStatic || name == modelHTTP {
			return archive.Invalid(name+" is not an added model: there is nothing to remove", "`strandline model use` chooses another one")
		}
		m, err := w.models().Get(name)
		if err != nil && archive.ErrorCode(err) != archive.CodeCorrupt {
			return err
		}
		if w.Config.Embed.Model == name {
			return archive.Invalid(name+" is in use", "choose another one first: strandline model use static")
		}
		if err := w.models().Remove(name); err != nil || m.Name == "" || !exists(w.Config.Paths.Index()) {
			return err
		}
		return a.withIndex(ctx, w, ReadWrite, func(x Archive) error {
			if err := x.Index.DropVectors(ctx, m.Embedder()); err != nil {
				return err
			}
			_, err := x.vectorDir().Update(ctx, x.Index) // removes its file
			return err
		})
	})
}

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
