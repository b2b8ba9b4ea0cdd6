package rules

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNoticeNamesEveryModule: NOTICE lists exactly the modules that are linked
// into the program or its embedding helper.
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

// TestDirectModules: every directly imported module is listed here with its
// purpose, so that a second module for the same purpose is a deliberate choice.
func TestDirectModules(t *testing.T) {
	allowed := map[string]string{
		"charm.land/bubbletea/v2":                "the terminal interface",
		"charm.land/lipgloss/v2":                 "its colours",
		"github.com/charmbracelet/x/ansi":        "widths of texts, as the terminal interface counts them",
		"github.com/BurntSushi/toml":             "configuration files",
		"github.com/cespare/xxhash/v2":           "identities and checksums of frames",
		"github.com/fsnotify/fsnotify":           "changes of folders, for the guard",
		"github.com/go-json-experiment/json":     "one-pass reading of transcripts",
		"github.com/klauspost/compress":          "zstd",
		"github.com/rogpeppe/go-internal":        "test scripts; the diff that init --dry-run prints",
		"github.com/tailscale/hujson":            "the client's settings: JSON with comments",
		"github.com/spf13/cobra":                 "human commands, help, completion",
		"github.com/spf13/pflag":                 "cobra's flags",
		"github.com/modelcontextprotocol/go-sdk": "MCP",
		"github.com/google/jsonschema-go":        "the OpenAPI document; the MCP library needs it too",
		"golang.org/x/sync":                      "imports in parallel",
		"golang.org/x/sys":                       "file locks, detached processes",
		"golang.org/x/term":                      "width of the terminal",
		"golang.org/x/text":                      "accents, which a model's tokenizer removes",
		"modernc.org/sqlite":                     "the index, without cgo",
		"filippo.io/age":                         "encryption of what archive push writes",
		"github.com/jackc/pgx/v5":                "a team's archive in PostgreSQL",
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
				if !strings.Contains(host, ".") || strings.HasPrefix(imported, module) {
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
