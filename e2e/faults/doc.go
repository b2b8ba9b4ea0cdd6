// Package faults runs every operation of strandline under every fault and prints a
// table of the outcomes. It contains only tests.
//
//	make faults             the whole table, in half an hour
//	go test ./e2e/faults    a part of it, in seconds
//	go test ./e2e/faults -whole -v -run 'Matrix/two-at-once/forget'    a row or a cell
//
// A cell restores an archive with four sessions, applies the fault, runs the
// operation, removes the fault (damage of files stays), runs what a user would run
// next and then judges the archive, not the exit code alone: each transcript that was
// captured before is exported byte for byte, its text is found, nothing of a forgotten
// session is left, nothing panicked, and the archive verifies. The outcomes:
//
//	kept   the operation did its work
//	noted  it did not, and said so; nothing is lost
//	later  the next hook, import or maintenance run did it; nothing is lost
//	hole   bytes without any other copy were damaged; their place is reported exactly
//	       and everything around them is exported
//	LOST   anything else; the cell fails
//
// Kills, failed writes and power cuts are exact: the program is traced, and a cell
// repeats its operation for each call that changes a file (of a run of calls of one
// kind on one file, for the first and the last). A power cut keeps of each file what
// was synced, and all names. Tracing is the reason why the tests need Linux on amd64.
package faults
