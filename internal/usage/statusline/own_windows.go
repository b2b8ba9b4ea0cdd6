package statusline

import "os/exec"

// own leaves a command as it is: ending it ends the shell, and what the shell has
// started loses its pipes.
func own(*exec.Cmd) {}
