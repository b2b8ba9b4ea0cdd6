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

func TestSubject(t *testing.T) {
	command := func(c string) archive.Call { return archive.Call{Kind: archive.CallCommand, Command: c} }
	for _, c := range []struct {
		call archive.Call
		want string
	}{
		{archive.Call{Kind: archive.CallEdit, Files: []string{"/w/a.go", "/w/b.go"}}, "edit /w/a.go"},
		{archive.Call{Kind: archive.CallRead}, ""},
		{command("cd /w && go test ./pay 2>&1 | tail -5"), "go test ./pay"},
		{command("git rebase --continue"), "git rebase"},
		{command("sudo git pull origin main"), "git pull"},
		{command("git --version"), "git --version"},
		{command("digit x"), "digit x"},
		{command(""), ""},
	} {
		if got := archive.Subject(c.call); got != c.want {
			t.Errorf("Subject(%+v) = %q, want %q", c.call, got, c.want)
		}
	}
}

func TestIsCheck(t *testing.T) {
	for _, cmd := range []string{
		"go test ./...", "make", "npm run build", "npx tsc --noEmit", "CI=1 yarn test:unit", "cd /w && cargo clippy", "mise run test:ci:cli", "PYTEST -q",
		"git add . && go vet ./...", "ruff check .", "./gradlew test",
	} {
		if !archive.IsCheck(cmd) {
			t.Errorf("%q tests or builds", cmd)
		}
	}
	for _, cmd := range []string{
		"", "ls build", "git commit -m 'run the tests'", "grep -rn test .", "cat Makefile", "test -f x", "echo \"make test\"", "X=test", "curl https://ci.example.com/build",
		"node server.js one two three four test", "latest contest", "npm ci", "git log", "vim contest.go",
	} {
		if archive.IsCheck(cmd) {
			t.Errorf("%q neither tests nor builds", cmd)
		}
	}
}
