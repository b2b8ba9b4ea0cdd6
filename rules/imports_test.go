package rules

import (
	"slices"
	"strings"
	"testing"
)

// module is the prefix of every import path of this repository.
const module = "strandline/"

// entryPoints are the packages that implement one external interface each.
var entryPoints = []string{"browse", "cli", "gateway", "hook", "httpapi", "install", "mcpserver"}

// importRule returns why package from must not import package to, or "".
// Both are import paths. ARCHITECTURE.md lists the rules.
func importRule(from, to string) string {
	from, fromOurs := strings.CutPrefix(from, module)
	inner, ours := strings.CutPrefix(to, module)
	if !fromOurs {
		return ""
	}
	from, to = strings.TrimPrefix(from, "internal/"), strings.TrimPrefix(inner, "internal/")
	switch {
	case from == "archive" && ours:
		return "the domain imports no other package of the repository"
	case from == "archive" && slices.Contains([]string{"os", "io/fs", "net", "net/http", "database/sql", "os/exec"}, to):
		return "the domain does no input or output"
	case !ours:
		return ""
	case within(to, "cmd"), within(to, "bench"), within(to, "e2e"), within(to, "rules"):
		if apart(from) {
			return ""
		}
		return "the program does not link wiring, measurements or whole-system tests"
	case slices.Contains(entryPoints, from) && slices.Contains(entryPoints, to):
		return "entry points do not import each other"
	case within(to, "index/sqlite") || within(to, "index/postgres"):
		if within(from, "cmd") || within(from, "index") || apart(from) {
			return ""
		}
		return "only package main chooses a store"
	}
	return ""
}

// within reports whether path is the folder or lies below it.
func within(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// apart reports whether a package is never linked into the program.
func apart(path string) bool {
	return within(path, "bench") || within(path, "e2e") || within(path, "rules")
}

func TestImports(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, p := range goList(t, goos, "./...") {
			for _, imported := range p.Imports {
				if why := importRule(p.ImportPath, imported); why != "" {
					t.Errorf("%s imports %s: %s", p.ImportPath, imported, why)
				}
			}
		}
	}
}

func TestImportRule(t *testing.T) {
	for _, c := range []struct {
		from, to string
		allowed  bool
	}{
		{"cmd/strandline", "strandline/internal/index/sqlite", true},
		{"internal/cli", "strandline/internal/index/sqlite", false},
		{"internal/capture", "strandline/internal/index/postgres", false},
		{"internal/index/sqlite", "strandline/internal/index/terms", true},
		{"internal/index/indextest", "strandline/internal/index/sqlite", true},
		{"internal/cli", "strandline/internal/recall", true},
		{"internal/mcpserver", "strandline/internal/cli", false},
		{"internal/hook", "strandline/internal/cli", false},
		{"internal/cli", "strandline/internal/app", true},
		{"internal/archive", "strandline/internal/text", false},
		{"internal/archive", "os", false},
		{"internal/archive", "time", true},
		{"internal/capture", "strandline/bench/synth", false},
		{"bench/eval", "strandline/internal/index/sqlite", true},
		{"internal/app", "strandline/cmd/strandline", false},
	} {
		if got := importRule(module+c.from, c.to); (got == "") != c.allowed {
			t.Errorf("importRule(%s, %s) = %q, allowed: %v", c.from, c.to, got, c.allowed)
		}
	}
}

// TestEntryPointsExist fails when a package of the list was renamed, so that the
// rule cannot become empty.
func TestEntryPointsExist(t *testing.T) {
	var all []string
	for _, p := range goList(t, "", "./internal/...") {
		all = append(all, strings.TrimPrefix(p.ImportPath, module+"internal/"))
	}
	for _, name := range entryPoints {
		if !slices.Contains(all, name) {
			t.Errorf("no package internal/%s: update entryPoints", name)
		}
	}
}

// maxInternalPackages bounds the number of packages a newcomer has to learn. Those of the
// clients, which have one form, do not count.
const maxInternalPackages = 30

func TestFewPackages(t *testing.T) {
	n := 0
	for _, p := range goList(t, "", "./internal/...") {
		if p.ImportPath != module+"internal/client" && !strings.Contains(p.ImportPath, "/internal/client/") {
			n++
		}
	}
	if n > maxInternalPackages {
		t.Errorf("%d internal packages, at most %d: merge packages that share a subject", n, maxInternalPackages)
	}
}

// TestHookLinksLittle: each linked package is initialised by every hook process.
func TestHookLinksLittle(t *testing.T) {
	heavy := []string{"net/http", "text/template", "html/template", "encoding/gob", "github.com/spf13/cobra", "go/build", "testing"}
	for _, p := range goList(t, "", "-deps", "./internal/hook", "./internal/capture", "./internal/compact", "./internal/index/sqlite") {
		if slices.Contains(heavy, p.ImportPath) {
			t.Errorf("the hook links %s", p.ImportPath)
		}
	}
}

// TestLeanProgramLinksLittle: the program that hooks start links no network
// client or server, and no package that only the full program's commands need.
func TestLeanProgramLinksLittle(t *testing.T) {
	heavy := []string{
		"net/http", "encoding/gob", "github.com/modelcontextprotocol/go-sdk/mcp", "charm.land/bubbletea/v2", "github.com/jackc/pgx/v5",
		module + "internal/mcpserver", module + "internal/httpapi", module + "internal/browse", module + "internal/index/postgres",
	}
	for _, p := range goList(t, "", "-tags", "lean", "-deps", "./cmd/strandline") {
		if slices.Contains(heavy, p.ImportPath) {
			t.Errorf("the lean program links %s", p.ImportPath)
		}
	}
}
