package house

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// width of the boxes, frame included.
const width = 78

// Picture draws the floors with the packages that exist, and lists below what
// each package imports of ours. Imports maps a package to all its imports, both
// with the module's name.
func Picture(imports map[string][]string) string {
	var b strings.Builder
	b.WriteString("```text\n")
	floors := Floors()
	for i, f := range floors {
		beside := f.Name == "stores" || f.Name == "outside"
		packages := on(f, imports)
		if len(packages) == 0 {
			continue
		}
		box(&b, f, packages)
		if !beside && i+1 < len(floors) && floors[i+1].Name != "stores" {
			b.WriteString(strings.Repeat(" ", width/2) + "│ imports\n" + strings.Repeat(" ", width/2) + "▼\n")
		} else {
			b.WriteString("\n")
		}
	}
	b.WriteString("```\n\n| package | imports of ours |\n|---|---|\n")
	for _, f := range floors {
		for _, p := range on(f, imports) {
			fmt.Fprintf(&b, "| `%s` | %s |\n", p, ours(imports[Module+"/"+p]))
		}
	}
	return b.String()
}

// on returns the packages of a floor, without the module's name, sorted.
func on(f Floor, imports map[string][]string) []string {
	var packages []string
	for p := range imports {
		if g, ok := FloorOf(p); ok && g.Name == f.Name {
			packages = append(packages, strings.TrimPrefix(p, Module+"/"))
		}
	}
	slices.Sort(packages)
	return packages
}

func box(b *strings.Builder, f Floor, packages []string) {
	inner := width - 4
	fmt.Fprintf(b, "┌─ %s %s┐\n", f.Name, strings.Repeat("─", inner-len(f.Name)-1))
	for _, line := range wrap(packages, inner) {
		fmt.Fprintf(b, "│ %-*s │\n", inner, line)
	}
	for _, line := range wrap(strings.Fields(f.Knows), inner-2) {
		fmt.Fprintf(b, "│   %-*s │\n", inner-2, line)
	}
	fmt.Fprintf(b, "└%s┘\n", strings.Repeat("─", width-2))
}

// wrap puts words into lines of at most n bytes; all words here are ASCII.
func wrap(words []string, n int) []string {
	var lines []string
	for _, w := range words {
		sep := " "
		if strings.Contains(w, "/") {
			sep = "  "
		}
		last := len(lines) - 1
		if last < 0 || len(lines[last])+len(sep)+len(w) > n {
			lines = append(lines, w)
			continue
		}
		lines[last] += sep + w
	}
	return lines
}

func ours(imports []string) string {
	var names []string
	for _, p := range imports {
		if name, ok := strings.CutPrefix(p, Module+"/"); ok {
			names = append(names, strings.TrimPrefix(name, "internal/"))
		}
	}
	slices.SortFunc(names, cmp.Compare[string])
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}
