// Package gauge keeps the few figures that the statusline reads: small JSON files
// under the archive's state folder, so that a line is printed within milliseconds
// and without opening the index.
//
//	state/<session>.json      Session: how full a session's context window is
//	state/memory/health.json  Health: how much of what should be remembered is
//
// Hooks and the statusline write the first, hooks and maintain the second. Both
// are derived: a file that is missing, torn or of a later version counts as not
// there, and the next event writes it anew. A file is replaced in one step and
// is readable for its owner only. Who changes a file does so under one lock,
// since two clients may be at one session; who reads it takes none.
package usage
