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
	ctx, stop := context.Background(), func() {}
	if len(os.Args) > 1 && slices.Contains([]string{"compact", "preserve", "restore"}, os.Args[1]) {
		collectLess() // and an interrupt just ends it: there is nothing to tidy up
	} else {
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	}
	code := cli.Main(ctx, cliOptions(), os.Args[1:])
	stop()
	os.Exit(code)
}

// compactMemory is where the garbage collector comes in after all. A compaction of
// a usual context stays below 40 MB without it.
const compactMemory = 64 << 20

// collectLess leaves garbage where it is in a process that ends in milliseconds:
// collecting it once took a tenth of the time of a compaction and gave back 2 of
// 37 MB.
func collectLess() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(compactMemory)
}

// now is the only clock of the program.
func now() time.Time { return time.Now() }
