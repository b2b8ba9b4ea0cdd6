package app

import (
	"strings"
	"testing"
)

// Windows passes no line breaks to a script: the client runs the command itself.
func TestHandoffPrompt(t *testing.T) {
	h := Handoff{Context: Context{Session: "7f3a12cd-0000-4000-8000-000000000001", Text: "lead\n\nrecord"}}
	if got := h.prompt("linux"); got != h.Text {
		t.Errorf("the prompt is %q, not the record", got)
	}
	if got := h.prompt("windows"); !strings.HasSuffix(got, "strandline handoff 7f3a12cd") || strings.Contains(got, "\n") {
		t.Errorf("the prompt is %q, not the command", got)
	}
}
