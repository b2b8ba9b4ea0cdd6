package main

import (
	"context"
	"os"
	"time"

	"strandline/internal/usage"
)

// statuslineArgs reports whether the arguments are those of the client's call:
// `statusline [--with COMMAND]`. The command line handles all others.
func statuslineArgs(args []string) (command string, ok bool) {
	switch {
	case len(args) == 1 && args[0] == "statusline":
		return "", true
	case len(args) == 3 && args[0] == "statusline" && args[1] == "--with":
		return args[2], true
	}
	return "", false
}

// runStatusline prints the line. It prints no errors, which would appear in the
// client's statusline.
func runStatusline(command string) {
	limitGC(hookMemory)
	cfg, _ := loadConfig() // doctor reports rejected settings
	line := usage.Statusline{
		Stdin: os.Stdin, Stdout: os.Stdout, Getenv: os.Getenv, Now: time.Now, Store: usageStore(cfg), Command: command,
		Template: cfg.Statusline.Template, ASCII: cfg.Statusline.ASCII,
		Monitor: usage.Monitor{Zones: zones(cfg), Window: cfg.Autopilot.Window, Getenv: os.Getenv, Settings: cfg.Paths.ClientSettings()},
	}
	_ = line.Print(context.Background())
}
