// Package archive defines the domain of Strandline: the parts of a coding agent's
// session, their names, and the rows and facts that a store holds.
//
// It does no I/O and imports no other package of this module. It holds the values that
// packages exchange; interfaces are defined by their consumers.
package archive
