package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/config"
	"strandline/internal/install"
)

// modelWait is how long doctor waits for a chosen model: a large one is read from
// the disk first.
const modelWait = 20 * time.Second

// checkModel has the model that the settings choose embed a word, as a search
// would: its files are right, its helper is there and runs, and the helper finds
// its runtime.
func (a *commands) checkModel(ctx context.Context, cfg *config.Config) []install.Finding {
	name := cfg.Embed.Model
	if name == app.ModelHTTP && a.app.Network == nil {
		return nil // the companion asks it, and a search says what it did without
	}
	chosen, err := a.app.Chosen(cfg)
	if err == nil && chosen.Open == nil {
		return nil
	}
	dim := 0
	if err == nil {
		dim, err = tryModel(ctx, chosen)
	}
	if err != nil {
		return []install.Finding{{Level: install.LevelWarn, Topic: "model",
			Msg:  fmt.Sprintf("embed.model = %s does not work, searches use the built-in vectors: %s", name, oneLine(app.ErrorText(err))),
			Hint: cmp.Or(archive.ErrorHint(err), "`strandline model use static` does without; embed.helper and embed.library say where a model's programs are")}}
	}
	return []install.Finding{{Level: install.LevelOK, Topic: "model", Msg: fmt.Sprintf("%s answers with vectors of %d components", name, dim)}}
}

// tryModel returns how long a model's vectors are.
func tryModel(ctx context.Context, m app.ChosenModel) (dim int, err error) {
	ctx, cancel := context.WithTimeout(ctx, modelWait)
	defer cancel()
	e, closer, err := m.Open(ctx, 1)
	if err != nil {
		return 0, err
	}
	if closer != nil {
		defer func() { err = errors.Join(err, closer.Close()) }()
	}
	vs, err := e.Embed(ctx, []string{"strandline"})
	if err != nil {
		return 0, err
	}
	return len(vs[0]), nil
}
