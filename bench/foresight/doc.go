// Package foresight measures how much of what a session needed after a cut is in
// a block of text: the share of the specifics (paths, identifiers, flags,
// versions, hashes) that were known before the cut and used behind it which the
// block conveys. It shares no code with what makes such blocks.
//
// A specific weighs ln(1 + messages / messages that knew it). A line conveys its
// specifics if it holds three ordinary words, or at most two specifics, of which
// kind a block has no more than 60 lines: a bare list earns nothing.
//
// Sessions are cut where the client compacted them, and, for sessions that it
// never compacted, at four places between their beginning and end. What is
// fitted is fitted on the second kind, so that the first says how well it holds.
package foresight
