// Package cli is the command line for people and scripts: it parses, calls the
// rooms that do the work, and prints. Exit codes and JSON shapes are a contract.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
	"strandline/internal/config"
	"strandline/internal/recall"
)

// Store is what the commands need of an index.
type Store interface {
	capture.Index
	compact.Source
	compact.Sessions
	recall.Searcher
	Totals(ctx context.Context) (archive.Totals, error)
	Projects(ctx context.Context) ([]archive.ProjectSummary, error)
	Integrity(ctx context.Context) error
	Close() error
}

// StoreMode says what an index is opened for.
type StoreMode int

// The modes.
const (
	StoreRead StoreMode = iota
	StoreWrite
	StoreBulk // tuned for an import
)

// Env is the outside world of the commands.
type Env struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	Home   string // the user's home folder
	Cwd    string
	Exe    string // this program
	Now    func() time.Time
	// Version of this build.
	Version string
	// Terminal reports whether a writer is a terminal and how wide it is.
	Terminal func(w io.Writer) (width int, ok bool)
	// OpenStore opens an index file.
	OpenStore func(ctx context.Context, path string, mode StoreMode) (Store, error)
	// NewCapture returns a capture and a journal for a configuration.
	NewCapture func(cfg *config.Config) (*capture.Capture, capture.Journal, error)
	// Redact returns the redactor of a configuration; it changes nothing where
	// redaction is off.
	Redact func(cfg *config.Config) func(string) string
	// LookPath finds a program.
	LookPath func(string) (string, error)
	// VersionOf asks another strandline for its version.
	VersionOf func(ctx context.Context, exe string) (string, error)
}

// Exit codes, stated in every help text.
const (
	ExitOK        = 0
	ExitInternal  = 1
	ExitUsage     = 2
	ExitNotFound  = 3
	ExitAmbiguous = 4
	ExitBusy      = 5
	ExitCorrupt   = 6
	ExitDenied    = 7
)

// exitHelp stands at the end of every command's help.
const exitHelp = `

Exit status: 0 done · 1 an internal fault · 2 wrong usage or value · 3 not found ·
4 ambiguous · 5 locked by another process · 6 stored data is damaged · 7 not permitted`

// Main runs the command line and returns the exit code.
func Main(ctx context.Context, env Env, args []string) int {
	app := &app{env: env}
	root := app.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitOK
	}
	var silent silentError
	if !errors.As(err, &silent) {
		printError(env.Stderr, err)
	}
	return exitCode(err)
}

// printError tells the user what went wrong in one sentence, and what to do.
func printError(w io.Writer, err error) {
	fmt.Fprintf(w, "strandline: %v\n", err)
	if hint := archive.ErrorHint(err); hint != "" {
		fmt.Fprintf(w, "hint: %s\n", hint)
	}
}

// silentError carries an exit code for a command that has said everything.
type silentError struct{ code int }

func (e silentError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// usageError is a wrong flag or argument.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func exitCode(err error) int {
	var silent silentError
	if errors.As(err, &silent) {
		return silent.code
	}
	var usage usageError
	if errors.As(err, &usage) {
		return ExitUsage
	}
	switch archive.ErrorCode(err) {
	case archive.CodeInvalid:
		return ExitUsage
	case archive.CodeNotFound:
		return ExitNotFound
	case archive.CodeAmbiguous:
		return ExitAmbiguous
	case archive.CodeBusy:
		return ExitBusy
	case archive.CodeCorrupt:
		return ExitCorrupt
	case archive.CodeDenied:
		return ExitDenied
	}
	return ExitInternal
}

// app is one run of the command line.
type app struct {
	env   Env
	flags map[string]string // settings given by flags
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "strandline",
		Short: "Keeps every byte of your coding agent's sessions and puts back what a compaction loses",
		Long: `Strandline records every session of Claude Code byte for byte, outside the client's
folder, and indexes it. When the context is compacted it puts back what matters next;
anything ever said comes back by search or by handle.

Start with:  strandline init     wire it into the client
             strandline import   bring in the sessions that exist
             strandline demo     see what it does, in seconds, touching nothing of yours`,
		Version:       a.env.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(a.env.Stdout)
	root.SetErr(a.env.Stderr)
	root.SetIn(a.env.Stdin)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{&archive.Error{Code: archive.CodeInvalid, Msg: err.Error(),
			Hint: "`" + cmd.CommandPath() + " --help` lists the flags"}}
	})
	root.AddGroup(
		&cobra.Group{ID: "setup", Title: "Setting up:"},
		&cobra.Group{ID: "find", Title: "Finding and reading:"},
		&cobra.Group{ID: "context", Title: "What a compaction gets:"},
		&cobra.Group{ID: "keep", Title: "Keeping the archive:"},
	)
	a.add(root, "setup", a.initCommand(), a.uninstallCommand(), a.importCommand(), a.doctorCommand(), a.configCommand(), a.demoCommand())
	a.add(root, "find", a.sessionsCommand(), a.searchCommand(), a.showCommand(), a.exportCommand(), a.rebuildCommand(), a.statsCommand(), a.projectsCommand())
	a.add(root, "context", a.restoreCommand(), a.preserveCommand())
	a.add(root, "keep", a.statusCommand(), a.verifyCommand(), a.reindexCommand(), a.maintainCommand())
	root.AddCommand(a.versionCommand(), a.hookHelp(), a.catchupCommand())
	return root
}

// add puts commands into a group and ends their help with the exit codes.
func (a *app) add(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = group
		finish(c)
		root.AddCommand(c)
	}
}

func finish(c *cobra.Command) {
	if c.Long == "" {
		c.Long = c.Short + "."
	}
	c.Long += exitHelp
	for _, sub := range c.Commands() {
		finish(sub)
	}
}
