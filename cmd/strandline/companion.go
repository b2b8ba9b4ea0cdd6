//go:build lean

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"strandline/internal/archive"
)

// companionName is the same program, built with what a hook has no use for.
const companionName = "strandline-full"

// companion hands this call over to the full program, which stands beside this
// one or in PATH.
func companion(ctx context.Context) error {
	path, err := findCompanion()
	if err != nil {
		return err
	}
	return become(ctx, path, os.Args[1:])
}

// findCompanion returns where the full program is.
func findCompanion() (string, error) {
	name := companionName
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		path := filepath.Join(filepath.Dir(exe), name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", &archive.Error{
			Code: archive.CodeNotFound, Msg: companionName + " is not there, and some commands are part of it", Err: err,
			Hint: "put it beside strandline: both are in the release, and `make build` makes both",
		}
	}
	return path, nil
}
