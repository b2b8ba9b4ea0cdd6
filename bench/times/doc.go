// Package times invents transcripts of any size and measures whole processes
// over them, the way a client starts them. Command times prints the tables.
package times
