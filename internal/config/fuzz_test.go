package config_test

import (
	"testing"

	"strandline/internal/config"
)

// FuzzProjectFile checks that no project file fails the commands or changes a denied
// key.
func FuzzProjectFile(f *testing.F) {
	for _, s := range []string{"", "[restore]\nbudget = 1", "restore.budget = -1", "[hook]\ndeadline = '5s'", "a = [1, {b = 2}]",
		"[[restore]]\nbudget = 1", "x", "capture.enabled = false", "redact = { enabled = false }", "restore = 1979-05-27"} {
		f.Add(s)
	}
	plain, err := config.Load(world{}.inputs())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := config.Load(world{files: map[string]string{projectFile: text}}.inputs())
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if c.Paths != plain.Paths || c.Redact != plain.Redact || c.Hook != plain.Hook {
			t.Errorf("%q changed %+v", text, c)
		}
		if c.Restore.Budget < 0 || c.Restore.Budget > 10_000 || len(c.Entries()) != len(plain.Entries()) {
			t.Errorf("%q: %+v", text, c)
		}
	})
}

// FuzzSet checks that Set changes one key, or nothing on an error.
func FuzzSet(f *testing.F) {
	for _, s := range []string{"", "[restore]\nbudget = 1 # x", "[restore]\nbudget = '''\n1'''", "x = \"\"\"\n[restore]\nbudget = 1\n\"\"\"", "[restore]\r\nbudget=1\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := write(t, text)
		if err := config.Set(path, "restore.budget", "123"); err != nil {
			if got := read(t, path); got != text {
				t.Errorf("%q failed with %v but became %q", text, err, got)
			}
			return
		}
		c, _ := config.Load(world{files: map[string]string{userFile: read(t, path)}}.inputs())
		if c.Restore.Budget != 123 {
			t.Errorf("%q became %q, budget %d", text, read(t, path), c.Restore.Budget)
		}
	})
}
