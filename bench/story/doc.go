// Package story generates transcripts in the client's format from *.story files,
// which people can read and review. A test of package demo generates the bundled
// sessions with it.
//
// A story is a list of sections. Each begins with "@@ kind argument" and contains
// the lines up to the next one:
//
//	@@ prompt                the user's prompt
//	@@ think                 reasoning
//	@@ say                   the assistant's text
//	@@ bash COMMAND          its output; "exit N" in the first line if it failed
//	@@ read PATH             the file's content
//	@@ write PATH            the new content
//	@@ edit PATH             old text, a line "=====", new text
//	@@ grep PATTERN          the matches
//	@@ todo                  lines "[ ] …", "[>] …", "[x] …"
//	@@ agent TYPE TITLE      the task; the sections up to "@@ report" are the run
//	@@ report                the sub-agent's final message
//	@@ compact TRIGGER PRE POST   the client's summary
//	@@ done                  the end of a turn
//
// Text before a tool call belongs to the same response. A plus sign before the kind
// ("@@ +read PATH") makes a call parallel to the previous one.
package story
