package install

import (
	"os/exec"
	"slices"
	"testing"
)

func TestFindCall(t *testing.T) {
	for _, tc := range []struct {
		goos, command string
		args          []string
		path          string // empty: not ours
	}{
		{"linux", "/opt/strandline/bin/strandline hook", nil, exe},
		{"linux", "strandline hook", nil, "strandline"},
		{"linux", "  /x/strandline   hook  --verbose", nil, "/x/strandline"},
		{"linux", "'/my tools/strandline' hook", nil, "/my tools/strandline"},
		{"linux", `"/my tools/strandline" hook`, nil, "/my tools/strandline"},
		{"linux", `/my\ tools/strandline hook`, nil, "/my tools/strandline"},
		{"linux", `\strandline hook`, nil, "strandline"},
		{"linux", "A=1 B='x y' exec /x/strandline hook || true", nil, "/x/strandline"},
		{"linux", "/x/strandline hook;true", nil, "/x/strandline"},
		{"linux", "/x/strandline hook 2>/dev/null", nil, "/x/strandline"},
		{"linux", "/x/strandline", []string{"hook"}, "/x/strandline"},
		{"linux", "/x y/strandline", []string{"hook", "-v"}, "/x y/strandline"},
		{"windows", `C:\Tools\strandline.exe hook`, nil, `C:\Tools\strandline.exe`},
		{"windows", `"C:\My Tools\Strandline.EXE" hook`, nil, `C:\My Tools\Strandline.EXE`},
		{"windows", "C:/Tools/strandline.exe hook", nil, "C:/Tools/strandline.exe"},
		{"windows", `C:\Tools\strandline.exe`, []string{"hook"}, `C:\Tools\strandline.exe`},

		{"linux", "", nil, ""},
		{"linux", "strandline", nil, ""},
		{"linux", "strandline status", nil, ""},
		{"linux", "strandline; hook", nil, ""},
		{"linux", "echo strandline hook", nil, ""},
		{"linux", "cd /x && strandline hook", nil, ""},
		{"linux", "/x/strandline-notify hook", nil, ""},
		{"linux", "/x/strandline/other hook", nil, ""},
		{"linux", "/x/strandline", []string{}, ""},
		{"linux", "/x/strandline", []string{"status"}, ""},
		{"linux", "/x/strandline hook", []string{"hook"}, ""},
		{"linux", "; strandline hook", nil, ""},
	} {
		c, ok := findCall(tc.command, tc.args, "hook", exe, tc.goos)
		if ok != (tc.path != "") {
			t.Errorf("%q %q: ours is %v", tc.command, tc.args, ok)
			continue
		}
		if ok && c.path != tc.path {
			t.Errorf("%q: path is %q, want %q", tc.command, c.path, tc.path)
		}
	}
}

func TestFindCallByPath(t *testing.T) {
	if _, ok := findCall("/x/sl hook", nil, "hook", "/x/sl", "linux"); !ok {
		t.Error("the installed binary is not recognised")
	}
}

func TestQuote(t *testing.T) {
	for _, tc := range []struct{ goos, path, want string }{
		{"linux", "/usr/bin/strandline", "/usr/bin/strandline"},
		{"linux", "/my tools/strandline", "'/my tools/strandline'"},
		{"linux", "/ann's/strandline", `'/ann'\''s/strandline'`},
		{"linux", "/a$b/`c`/strandline", "'/a$b/`c`/strandline'"},
		{"linux", "/größe/strandline", "/größe/strandline"},
		{"windows", `C:\Tools\strandline.exe`, "C:/Tools/strandline.exe"},
		{"windows", `C:\My Tools\strandline.exe`, `"C:/My Tools/strandline.exe"`},
	} {
		got := Quote(tc.path, tc.goos)
		if got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.path, got, tc.want)
		}
		if c, ok := findCall(got+" hook", nil, "hook", tc.path, tc.goos); !ok || !samePath(c.path, tc.path, tc.goos) {
			t.Errorf("%s is not found again: %q", got, c.path)
		}
	}
}

// TestQuoteInAShell parses quoted text with a shell.
func TestQuoteInAShell(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh here")
	}
	for _, path := range []string{"/plain", "/a b", "/a'b", `/a"b`, "/a$HOME", "/a`b`", `/a\b`, "/a;b", "/a*", "/~x", "/größe", "/a\nb"} {
		out, err := exec.Command("sh", "-c", "printf %s "+Quote(path, "linux")).Output()
		if err != nil || string(out) != path {
			t.Errorf("%q: the shell reads %q, %v", path, out, err)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, seed := range []string{"a b", `a\ b`, `'a b' "c d"`, `"`, `\`, "a;b|c", "a=b c", "&\\", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, command string) {
		for _, literal := range []bool{false, true} {
			end := 0
			for _, w := range words(command, literal) {
				if w.start < end || w.end <= w.start || w.end > len(command) {
					t.Fatalf("%q: word %+v after %d", command, w, end)
				}
				end = w.end
			}
		}
		findCall(command, nil, "hook", exe, "linux")
		quoted := words(Quote(command, "linux"), false)
		texts := make([]string, 0, len(quoted))
		for _, w := range quoted {
			texts = append(texts, w.text)
		}
		if command != "" && !slices.Equal(texts, []string{command}) {
			t.Errorf("%q is quoted as %q", command, texts)
		}
	})
}
