package app_test

import (
	"context"
	"errors"
	"testing"

	"strandline/internal/app"
)

// The embed stage reports its progress and its error.
func TestEmbedStage(t *testing.T) {
	w := newWorld(t)
	p := w.runner
	p.Embed = func(context.Context) (int, error) { return 20, errors.New("the endpoint is down") }
	stages := p.Run(t.Context(), w.index())
	for _, st := range stages {
		want := app.Stage{Name: st.Name, TookMS: st.TookMS}
		if st.Name == "embed" {
			want.Done, want.Error = 20, "the endpoint is down"
		}
		if st != want {
			t.Errorf("%+v, want %+v", st, want)
		}
	}
}
