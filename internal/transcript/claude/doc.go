// Package claude reads the transcripts that Claude Code writes: JSON lines, one
// row each, appended while a session runs.
//
// It works in two layers. The row layer walks the tokens of a line once and
// keeps what matters, whatever shape the line has. The fold turns rows into the
// turns, steps, calls and passages of package archive; its memory travels in
// the cursor, so that reading in pieces gives the same rows as reading the
// whole.
package claude
