package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// errNoRuntime means that the runtime's library or a C compiler is missing, and the test
// is skipped. Any other error fails the test.
var errNoRuntime = errors.New("the model's helper cannot be tried here")

// buildHelper builds the helper program into dir and finds the runtime's library, which
// `make test` installs. The working directory has to be in this module.
func buildHelper(ctx context.Context, dir string) (helper, library string, err error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", "", fmt.Errorf("find the module: %w", err)
	}
	root := filepath.Dir(string(out))
	library, err = runtimeLibrary(ctx, root)
	if err != nil {
		return "", "", err
	}
	if _, err := exec.LookPath("cc"); err != nil {
		return "", "", fmt.Errorf("%w: there is no C compiler, which its binding to the ONNX Runtime needs", errNoRuntime)
	}
	helper = filepath.Join(dir, "strandline-onnx")
	if runtime.GOOS == "windows" {
		helper += ".exe"
	}
	build := exec.CommandContext(ctx, "go", "build", "-tags", "onnx", "-o", helper, "./cmd/strandline-onnx")
	build.Dir, build.Env = root, append(build.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("build the helper: %w\n%s", err, out)
	}
	return helper, library, nil
}

// runtimeLibrary finds the library where scripts/install-onnxruntime.sh puts it.
func runtimeLibrary(ctx context.Context, root string) (string, error) {
	// The script reads the environment.
	cmd := exec.CommandContext(ctx, "sh", "-c", `echo "${STRANDLINE_ONNXRUNTIME:-$(ls "${STRANDLINE_CACHE:-.cache}"/onnxruntime-*/libonnxruntime* 2>/dev/null | tail -1)}"`)
	cmd.Dir = root
	out, err := cmd.Output()
	path := string(out[:max(0, len(out)-1)])
	if err != nil || path == "" {
		return "", fmt.Errorf("%w: the ONNX Runtime is not installed: scripts/install-onnxruntime.sh does it, make test calls it", errNoRuntime)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the ONNX Runtime: %w", err)
	}
	return path, nil
}
