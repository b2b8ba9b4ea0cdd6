package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// modelHelper builds strandline-onnx for the first script that uses it.
type modelHelper struct {
	dir  string
	once sync.Once

	path, library string
	err           error
}

func (h *modelHelper) build(ctx context.Context) error {
	h.once.Do(func() { h.path, h.library, h.err = buildHelper(ctx, h.dir) })
	return h.err
}

// condition reports whether the ONNX helper and its runtime (onnx) or a PostgreSQL
// server (postgres) are available.
func (h *modelHelper) condition(ctx context.Context, cond string) (bool, error) {
	if cond == "postgres" {
		return os.Getenv(testServer) != "", nil
	}
	if cond != "onnx" {
		return false, fmt.Errorf("unknown condition %q", cond)
	}
	err := h.build(ctx)
	if errors.Is(err, errNoRuntime) {
		return false, nil
	}
	return err == nil, err
}

// onnx FILE writes a small model with a vocabulary of nine words, of which the last
// two, glorp and wibble, have the same vector, and sets HELPER and LIBRARY.
func (h *modelHelper) cmdOnnx(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(h.err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), newTestModel(9, 24).copyToken(7, 8).encode(), 0o600))
	ts.Setenv("HELPER", h.path)
	ts.Setenv("LIBRARY", h.library)
}
