// Package archive is the domain of Strandline: what a coding agent's session
// consists of, how its parts are named, and what a store has to hold.
//
// It does no input or output and imports nothing else of this module, so every
// other package can speak in its terms. Interfaces stand at their consumers;
// only the values that travel between packages live here.
package archive
