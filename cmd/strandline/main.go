// Command strandline keeps coding agents' sessions and gives them back. This is
// the door: it wires the rooms together and holds no logic of its own. Hooks and
// the statusline are answered before the command line is built, since they run at
// every turn.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
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
	if len(os.Args) > 1 && slices.Contains([]string{"compact", "preserve", "restore"}, os.Args[1]) {
		collectLess()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, cliEnv(), os.Args[1:])
	stop()
	os.Exit(code)
}

// collectLess lets the heap of a process that ends in milliseconds grow to 16 MB
// before garbage is collected for the first time: four times as much as usual,
// for a fifth of the time that a compaction takes.
func collectLess() { debug.SetGCPercent(400) }

// now is the only clock of the program.
func now() time.Time { return time.Now() }
