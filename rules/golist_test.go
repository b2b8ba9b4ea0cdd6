package rules

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the path of the repository from this package.
const root = ".."

type pkg struct {
	ImportPath string
	Doc        string
	Dir        string
	Imports    []string
	GoFiles    []string
	Standard   bool
	Module     *struct {
		Path string
		Main bool
	}
}

// goList runs go list in the root of the repository, for one system.
func goList(t *testing.T, goos string, args ...string) []pkg {
	t.Helper()
	args = append([]string{"list", "-json=ImportPath,Doc,Dir,Imports,GoFiles,Standard,Module"}, args...)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = root
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if goos != "" {
		cmd.Env = append(cmd.Env, "GOOS="+goos)
	}
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, exit.Stderr)
		}
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// files returns the paths, relative to the root, of the repository's files whose
// names end with one of the suffixes; all files without suffixes.
func files(t *testing.T, suffixes ...string) []string {
	t.Helper()
	skip := []string{".git", "bin", "dist", ".cache", "node_modules", "dist-completions"}
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel != "." && slices.Contains(skip, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		ends := func(s string) bool { return strings.HasSuffix(rel, s) }
		if len(suffixes) == 0 || slices.ContainsFunc(suffixes, ends) {
			found = append(found, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// readFile returns the content of a file, named relative to the root.
func readFile(t *testing.T, rel string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(rel)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
