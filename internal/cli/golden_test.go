package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"strandline/internal/text"
)

var update = flag.Bool("update", false, "write what is printed now into testdata/golden")

// What people see, on a terminal of 80 columns at a fixed time. A change of it
// is a diff to read: go test ./internal/cli -run Golden -update.
func TestGolden(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths and permissions are written otherwise on Windows")
	}
	settled := func(t *testing.T) *world {
		w := newWorld(t)
		w.sessions()
		w.must("import")
		w.must("init")
		w.rest() // the logs were written at noon as well
		return w
	}
	w := settled(t)
	tests := map[string][][]string{
		"help":     {{"--help"}, {"help", "all"}, {"search", "--help"}, {"config", "set", "--help"}, {"hook", "--help"}},
		"sessions": {{"sessions"}, {"sessions", "--agents"}, {"sessions", "--json", "-n", "1"}, {"sessions", "--since", "2h"}},
		"status":   {{"status"}, {"status", "--json"}},
		"stats":    {{"stats"}, {"stats", "7f3a12cd"}},
		"projects": {{"projects"}, {"projects", "--json"}},
		"show":     {{"show", "7f3a12cd"}, {"show", "7f3a12cd/1"}, {"show", "--full", "7f3a12cd/1"}, {"show", "7f3a12cd/1.0"}, {"show", "9b1c44ee~a2c37f95/0.0"}, {"show", "--json", "7f3a12cd/0.0"}, {"show", "7f3a12cd/9"}},
		"search":   {{"search", "--all", "gateway"}, {"search", "--all", "--json", "TestRetry3"}, {"search", "--all", "nothinglikethis"}, {"search", "maxBackoff1"}, {"search", "--all", "window"}},
		"doctor":   {{"doctor"}},
		"timeline": {
			{"timeline", "7f3a12cd"}, {"timeline", "--json", "9b1c44ee"}, {"files", "--session", "7f3a12cd"}, {"files", "--all", "pay/retry.go", "-n", "3"},
			{"files", "--all", "--reads", "--json", "pay/retry.go", "-n", "1"}, {"files", "--all", "nothing.go"}, {"files", "--all", "pay/"}, {"timeline", "ffffffff"},
			{"files", "-n", "-1"}, {"files", "--all", "--project", "x"},
		},
		"config": {{"config"}},
		"verify": {{"verify"}, {"verify", "9b1c44ee"}},
		"errors": {{"frobnicate"}, {"sesions"}, {"sessions", "--frob"}, {"show"}, {"show", "ffffffff"}, {"search", "--kind", "novel", "x"}, {"import", "nowhere"}, {"export", "7f3a12cd", "-o", "no/where"}},
	}
	golden := func(name string, commands [][]string) {
		t.Run(name, func(t *testing.T) {
			w := w
			if name == "maintain" { // it changes what others print
				w = settled(t)
			}
			var got bytes.Buffer
			for _, args := range commands {
				code, out, errOut := w.run(args...)
				fmt.Fprintf(&got, "$ strandline %s\n%s", strings.Join(args, " "), out)
				if errOut != "" {
					fmt.Fprintf(&got, "[stderr]\n%s", errOut)
				}
				if code != ExitOK {
					fmt.Fprintf(&got, "[exit code %d]\n", code)
				}
				got.WriteByte('\n')
			}
			compare(t, name, got.String())
		})
	}
	for name, commands := range tests { // they only look, so their order is no matter
		golden(name, commands)
	}
	t.Run("files", func(t *testing.T) {
		w := newWorld(t)
		w.edits()
		w.must("import")
		var got strings.Builder
		for _, args := range [][]string{
			{"--all", "pay/retry.go"}, {"--all", "retry.go"}, {"--all", "pay/retry.go", "--reads", "--session", "9b1c44ee"}, {"--all", "pay/read.go"},
			{"--all", "--json", "shop/pay/retry.go", "-n", "1"},
		} {
			fmt.Fprintf(&got, "$ strandline files %s\n%s\n", strings.Join(args, " "), w.must(append([]string{"files"}, args...)...))
		}
		compare(t, "files", got.String())
	})
	golden("maintain", [][]string{{"maintain"}, {"maintain", "--json"}})
	t.Run("colour", func(t *testing.T) {
		w.colour = true
		defer func() { w.colour = false }()
		text := w.must("sessions") + w.must("search", "--all", "gateway") + w.must("show", "7f3a12cd/2") + w.must("doctor")
		compare(t, "colour", strings.ReplaceAll(text, "\x1b", "ESC"))
	})
}

// vary are the figures that depend on the versions of the database and of the
// compressor.
func vary() *regexp.Regexp {
	return regexp.MustCompile(`(?:in|index) [0-9.]+ [kM]?B(?: of logs)?|\([0-9.]+ : 1\)|"(?:log|index)_bytes": [0-9]+|"score": [0-9.]+|sha256 [0-9a-f]{64}`)
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	digits := regexp.MustCompile(`[0-9a-f.]*[0-9][0-9a-f.]*`)
	got = vary().ReplaceAllStringFunc(got, func(s string) string {
		s, isSum := strings.CutPrefix(s, "sha256 ")
		s = digits.ReplaceAllString(s, "N")
		if isSum {
			return "sha256 " + s
		}
		return s
	})
	path := filepath.Join("testdata", "golden", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s", path, firstDifference(got, string(want)))
	}
}

// firstDifference shows the first lines that differ.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		line := func(lines []string) string {
			if i < len(lines) {
				return lines[i]
			}
			return "(end)"
		}
		if line(g) != line(w) {
			return fmt.Sprintf("line %d\ngot  %s\nwant %s", i+1, line(g), line(w))
		}
	}
	return "nothing"
}

// Whatever is printed, no line is longer than the terminal unless it is of a
// transcript, and the only escape sequences are our colours.
func TestTerminalGetsNoControlSequences(t *testing.T) {
	w := newWorld(t)
	w.colour = true
	w.sessions()
	w.must("import")
	for _, args := range [][]string{
		{"sessions"}, {"sessions", "--all"}, {"show", sessionA}, {"show", "7f3a12cd/2"}, {"show", "--exact", "7f3a12cd/2"}, {"search", "--all", "window"},
		{"search", "--all", "--json", "window"}, {"restore", "--session", sessionA}, {"preserve", "--session", sessionA}, {"status"}, {"projects"},
		{"compact", "--session", sessionA}, {"compact", "--session", sessionA, "--format", "text"}, {"show", "--json", "7f3a12cd/2"},
		{"forget", "--dry-run", "7f3a12cd/2"},
	} {
		for _, width := range []int{100, 0} { // what is piped may end on a terminal
			if w.width = width; width == 0 && slices.Contains(args, "--exact") {
				continue
			}
			out := w.must(args...)
			if width > 0 && text.EscapeTerminal(out, isOwnColor) != out || width == 0 && text.Visible(out) != out {
				t.Errorf("%v, width %d, lets through: %q", args, width, out)
			}
		}
	}
	// A program that asks for it gets every byte.
	w.width = 0
	if out := w.must("show", "--raw", "--full", "7f3a12cd/2"); !strings.Contains(out, "\x1b[31m--- FAIL\x1b[0m: TestRetry2\r\n") {
		t.Errorf("a program gets %q", out)
	}
}

func TestTablesFitTheTerminal(t *testing.T) {
	w := newWorld(t)
	w.sessions()
	w.must("import")
	for _, w.width = range []int{80, 100, 120} {
		for _, args := range [][]string{{"sessions", "--agents"}, {"show", sessionA}, {"projects"}} {
			for line := range strings.Lines(w.must(args...)) {
				if n := text.Cells(strings.TrimRight(line, "\n")); n > w.width && !strings.Contains(line, "·") && !strings.HasPrefix(line, sessionA) {
					t.Errorf("%v: %d cells on a terminal of %d: %s", args, n, w.width, line)
				}
			}
		}
	}
}

func TestHelpFitsTheTerminal(t *testing.T) {
	w := newWorld(t)
	root := newCommands(w.options(&bytes.Buffer{}, &bytes.Buffer{})).root(nil)
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		var out bytes.Buffer
		c.SetOut(&out)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if n := text.Cells(strings.TrimRight(line, "\n")); n > helpWidth && !strings.Contains(c.CommandPath(), " completion") { // cobra's own words
				t.Errorf("%s: %d cells: %s", c.CommandPath(), n, line)
			}
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
}

// The pager gets what show prints on a terminal, and no more than that.
func TestPager(t *testing.T) {
	w := newWorld(t)
	w.sessions()
	w.must("import")
	for name, c := range map[string]struct {
		args         []string
		width        int
		taken, asked bool
	}{
		"long":    {[]string{"show", "7f3a12cd"}, 80, true, true},
		"short":   {[]string{"show", "7f3a12cd"}, 80, false, true},
		"piped":   {[]string{"show", "7f3a12cd"}, 0, true, false},
		"as JSON": {[]string{"show", "7f3a12cd/1", "--json"}, 80, true, false},
		"status":  {[]string{"status"}, 80, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			w.width = c.width
			want := w.must(c.args...)
			var out bytes.Buffer
			o := w.options(&out, &out)
			var page []byte
			o.Page = func(text []byte) bool {
				page = text
				return c.taken
			}
			if code := Main(t.Context(), o, c.args); code != ExitOK || (page != nil) != c.asked {
				t.Fatalf("exit code %d, the pager got %q", code, page)
			}
			if c.asked && string(page) != want || !(c.asked && c.taken) != (out.Len() > 0) {
				t.Errorf("the pager got\n%s\nand the terminal\n%s\nof\n%s", page, out.String(), want)
			}
		})
	}
}
