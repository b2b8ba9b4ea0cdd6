package rules

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxLines bounds the length of a file. Run with -v for median and percentiles.
const maxLines = 800

func TestFilesAreShort(t *testing.T) {
	var lengths []int
	source, tests := 0, 0
	for _, name := range files(t, ".go") {
		n := bytes.Count(readFile(t, name), []byte("\n"))
		if n > maxLines {
			t.Errorf("%s has %d lines, at most %d", name, n, maxLines)
		}
		if strings.HasSuffix(name, "_test.go") {
			tests += n
			continue
		}
		source += n
		lengths = append(lengths, n)
	}
	slices.Sort(lengths)
	t.Logf("%d source files: median %d lines, 90 %% below %d, longest %d; %d lines of source, %d of tests",
		len(lengths), lengths[len(lengths)/2], lengths[len(lengths)*9/10], lengths[len(lengths)-1], source, tests)
}

func TestPackageComments(t *testing.T) {
	for _, p := range goList(t, "", "./...") {
		if len(p.GoFiles) == 0 {
			continue
		}
		name := filepath.Base(p.ImportPath)
		switch {
		case p.Doc == "":
			t.Errorf("%s has no package comment", p.ImportPath)
		case !strings.HasPrefix(p.Doc, "Package "+name+" ") && !strings.HasPrefix(p.Doc, "Command "+name+" "):
			t.Errorf("%s: its comment does not begin with its name: %q", p.ImportPath, p.Doc)
		}
	}
}

// TestNothingPointsOutside: no file names a path of a developer's machine or a
// package registry's host, or holds an open to-do mark.
func TestNothingPointsOutside(t *testing.T) {
	rules := []struct {
		why     string
		pattern *regexp.Regexp
	}{
		{"a folder next to the repository", regexp.MustCompile(`\.\./` + `shared\b`)},
		{"a path of one machine", regexp.MustCompile(`/` + `root/|/work/(` + `main|shared)`)},
		{"a package registry's host", regexp.MustCompile(`registry\.` + `npmjs|proxy\.` + `golang|sum\.` + `golang`)},
		{"an open to-do", regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)},
	}
	for _, name := range files(t) {
		data := readFile(t, name)
		if bytes.IndexByte(data, 0) >= 0 {
			continue // no text
		}
		if strings.HasPrefix(name, "internal/redact/") && strings.HasSuffix(name, "_test.go") {
			continue // registry hosts are part of the secrets in these examples
		}
		for _, r := range rules {
			if at := r.pattern.FindIndex(data); at != nil {
				line := 1 + bytes.Count(data[:at[0]], []byte("\n"))
				t.Errorf("%s:%d names %s: %q", name, line, r.why, data[at[0]:at[1]])
			}
		}
	}
}

// TestBundledFilesAreSmall bounds the size of each file. The one exception is the
// table of static word vectors for search without a downloaded model.
func TestBundledFilesAreSmall(t *testing.T) {
	const limit, table = 512 << 10, "internal/embed/static-dev.svec"
	total := 0
	for _, name := range files(t) {
		n := len(readFile(t, name))
		total += n
		if n > limit && !strings.Contains(name, "/testdata/") && name != table {
			t.Errorf("%s has %d bytes, at most %d", name, n, limit)
		}
	}
	t.Logf("%d bytes in all", total)
}

func TestLicence(t *testing.T) {
	licence := string(readFile(t, "LICENSE"))
	for _, want := range []string{"MIT License", "The Strandline authors", "WITHOUT WARRANTY OF ANY KIND"} {
		if !strings.Contains(licence, want) {
			t.Errorf("LICENSE has no %q", want)
		}
	}
}

// TestActionsArePinned: a tag of an action can be moved to other code.
func TestActionsArePinned(t *testing.T) {
	uses, pinned := regexp.MustCompile(`(?m)uses: *(.+)$`), regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d`)
	found := uses.FindAllSubmatch(readFile(t, ".github/workflows/ci.yml"), -1)
	for _, m := range found {
		if !pinned.Match(m[1]) {
			t.Errorf("%s is not pinned to a commit, with its version as a comment", m[1])
		}
	}
	if len(found) == 0 {
		t.Error("the workflow uses no actions")
	}
}

// TestNoInit: init functions would run in every hook process.
func TestNoInit(t *testing.T) {
	for _, name := range files(t, ".go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s has an init function", name)
			}
		}
	}
}

// TestLazyPatterns: a package-level pattern would be compiled by every hook
// process; sync.OnceValue compiles it at first use.
func TestLazyPatterns(t *testing.T) {
	eager := regexp.MustCompile(`(?m)^(var\s+\w+|\t\w+)\s*=\s*(regexp\.MustCompile|template\.(Must|New))`)
	for _, name := range files(t, ".go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if at := eager.FindIndex(readFile(t, name)); at != nil {
			t.Errorf("%s compiles a pattern when the program starts: use sync.OnceValue", name)
		}
	}
}
