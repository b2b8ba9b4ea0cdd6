package maintenance_test

import (
	"context"
	"errors"
	"testing"

	"strandline/internal/app/maintenance"
)

// What makes vectors is told of in its stage, also where it fails half-way.
func TestTheEmbedStageTellsWhatWasDone(t *testing.T) {
	w := newWorld(t)
	p := w.runner
	p.Embed = func(context.Context) (int, error) { return 20, errors.New("the endpoint is down") }
	stages := p.Run(t.Context(), w.store)
	for _, st := range stages {
		want := maintenance.Stage{Name: st.Name, TookMS: st.TookMS}
		if st.Name == "embed" {
			want.Done, want.Error = 20, "the endpoint is down"
		}
		if st != want {
			t.Errorf("%+v, want %+v", st, want)
		}
	}
}
