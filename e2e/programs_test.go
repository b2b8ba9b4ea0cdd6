package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// installTimeout bounds the installation of the client.
const installTimeout = 5 * time.Minute

func TestMain(m *testing.M) {
	// The client's hooks may call copies of the test binary under other names.
	switch filepath.Base(os.Args[0]) {
	case recorderName:
		os.Exit(recorderMain())
	case programName:
		os.Exit(killerMain())
	}
	code := m.Run()
	if dir := buildFolder(); dir != "" {
		_ = os.RemoveAll(dir) // leftovers in the temporary folder are harmless
	}
	os.Exit(code)
}

// findClient is run once: the first test that needs the client pays for it.
var findClient = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("STRANDLINE_CLIENT"); path != "" {
		return filepath.Abs(path)
	}
	script, err := filepath.Abs("../scripts/install-client.sh")
	if err != nil {
		return "", err
	}
	if !demanded() && !installed() {
		return "", errors.New("the client is not installed (make client installs it)")
	}
	ctx, cancel := context.WithTimeout(context.Background(), installTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, script)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("install the client: %w\n%s", err, stderr.Bytes())
	}
	return strings.TrimSpace(stdout.String()), nil
})

// demanded reports whether a missing client is a failure.
func demanded() bool {
	return os.Getenv("STRANDLINE_E2E") == "1" || (os.Getenv("CI") == "true" && runtime.GOOS == "linux")
}

// installed reports whether the install script has run before.
func installed() bool {
	cache := os.Getenv("STRANDLINE_CACHE")
	if cache == "" {
		cache = filepath.Join("..", ".cache")
	}
	found, err := filepath.Glob(filepath.Join(cache, "client-*", "claude"))
	return err == nil && len(found) > 0
}

// client returns the path of the real client, and ends the test if there is none.
func client(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the end-to-end test drives the client on Unix systems only")
	}
	path, err := findClient()
	switch {
	case err == nil:
	case demanded():
		t.Fatalf("FAILURE: the end-to-end test cannot run: %v", err)
	default:
		t.Skipf("the end-to-end test does not run: %v", err)
	}
	return path
}

// npmClient returns a program of another client that scripts/install-npm-client.sh
// installs, found by pattern in its folder, and ends the test if there is none.
func npmClient(t *testing.T, name, pattern string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the end-to-end test drives the client on Unix systems only")
	}
	cache := os.Getenv("STRANDLINE_CACHE")
	if cache == "" {
		cache = filepath.Join("..", ".cache")
	}
	found, err := filepath.Glob(filepath.Join(cache, name+"-[0-9]*", filepath.FromSlash(pattern)))
	if err == nil && len(found) > 0 {
		path, err := filepath.Abs(found[len(found)-1])
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Skipf("%s is not installed (make client installs it)", name)
	return ""
}

// buildFolder is where the program under test is built, "" if it cannot be made.
var buildFolder = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "strandline-e2e-")
	if err != nil {
		return ""
	}
	return dir
})

// buildProgram is run once: the first test that needs strandline pays for it.
var buildProgram = sync.OnceValues(func() (string, error) {
	path := filepath.Join(buildFolder(), programName)
	ctx, cancel := context.WithTimeout(context.Background(), installTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "strandline/cmd/strandline")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build strandline: %w\n%s", err, out)
	}
	return path, nil
})

// program returns the path of a freshly built strandline.
func program(t *testing.T) string {
	t.Helper()
	path, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
