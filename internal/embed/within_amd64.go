package embed

import "golang.org/x/sys/cpu"

// canCount reports that the processor has what within uses.
func canCount() bool { return cpu.X86.HasPOPCNT }

// within returns the first of rows at words, sixteen bytes each, that lies within
// the limit, and its distance; rows if there is none. q holds the two words of the
// query's signs, then of each plane, the lowest first.
//
//go:noescape
func within(words *byte, rows int, q *[8]uint64, limit int) (row, distance int)
