package house

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestHookLinksLittle: what a package imports, a process initialises. The hook
// and all that it calls stay clear of what costs start-up time.
func TestHookLinksLittle(t *testing.T) {
	heavy := []string{"net/http", "text/template", "html/template", "encoding/gob", "github.com/spf13/cobra", "go/build", "testing"}
	for _, p := range goList(t, "", "-deps", "./internal/hook", "./internal/capture", "./internal/compact", "./internal/store/sqlite") {
		if slices.Contains(heavy, p.ImportPath) {
			t.Errorf("the hook links %s", p.ImportPath)
		}
	}
}

// TestLeanProgramLinksLittle: the program that hooks call links no network
// server or client, and nothing that only a companion's commands need.
func TestLeanProgramLinksLittle(t *testing.T) {
	heavy := []string{"net/http", "encoding/gob", "github.com/modelcontextprotocol/go-sdk/mcp", Module + "/internal/mcpserver", Module + "/internal/httpapi", "charm.land/bubbletea/v2", Module + "/internal/browse",
		"github.com/jackc/pgx/v5", Module + "/internal/store/postgres"}
	for _, p := range goList(t, "", "-tags", "lean", "-deps", "./cmd/strandline") {
		if slices.Contains(heavy, p.ImportPath) {
			t.Errorf("the lean strandline links %s", p.ImportPath)
		}
	}
}

// TestNoticeNamesEveryModule: whoever is linked into the program or its
// helper is named, and
// nobody else.
func TestNoticeNamesEveryModule(t *testing.T) {
	linked := map[string]bool{}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, p := range goList(t, goos, "-deps", "./cmd/strandline") {
			if p.Module != nil && !p.Module.Main {
				linked[p.Module.Path] = true
			}
		}
	}
	for _, p := range goList(t, "", "-tags", "onnx", "-deps", "./cmd/strandline-onnx") {
		if p.Module != nil && !p.Module.Main {
			linked[p.Module.Path] = true
		}
	}
	named := map[string]bool{}
	row := regexp.MustCompile(`(?m)^- (\S+) \(([^)]+)\)$`)
	for _, m := range row.FindAllStringSubmatch(string(readFile(t, "NOTICE")), -1) {
		named[m[1]] = true
		if !linked[m[1]] {
			t.Errorf("NOTICE names %s, which is not linked", m[1])
		}
	}
	for m := range linked {
		if !named[m] {
			t.Errorf("NOTICE does not name %s", m)
		}
	}
}

// TestDirectModules: a second module for a job that one already does is a
// decision, not an accident.
func TestDirectModules(t *testing.T) {
	allowed := map[string]string{
		"charm.land/bubbletea/v2":                "the terminal interface",
		"charm.land/lipgloss/v2":                 "its colours",
		"github.com/charmbracelet/x/ansi":        "widths of texts, as the terminal interface counts them",
		"github.com/BurntSushi/toml":             "configuration files",
		"github.com/cespare/xxhash/v2":           "identities and checksums of frames",
		"github.com/go-json-experiment/json":     "one-pass reading of transcripts",
		"github.com/klauspost/compress":          "zstd",
		"github.com/spf13/cobra":                 "human commands, help, completion",
		"github.com/spf13/pflag":                 "cobra's flags",
		"github.com/modelcontextprotocol/go-sdk": "MCP",
		"github.com/google/jsonschema-go":        "the OpenAPI document; the MCP library needs it too",
		"golang.org/x/sync":                      "imports in parallel",
		"golang.org/x/sys":                       "file locks, detached processes",
		"golang.org/x/term":                      "width of the terminal",
		"golang.org/x/text":                      "accents, as a model's tokenizer takes them off",
		"modernc.org/sqlite":                     "the index, without cgo",
		"github.com/jackc/pgx/v5":                "a team's archive in PostgreSQL",
		"github.com/rogpeppe/go-internal":        "tests: scripts",
		"pgregory.net/rapid":                     "tests: properties",
		"golang.org/x/tools":                     "tests: archives of files",
		"github.com/inconshreveable/mousetrap":   "cobra on Windows",
	}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, p := range goList(t, goos, "-test", "-deps", "./...") {
			if p.Module == nil || !p.Module.Main {
				continue
			}
			for _, imported := range p.Imports {
				host, _, _ := strings.Cut(imported, "/")
				if !strings.Contains(host, ".") || strings.HasPrefix(imported, Module) {
					continue
				}
				known := slices.ContainsFunc(slices.Collect(maps.Keys(allowed)), func(m string) bool {
					return imported == m || strings.HasPrefix(imported, m+"/")
				})
				if !known {
					t.Errorf("%s imports %s, a module that is not on the list", p.ImportPath, imported)
				}
			}
		}
	}
}
