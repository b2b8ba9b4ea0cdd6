package archive_test

import (
	"testing"

	"strandline/internal/archive"
)

func TestCommandKey(t *testing.T) {
	for in, want := range map[string]string{
		"go test ./... 2>&1 | tail -5":         "go test ./...",
		"cd /home/ada/shop && go   test ./...": "go test ./...",
		"cd a && cd b && make":                 "make",
		"git log > /tmp/log":                   "git log",
		"cd /only":                             "cd /only",
		"python - <<'EOF'\nprint(1)\nEOF":      "python - <<'EOF'",
		"":                                     "",
	} {
		if got := archive.CommandKey(in); got != want {
			t.Errorf("CommandKey(%q) = %q, want %q", in, got, want)
		}
	}
}
