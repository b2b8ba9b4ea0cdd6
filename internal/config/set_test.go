package config_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/config"
)

func TestSet(t *testing.T) {
	tests := []struct{ name, before, key, value, after string }{
		{"new file", "", "restore.budget", "100", "[restore]\nbudget = 100\n"},
		{"new section", "# mine\n[search]\nlimit = 5\n", "restore.on_clear", "off", "# mine\n[search]\nlimit = 5\n\n[restore]\non_clear = \"off\"\n"},
		{"new key", "[restore] # here\nbudget = 1\n\n[search]\nlimit = 5\n", "restore.on_clear", "off",
			"[restore] # here\nbudget = 1\non_clear = \"off\"\n\n[search]\nlimit = 5\n"},
		{"changed, with its comment", "[restore]\n# why\n  budget = 1   # small\non_clear = 'off'\n", "restore.budget", "200",
			"[restore]\n# why\n  budget = 200   # small\non_clear = 'off'\n"},
		{"a comment with #", "[restore]\non_clear = \"off\" # a # b\n", "restore.on_clear", "block", "[restore]\non_clear = \"block\" # a # b\n"},
		{"the same name in another section", "[a]\nlimit = 1\n[search]\nlimit = 2\n", "search.limit", "3", "[a]\nlimit = 1\n[search]\nlimit = 3\n"},
		{"another spelling of a number", "", "search.limit", "+007", "[search]\nlimit = 7\n"},
		{"a duration", "", "hook.deadline", "1500ms", "[hook]\ndeadline = \"1.5s\"\n"},
		{"a switch", "", "capture.enabled", "off", "[capture]\nenabled = false\n"},
		{"no newline at the end", "[search]\nlimit = 2", "search.limit", "3", "[search]\nlimit = 3"},
		{"windows lines", "[search]\r\nlimit = 2\r\n", "search.limit", "3", "[search]\r\nlimit = 3\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "new", "config.toml")
			if tt.before != "" {
				path = write(t, tt.before)
			}
			if err := config.Set(path, tt.key, tt.value); err != nil {
				t.Fatal(err)
			}
			if got := read(t, path); got != tt.after {
				t.Errorf("got %q, want %q", got, tt.after)
			}
			if err := config.Set(path, tt.key, tt.value); err != nil || read(t, path) != tt.after {
				t.Errorf("the second call gives %q, %v", read(t, path), err)
			}
			if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
		})
	}
}

func TestSetRefuses(t *testing.T) {
	tests := []struct {
		name, before, key, value string
		code                     archive.Code
	}{
		{"an unknown key", "", "restore.bugdet", "1", archive.CodeNotFound},
		{"a bad value", "", "restore.budget", "lots", archive.CodeInvalid},
		{"a broken file", "[restore\n", "restore.budget", "1", archive.CodeInvalid},
		{"an inline table", "restore = { budget = 1 }\n", "restore.budget", "2", archive.CodeInvalid},
		{"dotted keys", "restore.budget = 1\n", "restore.budget", "2", archive.CodeInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := write(t, tt.before)
			if err := config.Set(path, tt.key, tt.value); archive.ErrorCode(err) != tt.code {
				t.Errorf("error %v", err)
			}
			if got := read(t, path); got != tt.before {
				t.Errorf("the file became %q", got)
			}
		})
	}
}

func TestSetKeepsASymbolicLink(t *testing.T) {
	target := write(t, "[search]\nlimit = 2\n")
	link := filepath.Join(t.TempDir(), "config.toml")
	if err := os.Symlink(target, link); err != nil {
		t.Skip("symbolic links are not available:", err)
	}
	if err := config.Set(link, "search.limit", "3"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 || read(t, target) != "[search]\nlimit = 3\n" {
		t.Errorf("%v, %v, %q", info, err, read(t, target))
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
