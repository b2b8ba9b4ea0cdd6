// Package foresight measures how much of a session's later needs a text contains:
// the weighted share of specifics (paths, identifiers, flags, versions, hashes)
// known before a position and used after it that the text conveys. It shares no
// code with package compact.
//
// A specific weighs ln(1 + messages / messages that knew it). A line conveys its
// specifics if it holds three ordinary words, or at most two specifics, of which
// kind a text has no more than 60 lines: a bare list earns nothing.
//
// Positions are the client's compactions and, in sessions without one, four places
// between beginning and end. Weights are fitted on the second kind only, so the
// first kind is a held-out set.
package foresight
