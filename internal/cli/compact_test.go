package cli

import (
	"strings"
	"testing"
)

// An answer that the client would truncate is an error.
func TestAnswerSize(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	a := &commands{env: Options{Stdout: &out}}
	if err := a.writeJSON(map[string]string{"text": strings.Repeat("x", maxAnswer)}); err == nil || out.Len() > 0 {
		t.Errorf("%v, %d bytes written", err, out.Len())
	}
	if err := a.writeJSON(map[string]string{"text": "<b>"}); err != nil || out.String() != "{\"text\":\"<b>\"}\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}
