package eval

import (
	"context"
	"time"

	"strandline/internal/recall"
)

// Lexical searches by words alone. now is the clock that times a search.
func Lexical(now func() time.Time) System {
	return System{Name: "lexical", Search: func(ctx context.Context, s recall.Searcher, req recall.Request) (recall.Result, error) {
		return recall.New(s, now).ByWords().Search(ctx, req)
	}}
}

// Fused searches as the program does.
func Fused(now func() time.Time) System {
	return System{Name: "fused", Search: func(ctx context.Context, s recall.Searcher, req recall.Request) (recall.Result, error) {
		return recall.New(s, now).Search(ctx, req)
	}}
}
