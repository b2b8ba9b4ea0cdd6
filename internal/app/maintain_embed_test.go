package app_test

import (
	"context"
	"errors"
	"testing"
)

// The embed stage reports its progress and its error.
func TestEmbedStage(t *testing.T) {
	w := newWorld(t)
	p := w.runner
	p.Embed = func(context.Context) (int, error) { return 20, errors.New("the endpoint is down") }
	stages := p.Run(t.Context(), w.index())
	for _, st := range stages {
		done, failure := 0, ""
		if st.Name == "embed" {
			done, failure = 20, "the endpoint is down"
		}
		if st.Done != done || st.Error != failure || st.Before != 0 || st.After != 0 {
			t.Errorf("%+v, want %d done and the error %q", st, done, failure)
		}
	}
}
