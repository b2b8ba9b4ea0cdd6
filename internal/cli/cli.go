// Package cli is the command line for people and scripts: it parses, calls the
// rooms that do the work, and prints. Exit codes and JSON shapes are a contract.
package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/app/maintenance"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
	"strandline/internal/config"
	"strandline/internal/embed"
	"strandline/internal/embed/onnx"
	"strandline/internal/recall"
	"strandline/internal/task"
	"strandline/internal/text"
)

// Store is what the commands need of an index.
type Store interface {
	capture.Index
	compact.Measured
	compact.Sessions
	recall.SearchStore
	task.Source
	History(ctx context.Context, f archive.HistoryFilter) ([]archive.Touch, error)
	Files(ctx context.Context, s archive.Span) ([]archive.FileTouch, error)
	maintenance.Index
	maintenance.SessionIndex
	embed.VectorStore
	embed.VectorWriter
	DropVectors(ctx context.Context, embedder string) error
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
	// StoreLate is StoreWrite for who cannot wait: what the journal holds is left to
	// the next one.
	StoreLate
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
	// Changes returns what tells the uncommitted changes of a folder, redacted;
	// nil where nothing does.
	Changes func(cfg *config.Config) func(ctx context.Context, dir string) string
	// DiskFree returns how many bytes may be written below a folder; false where
	// the system does not say.
	DiskFree func(dir string) (int64, bool)
	// Background makes this process give way to all others.
	Background func()
	// ServeMCP serves models on stdin and stdout until stdin ends; dir is the
	// project's folder.
	ServeMCP func(ctx context.Context, cfg *config.Config, dir string) error
	// Serve answers HTTP until ctx ends; nil in a program that links none of what
	// that takes, where Companion hands the call over.
	Serve func(ctx context.Context, s Serving) error
	// Browse shows an archive in the terminal; nil in a program that links none
	// of what that takes, where Companion hands the call over.
	Browse func(ctx context.Context, b Browsing) error
	// Relay starts a gateway to an API; nil as Browse is.
	Relay func(ctx context.Context, r Relay) (Relayed, error)
	// RunProgram runs a program on this process's streams, with more variables in
	// its environment, and returns its exit code. Signals reach it.
	RunProgram func(argv, env []string) (code int, err error)
	// Endpoint returns the embedder of an endpoint, and Fetch opens a file at an
	// address. Both are nil in a program that links no network; Companion then
	// hands the call over to one that does.
	Endpoint  func(url, model, key string, redact func(string) string, attempts int) (embed.Embedder, error)
	Fetch     onnx.Fetch
	Companion func(ctx context.Context) error
	// OpenTeam opens the team's archive; nil in a program that links no driver of it,
	// where Companion hands the call over.
	OpenTeam func(ctx context.Context, t TeamAddress) (TeamStore, error)
	Machine  string // the name of this machine
	// LookPath finds a program.
	LookPath func(string) (string, error)
	// VersionOf asks another strandline for its version.
	VersionOf func(ctx context.Context, exe string) (string, error)
	// FindCompanion finds the program that holds the commands which this build
	// leaves out; "" where it leaves out none.
	FindCompanion func() (string, error)
}

// Main runs the command line and returns the exit code.
func Main(ctx context.Context, env Env, args []string) int {
	a := newApp(env)
	root := a.root(args)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if lost := a.out.lost; lost != nil { // whatever else there is to say: nobody read what was printed
		err = cannotPrint(lost)
	}
	return finished(ctx, a.errOut, a.columns(env.Stderr), err)
}

// app is one run of the command line.
type app struct {
	env Env
	// out and errOut are the streams of env, guarded where they are terminals.
	// Only exact bytes (export) and this program's own drawings (the progress,
	// the demo) go past them.
	out    *output
	errOut io.Writer
}

// output is what a command prints to. It keeps the first error, so that no print
// has to look for one.
type output struct {
	io.Writer
	lost error
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil && o.lost == nil {
		o.lost = err
	}
	return n, err
}

func newApp(env Env) *app {
	guard := func(w io.Writer) io.Writer {
		if _, ok := env.Terminal(w); ok {
			return text.TerminalWriter{W: w, Keep: ours}
		}
		return w
	}
	return &app{env: env, out: &output{Writer: guard(env.Stdout)}, errOut: guard(env.Stderr)}
}

// root returns the command line for args.
func (a *app) root(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "strandline",
		Short: "Keeps every byte of your coding agent's sessions and puts back what a compaction loses",
		Long: `Strandline records every session of Claude Code byte for byte, outside the client's
folder, and indexes it. When the context is compacted it puts back what matters next;
anything ever said comes back by search or by handle.

Start with:  strandline init     wire it into the client
             strandline import   bring in the sessions that exist
             strandline demo     see what it does, touching nothing of yours`,
		Version:       a.env.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(a.out)
	root.SetErr(a.errOut)
	root.SetIn(a.env.Stdin)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		msg, _, _ := strings.Cut(err.Error(), ": strconv.") // how Go reads numbers is no concern of the user's
		return wrongUsage(msg, "`"+cmd.CommandPath()+" --help` lists the flags")
	})
	root.AddGroup(
		&cobra.Group{ID: "setup", Title: "Setting up:"},
		&cobra.Group{ID: "find", Title: "Finding and reading:"},
		&cobra.Group{ID: "context", Title: "What a compaction gets:"},
		&cobra.Group{ID: "keep", Title: "Keeping the archive:"},
	)
	a.addCommands(root, args)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", fmt.Sprintf(".FlagUsagesWrapped %d ", helpWidth)))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err != nil {
					return err
				}
				return knownCommand(found, rest)
			}
		case "completion":
			c.Args, c.RunE = knownCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		a.complete(root)
	}
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		endHelp(c)
		help(c, args)
	})
	return root
}

// helpWidth is the width that help is written for: that of the narrowest
// terminal in use.
const helpWidth = 80

// fill breaks the paragraphs of a text anew; lines that are indented stay.
func fill(text string, width int) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			b.WriteString("\n\n")
		}
		if strings.HasPrefix(paragraph, " ") || strings.HasPrefix(paragraph, "\t") || strings.Contains(paragraph, "\n ") {
			b.WriteString(paragraph)
			continue
		}
		b.WriteString(strings.Join(wrap(paragraph, width), "\n"))
	}
	return b.String()
}

// endHelp ends the help of a command with the exit codes, unless it names its
// own. Breaking lines takes longer than some commands do, so it is left to when
// help is asked for.
func endHelp(c *cobra.Command) {
	if c.Long == "" {
		c.Long = c.Short + "."
	}
	if c.Long = fill(strings.TrimRight(c.Long, "\n"), helpWidth); !strings.Contains(c.Long, "Exit status:") {
		c.Long += exitHelp
	}
}

// wrongLetters is how many letters may be wrong in a name that is taken for
// another.
const wrongLetters = 2

// knownCommand refuses what is no command and names those that are spelled
// alike.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "`" + cmd.CommandPath() + " --help` lists the commands"
	cmd.SuggestionsMinimumDistance = wrongLetters
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return wrongUsage(fmt.Sprintf("%q is no command", args[0]), hint)
}
