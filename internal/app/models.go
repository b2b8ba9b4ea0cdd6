package app

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"

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
	w, err := a.Workspace()
	if err != nil {
		return err
	}
	lock, err := w.Lock("model", "change of the models")
	if err != nil {
		return err
	}
	defer lock.Release() // also released when the process ends
	return do(w)
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
