package transcript

import "time"

// Row is what tells one line of a transcript from the others, and a copy of it
// from other lines, without its content.
type Row struct {
	Line    int
	UUID    string
	Parent  string
	Message string    // id of the API response that it is part of
	Time    time.Time // zero where the line is not dated
	Uses    []string  // ids of the tool calls that it holds
	Results []string  // ids of the calls whose results it holds
	Prompt  bool      // the user's words, with which a turn may begin
	Spoken  bool      // part of the conversation, not of what the client notes
	Cut     bool      // the context was cut here
	Blank   bool      // nothing but white space, or what stands for a forgotten line
}
