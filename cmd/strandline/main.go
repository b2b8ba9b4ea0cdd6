// Command strandline archives the sessions of coding agents and restores context
// from them. Package main wires dependencies and contains no other logic. Hooks
// and the statusline run at every turn, so they are dispatched before the command
// line is built.
package main

import (
	"context"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"strandline/internal/cli"
)

// version is set by the linker.
var version = "dev"

func main() {
	args := os.Args[1:]
	if client, ok := hookArgs(args); ok {
		runHook(client)
		return
	}
	if command, ok := statuslineArgs(args); ok {
		runStatusline(command)
		return
	}
	ctx, stop := context.Background(), func() {}
	if len(args) > 0 && slices.Contains([]string{"compact", "preserve", "restore"}, args[0]) {
		limitGC(compactMemory) // these need no cleanup after an interrupt
		collectFromFirst()
	} else {
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	}
	code := cli.Main(ctx, cliOptions(), args)
	stop()
	os.Exit(code)
}

// hookArgs returns the client that calls a hook, "" for Claude Code, and whether the
// arguments are those of a hook.
func hookArgs(args []string) (client string, ok bool) {
	switch {
	case len(args) == 1:
		return "", args[0] == "hook"
	case len(args) == 3 && args[0] == "hook" && args[1] == "--client":
		return args[2], true
	}
	return "", false
}

// Soft memory limits of short-lived processes, in bytes.
const (
	hookMemory    = 20 << 20 // keeps a hook below 30 MB
	compactMemory = 64 << 20 // a usual compaction needs less than 40 MB
)

// limitGC turns garbage collection off below a soft memory limit, for processes
// that end within milliseconds. A collection took a tenth of a compaction's time
// and freed 2 of 37 MB.
func limitGC(memory int64) {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memory)
}

// collectFromFirst makes the first garbage collection, which begins at the limit, switch
// the following ones to the usual rate. Near the limit they would take half of the time.
func collectFromFirst() {
	runtime.AddCleanup(new([16]byte), func(struct{}) {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
	}, struct{}{})
}

// now is the only clock of the program.
func now() time.Time { return time.Now() }
