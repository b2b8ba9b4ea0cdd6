// Package synth writes transcripts that no client wrote: rows shaped as Claude
// Code writes them, with ids, times and texts that the caller decides. The
// bundled demo session and the transcripts of the benchmarks come from it.
//
// The same calls with the same Options give the same bytes.
package synth
