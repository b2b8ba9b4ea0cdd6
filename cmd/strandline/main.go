// Command strandline keeps coding agents' sessions and gives them back. This is
// the door: it wires the rooms together and holds no logic of its own. Hooks and
// the statusline are answered before the command line is built, since they run at
// every turn.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"strandline/internal/cli"
)

// version is set by the linker.
var version = "dev"

func main() {
	if len(os.Args) == 2 && os.Args[1] == "hook" {
		runHook()
		return
	}
	if with, ok := isStatusline(os.Args[1:]); ok {
		runStatusline(with)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, cliEnv(), os.Args[1:])
	stop()
	os.Exit(code)
}

// now is the only clock of the program.
func now() time.Time { return time.Now() }
