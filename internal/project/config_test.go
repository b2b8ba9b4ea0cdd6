package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseConfig(t *testing.T) {
	for _, tc := range []struct{ name, text, url, worktree string }{
		{"empty", "", "", ""},
		{"as git writes it", "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = u\n\tfetch = +r\n", "u", ""},
		{"on one line", `[remote "origin"] url = u`, "u", ""},
		{"without blanks", "[remote \"origin\"]\nurl=u", "u", ""},
		{"line ends of Windows", "[remote \"origin\"]\r\n\turl = u\r\n", "u", ""},
		{"names in capitals", "[REMOTE \"origin\"]\nURL = u\n", "u", ""},
		{"a sub-section minds capitals", "[remote \"Origin\"]\nurl = u\n", "", ""},
		{"the old form of a sub-section", "[remote.origin]\nurl = u\n", "u", ""},
		{"an escaped sub-section", "[remote \"or\\igin\"]\nurl = u\n", "u", ""},
		{"another remote", "[remote \"fork\"]\nurl = u\n", "", ""},
		{"the first of two addresses", "[remote \"origin\"]\nurl = a\nurl = b\n", "a", ""},
		{"in two places", "[remote \"origin\"]\nfetch = x\n[core]\nworktree = w\n[remote \"origin\"]\nurl = u\n", "u", "w"},
		{"the last work tree", "[core]\nworktree = a\nworktree = b\n", "", "b"},
		{"a comment after a value", "[remote \"origin\"]\nurl = u ; old\n", "u", ""},
		{"comment signs in quotes", "[remote \"origin\"]\nurl = \"a#b;c\" # d\n", "a#b;c", ""},
		{"quoted blanks", "[core]\nworktree = \" a \"\n", "", " a "},
		{"blanks inside", "[core]\nworktree = a  b\t\n", "", "a  b"},
		{"escapes", "[core]\nworktree = \"a\\\\b\\\"c\\td\"\n", "", "a\\b\"c\td"},
		{"a continued line", "[core]\nworktree = a\\\nb\n", "", "ab"},
		{"a continued line of Windows", "[core]\r\nworktree = a\\\r\nb\r\n", "", "ab"},
		{"a key without a value", "[remote \"origin\"]\nurl\n", "", ""},
		{"a byte order mark", "\ufeff[remote \"origin\"]\nurl = u\n", "u", ""},
		{"a broken section hides what follows", "[remote \"origin\nurl = u\n", "", ""},
		{"a commented section", "#[remote \"origin\"]\nurl = u\n", "", ""},
		{"cut off in a value", "[remote \"origin\"]\nurl = \"u", "u", ""},
		{"cut off in an escape", "[remote \"origin\"]\nurl = u\\", "u", ""},
		{"cut off in a section", "[remote \"origin\"", "", ""},
		{"zero bytes", "\x00\x00[core]\x00", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := gitConfig{originURL: tc.url, worktree: tc.worktree}
			if got := parseConfig(tc.text); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

// TestParseConfigAgreesWithGit compares the parser with git.
func TestParseConfigAgreesWithGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, value := range []string{
		`plain`, `a b`, `"a b "`, `a # c`, `"a # c" d`, `a\\b`, `a\tb`, `"a;b";c`, `a "b" c`, "a\\\n  b", `""`, `  x  `,
	} {
		file := filepath.Join(t.TempDir(), "config")
		text := "[core]\n\tworktree = " + value + "\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("git", "config", "--file", file, "core.worktree").Output()
		if err != nil {
			t.Fatalf("git config on %q: %v", text, err)
		}
		if got, want := parseConfig(text).worktree, strings.TrimSuffix(string(out), "\n"); got != want {
			t.Errorf("%s: got %q, git has %q", value, got, want)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, seed := range []string{
		"", "[core]\n\tbare = false\n", "[remote \"origin\"]\n\turl = git@example.com:a/b.git\n",
		"[remote \"or\\\"igin\"] url = \"a\\nb\" # c\n", "[a.b]\nc=\\\nd", "[", "[\"", "x = \\", "\ufeff;",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		conf := parseConfig(text)
		if len(conf.originURL) > len(text) || len(conf.worktree) > len(text) {
			t.Errorf("values longer than the input: %+v", conf)
		}
		// Text before a section must not change its values.
		if got := parseConfig(text + "\n\n[core]\nworktree = last\n").worktree; got != "last" && !strings.HasSuffix(text, "\\") {
			t.Errorf("got %q after %q", got, text)
		}
	})
}
