package compact

import (
	"math"
	"time"
)

// Use is what the base importance of a piece of memory is computed from.
type Use struct {
	Age      time.Duration // since it was last touched; below zero counts as zero
	Accesses int           // how often it was given to the model; below zero counts as zero
	Tools    bool          // tools were called in it
	Files    bool          // files were touched in it
}

// What the base importance weighs with.
const (
	importanceDecay = 0.693 // ln 2, as the systems before wrote it: half in one half-life
	importanceHalf  = 7 * 24 * time.Hour
	importanceTools = 0.5
	importanceFiles = 0.3
)

// Importance is the base formula of the systems that came before this one:
// recency times frequency times richness,
//
//	exp(-0.693*age_days/7) * (log2(accesses+1)+1) * (1 + 0.5 if tools + 0.3 if files)
//
// so a place that was touched just now, never given back and holds only words
// has importance 1, and half of it a week later. It orders what lasts for days:
// what the life cycle keeps near. The selection of a restored block does not use
// it, because within a session the ages that matter are minutes, for which the
// formula is flat; docs/compaction.md has the figures.
func Importance(u Use) float64 {
	age := max(u.Age, 0)
	recency := math.Exp(-importanceDecay * age.Hours() / importanceHalf.Hours())
	frequency := math.Log2(float64(max(u.Accesses, 0))+1) + 1
	richness := 1.0
	if u.Tools {
		richness += importanceTools
	}
	if u.Files {
		richness += importanceFiles
	}
	return recency * frequency * richness
}
