package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"time"

	"strandline/internal/archive"
	"strandline/internal/embed"
	"strandline/internal/embed/onnx"
	"strandline/internal/embed/static"
	"strandline/internal/model"
	"strandline/internal/vector"
)

// The names of embed.model that are no added model's.
const (
	modelStatic = "static"
	modelHTTP   = "http"
)

// keyVariable holds the endpoint's key; it stands in no file of ours.
const keyVariable = "STRANDLINE_EMBED_KEY"

// vectorDir is the folder of the files that are derived from vectors.
func (r rooms) vectorDir() vector.Dir { return vector.Dir(r.file("vectors")) }

func (r rooms) models() model.Dir { return model.Dir(r.file("models")) }

// needsNetwork reports that the settings ask for an endpoint and that this program
// links no network.
func (a *app) needsNetwork() bool {
	cfg, _ := a.settings() // what is wrong with them is told where they are used
	return cfg.Embed.Model == modelHTTP && a.env.Endpoint == nil
}

// chosen returns the embedder that the settings name beside the built-in table,
// nil if that is none, and what closes it.
func (a *app) chosen(ctx context.Context, r rooms) (embed.Embedder, io.Closer, error) {
	switch name := r.cfg.Embed.Model; name {
	case modelStatic, "":
		return nil, nil, nil
	case modelHTTP:
		if a.env.Endpoint == nil {
			return nil, nil, errors.New("this program links no network")
		}
		e, err := a.env.Endpoint(r.cfg.Embed.URL, r.cfg.Embed.EndpointModel, a.env.Getenv(keyVariable), a.env.Redact(r.cfg))
		return e, nil, err
	default:
		m, err := r.models().Get(name)
		if err != nil {
			return nil, nil, err
		}
		if err := m.Verify(ctx); err != nil {
			return nil, nil, err
		}
		helper, err := a.helper(r)
		if err != nil {
			return nil, nil, err
		}
		e := onnx.New(onnx.Options{Helper: helper, Library: r.cfg.Embed.Library, Model: m.Path, Vocab: m.VocabPath, Name: m.Embedder()})
		return e, e, nil
	}
}

// helper finds the program that runs added models.
func (a *app) helper(r rooms) (string, error) {
	if r.cfg.Embed.Helper != "" {
		return r.cfg.Embed.Helper, nil
	}
	name := "strandline-onnx"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	beside := filepath.Join(filepath.Dir(a.env.Exe), name)
	for _, path := range []string{beside, name} {
		if found, err := a.env.LookPath(path); err == nil {
			return found, nil
		}
	}
	return "", archive.NotFound("strandline-onnx is not there, which runs added models",
		"put it beside strandline (`make onnx` builds it), or set embed.helper")
}

// embedAll makes vectors of every passage that has none, with the built-in table
// and with what the settings name. Where the latter fails the table's vectors
// are there all the same.
func (a *app) embedAll(ctx context.Context, x indexed) (int, error) {
	u := vector.Upkeep{Store: x.store, Dir: x.vectorDir(), Now: a.env.Now, Embedders: []embed.Embedder{static.New()}}
	second, closer, failed := a.chosen(ctx, x.rooms)
	if second != nil {
		u.Embedders = append(u.Embedders, second)
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

// embedSome makes vectors of the newest passages, with the built-in table only:
// it runs while the user works.
func (a *app) embedSome(ctx context.Context, x indexed) (int, error) {
	return run(ctx, vector.Upkeep{
		Store: x.store, Dir: x.vectorDir(), Now: a.env.Now, Within: embedWithin,
		Embedders: []embed.Embedder{static.New()},
	})
}

// run does a pass and counts the passages.
func run(ctx context.Context, u vector.Upkeep) (done int, err error) {
	report, err := u.Run(ctx, 0)
	for _, n := range report.Embedded {
		done += n
	}
	return done, err
}
