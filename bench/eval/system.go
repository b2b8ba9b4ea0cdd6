package eval

import (
	"context"
	"time"

	"strandline/internal/archive"
	"strandline/internal/recall"
)

// Lexical searches by words alone. now is the clock that times a search.
func Lexical(now func() time.Time) System {
	return System{Name: "lexical", search: func(ctx context.Context, w *world, req recall.Request) (recall.Result, error) {
		return recall.New(w.store, now, nil).Search(ctx, req)
	}}
}

// Fused searches as the program does.
func Fused(now func() time.Time) System {
	return System{Name: "fused", search: func(ctx context.Context, w *world, req recall.Request) (recall.Result, error) {
		r := recall.New(w.store, now, w.table)
		r.Vectors = w.vectors()
		return r.Search(ctx, req)
	}}
}

// Ten searches with the default limit: ten hits, of which the last may be a related
// passage.
func Ten(now func() time.Time) System {
	ten := Fused(now)
	fused := ten.search
	ten.Name = "fused, -n 10"
	ten.search = func(ctx context.Context, w *world, req recall.Request) (recall.Result, error) {
		req.Limit = recall.DefaultLimit
		return fused(ctx, w, req)
	}
	return ten
}

// Vectors ranks by the cosine alone.
func Vectors() System {
	return System{Name: "vectors", search: func(ctx context.Context, w *world, req recall.Request) (recall.Result, error) {
		asked, err := w.vectors().SearchMeaning(ctx, req.Text, archive.Query{Agents: req.Agents, Dead: req.Dead}, req.Limit)
		if err != nil {
			return recall.Result{}, err
		}
		near, err := asked.Nearest(ctx, req.Limit)
		if err != nil {
			return recall.Result{}, err
		}
		var out recall.Result
		for _, n := range near {
			out.Hits = append(out.Hits, recall.Hit{
				Session: n.Session, LineFrom: n.LineFrom, LineTo: n.LineTo, Score: n.Cosine, Text: n.Text,
				Ref: archive.Ref{Session: n.Session, Turn: n.Turn, Step: n.Step},
			})
		}
		return out, nil
	}}
}
