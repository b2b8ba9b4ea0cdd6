// Package rows is what every store makes of the domain before it becomes rows,
// and of rows before they become answers: the numbers of passages and what a
// number tells, which sessions a prefix means, which project a key stands for,
// the passages that a summary becomes, where a query looks and which of the
// passages that hold its words are its hits. A store only reads and writes; what
// is decided here is the same whatever database lies below.
package index
