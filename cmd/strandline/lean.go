//go:build lean

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/cli"
)

// The lean program leaves the network and the servers to its companion: linking
// them would slow down the start of every hook.

func network() app.Network { return nil }

func encryption() app.Cipher { return nil }

func frontends(*app.App) cli.Frontends { return nil }

// LinksTeam implements app.Stores.
func (stores) LinksTeam() bool { return false }

// OpenTeam implements app.Stores.
func (stores) OpenTeam(context.Context, app.TeamAddress) (*app.TeamStore, error) {
	return nil, app.ErrNotLinked
}

// companionName is the program that links everything. Both are installed together.
const companionName = "strandline-full"

// companion runs the companion in place of this process.
func companion(ctx context.Context) error {
	path, err := system{}.FindCompanion()
	if err != nil {
		return err
	}
	return replaceProcess(ctx, append([]string{path}, os.Args[1:]...))
}

// FindCompanion implements app.System. It returns the companion's path: in this program's
// folder, or else in PATH.
func (system) FindCompanion() (string, error) {
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
			Code: archive.CodeNotFound, Msg: companionName + " is missing; this command needs it", Err: err,
			Hint: "install strandline again: " + companionName + " belongs in the same folder as strandline",
		}
	}
	return path, nil
}
