// Package times invents transcripts of any size and measures whole processes
// over them, the way a client starts them. Command bench prints the tables;
// nothing here is linked into the program.
package times
