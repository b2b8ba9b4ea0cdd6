// Package story turns a told coding session into transcripts as the client
// writes them. The bundled demo session is told in *.story files, so that it can
// be read and reviewed as prose; a test of package demo renders them and keeps
// the embedded transcripts current.
//
// A story is a list of sections. Each begins with "@@ kind argument" and holds
// the lines up to the next one:
//
//	@@ prompt                what the person types
//	@@ think                 reasoning
//	@@ say                   the assistant's text
//	@@ bash COMMAND          its output; "exit N" in the first line if it failed
//	@@ read PATH             the file's content
//	@@ write PATH            the new content
//	@@ edit PATH             old text, a line "=====", new text
//	@@ grep PATTERN          the matches
//	@@ todo                  lines "[ ] …", "[>] …", "[x] …"
//	@@ agent TYPE TITLE      the task; the sections up to "@@ report" are the run
//	@@ report                what the sub-agent reports
//	@@ compact TRIGGER PRE POST   the client's summary
//	@@ done                  the end of a turn
//
// Text before a tool call belongs to the same response. A call whose kind has a
// plus sign in front ("@@ +read PATH") is made in parallel with the one before.
package story
