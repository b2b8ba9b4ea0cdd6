package recall

// gate is what the best of the passages has to reach. Its values are fitted on
// one half of real sessions; see the package's evaluation.
type gate struct {
	share float64 // of the looked-up words that it holds, by weight
	rare  float64 // its score, in units of what a word that stands once is worth
}

// fitted is the gate that is used.
func fitted() gate { return gate{share: 0.5, rare: 1} }

// speaks reports whether the passages, best first, are worth being told. One of
// several names is not enough: such a passage is about something else as often
// as not.
func (g gate) speaks(list []found) bool {
	if len(list) == 0 {
		return false
	}
	best := list[0]
	return (best.held > 1 || best.held == 1 && best.names == 1) && best.share >= g.share && best.rare >= g.rare
}
