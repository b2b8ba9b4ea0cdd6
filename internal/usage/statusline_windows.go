package usage

import "os/exec"

// setGroup does nothing: only the shell itself is killed.
func setGroup(*exec.Cmd) {}
