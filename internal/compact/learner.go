package compact

import (
	"strandline/internal/archive"
	"strandline/internal/config"
)

// Learner supplies the learned weights of token shapes. Its zero value supplies
// none.
type Learner struct {
	How config.Learn
	// Taught returns the tallies that earlier compactions taught, by shape.
	Taught func() map[string]archive.Tally
}

// Weights returns the score multiplier of each token shape for Request.Weights;
// nil if learning is off.
func (l Learner) Weights() map[string]float64 {
	if l.How != config.LearnNames {
		return nil
	}
	return Taught(l.Taught()).Weights()
}
