package house

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the picture in ARCHITECTURE.md")

func TestEveryPackageStandsOnAFloor(t *testing.T) {
	for _, p := range goList(t, "", "./...") {
		if _, ok := FloorOf(p.ImportPath); !ok {
			t.Errorf("%s stands on no floor: add it to Floors and to depguard in .golangci.yml", p.ImportPath)
		}
	}
}

func TestImportsPointDownwards(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, p := range goList(t, goos, "./...") {
			for _, imported := range p.Imports {
				if strings.HasPrefix(imported, Module+"/") && !MayImport(p.ImportPath, imported) {
					from, _ := FloorOf(p.ImportPath)
					to, _ := FloorOf(imported)
					t.Errorf("%s (%s) imports %s (%s)", p.ImportPath, from.Name, imported, to.Name)
				}
			}
		}
	}
}

// TestFloorsAreLinted keeps the two tables of floors alike: every package of a
// floor is in a depguard rule.
func TestFloorsAreLinted(t *testing.T) {
	config := readFile(t, ".golangci.yml")
	for _, f := range Floors() {
		if f.Name == "door" || f.Name == "outside" {
			continue
		}
		for _, p := range f.Packages {
			if !bytes.Contains(config, []byte(`"**/`+p+`/**"`)) {
				t.Errorf(".golangci.yml has no depguard rule for %s", p)
			}
		}
	}
}

func TestMayImport(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"cmd/strandline", "internal/store/sqlite", true},
		{"internal/cli", "internal/recall", true},
		{"internal/cli", "internal/store/sqlite", false},
		{"internal/hook", "internal/capture", true},
		{"internal/capture", "internal/sessionlog", true},
		{"internal/capture", "internal/recall", false},
		{"internal/capture", "internal/hook", false},
		{"internal/lifecycle", "internal/capture", true},
		{"internal/recall", "internal/store/sqlite", false},
		{"internal/terms", "internal/archive", true},
		{"internal/terms", "internal/recall", false},
		{"internal/archive", "internal/terms", false},
		{"internal/store/sqlite", "internal/archive", true},
		{"internal/store/sqlite", "internal/terms", true},
		{"internal/store/sqlite", "internal/redact", false},
		{"internal/store/sqlite", "internal/store/storetest", true},
		{"internal/demo", "internal/demo/story", false},
		{"internal/demo/story", "internal/synth", true},
		{"internal/nowhere", "internal/archive", false},
		{"internal/archive", "internal/nowhere", false},
	} {
		if got := MayImport(Module+"/"+c.from, Module+"/"+c.to); got != c.want {
			t.Errorf("MayImport(%s, %s) = %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

func TestPictureIsCurrent(t *testing.T) {
	imports := map[string][]string{}
	for _, p := range goList(t, "", "./...") {
		// Packages that hold only tests are no part of the program.
		if len(p.GoFiles) > 0 {
			imports[p.ImportPath] = p.Imports
		}
	}
	const begin, end = "<!-- floors: begin -->\n", "<!-- floors: end -->\n"
	doc := string(readFile(t, "ARCHITECTURE.md"))
	head, rest, ok := strings.Cut(doc, begin)
	old, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("ARCHITECTURE.md has lost its markers %q and %q", begin, end)
	}
	picture := Picture(imports)
	if old == picture {
		return
	}
	if *update {
		path := filepath.Join(root, "ARCHITECTURE.md")
		if err := os.WriteFile(path, []byte(head+begin+picture+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the picture in ARCHITECTURE.md is out of date: run make generate\n%s", firstDifference(old, picture))
}

func TestPictureDrawsAFloorPerBox(t *testing.T) {
	got := Picture(map[string][]string{
		"strandline/cmd/strandline":        {"fmt", "strandline/internal/hook", "strandline/internal/store/sqlite"},
		"strandline/internal/hook":         {"strandline/internal/archive"},
		"strandline/internal/archive":      {"time"},
		"strandline/internal/store/sqlite": {"strandline/internal/archive"},
	})
	for _, want := range []string{
		"┌─ door ─", "│ cmd/strandline ", "┌─ faces ─", "│ internal/hook ", "┌─ ground ─", "┌─ stores ─",
		"| `cmd/strandline` | hook, store/sqlite |", "| `internal/archive` | nothing |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "work") {
		t.Errorf("an empty floor is drawn:\n%s", got)
	}
	for line := range strings.Lines(got) {
		if strings.HasPrefix(line, "│") && len([]rune(line)) != width+1 {
			t.Errorf("crooked line: %q", line)
		}
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return "- " + x[i] + "\n+ " + y[i]
		}
	}
	longer := slices.MaxFunc([][]string{x, y}, func(p, q []string) int { return len(p) - len(q) })
	return "only one has: " + longer[min(len(x), len(y))]
}

func readFile(t *testing.T, rel string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(rel)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
