// Package eval measures how well recall finds things: sets of questions whose
// answers are known, each over an archive that is made the way an import makes
// it and asked the way the search command asks. It prints tables; nothing in
// it is linked into the program.
//
// The bundled set is small and invented, so that it runs anywhere and its
// rankings can be read as a diff. The large sets are read from a folder:
// commits of real projects and the sessions that made them, LoCoMo's
// conversations, CoSQA's questions about functions. Their content is not part
// of this repository.
package eval
