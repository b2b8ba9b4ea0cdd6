package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The lean program runs the companion in its folder, or else the one in PATH, for
// commands that it does not link.
func TestLeanProgramRunsItsCompanion(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the companion here is a shell script")
	}
	dir := t.TempDir()
	lean := filepath.Join(dir, "bin", "strandline")
	if out, err := exec.Command("go", "build", "-tags", "lean", "-o", lean, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(program string, args ...string) (string, error) {
		cmd := exec.Command(program, args...)
		cmd.Env = []string{"HOME=" + dir, "PATH=" + filepath.Join(dir, "path")}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run(lean, "mcp")
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 3 || !strings.Contains(out, "hint: install strandline again") {
		t.Errorf("without a companion: %v\n%s", err, out)
	}
	if out, _ := run(lean, "doctor"); !strings.Contains(out, "strandline-full is missing") {
		t.Errorf("doctor does not report the missing companion:\n%s", out)
	}
	companion := func(at, output string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte("#!/bin/sh\necho "+output+" \"$@\"\nexit 9\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	check := func(program, want string) {
		t.Helper()
		out, err := run(program, "mcp")
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 9 || out != want+"\n" {
			t.Errorf("%s: %v, %q, want %q and exit code 9", program, err, out, want)
		}
	}
	companion(filepath.Join(dir, "path", "strandline-full"), "in PATH")
	check(lean, "in PATH mcp")
	if out, _ := run(lean, "doctor"); !strings.Contains(out, "its two programs belong together") {
		t.Errorf("doctor accepts another program as the companion:\n%s", out)
	}
	companion(filepath.Join(dir, "bin", "strandline-full"), "beside")
	check(lean, "beside mcp")
	link := filepath.Join(dir, "elsewhere")
	if err := os.Symlink(lean, link); err != nil {
		t.Fatal(err)
	}
	check(link, "beside mcp")
}
