package main

import (
	"context"
	"os"
	"runtime/debug"

	"strandline/internal/config"
	"strandline/internal/usage"
	"strandline/internal/usage/statusline"
)

// isStatusline reports that the arguments are those of the client's call:
// `statusline` alone or with a command of the user's to stand before ours.
// Anything else is for the command line, which has the help.
func isStatusline(args []string) (with string, ok bool) {
	switch {
	case len(args) == 1 && args[0] == "statusline":
		return "", true
	case len(args) == 3 && args[0] == "statusline" && args[1] == "--with":
		return args[2], true
	}
	return "", false
}

// runStatusline prints the line. What cannot be shown is left out: an error would
// stand where the line should.
func runStatusline(with string) {
	debug.SetGCPercent(-1) // as in runHook
	debug.SetMemoryLimit(hookMemory)
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // config falls back to what the environment names
	}
	// A setting that is not valid leaves the next best in force; doctor tells.
	cfg, _ := config.Load(config.Inputs{Env: os.Getenv, Home: home, Cwd: os.Getenv("CLAUDE_PROJECT_DIR")})
	env := statusline.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Getenv: os.Getenv, Store: gauges(cfg), Command: with,
		Template: cfg.Statusline.Template, ASCII: cfg.Statusline.ASCII,
		Monitor: usage.Monitor{Zones: zones(cfg), Window: cfg.Autopilot.Window, Getenv: os.Getenv},
	}
	_ = statusline.Run(context.Background(), env) // nobody reads: there is nobody to tell
}
