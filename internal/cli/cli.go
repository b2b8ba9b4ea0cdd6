// Package cli is the command line. It parses flags, calls package app and prints the
// results. Exit codes and JSON shapes are a contract.
package cli

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/text"
)

// Options are the dependencies of the command line.
type Options struct {
	App    *app.App
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Terminal reports whether w is a terminal, and its width in columns.
	Terminal func(w io.Writer) (width int, ok bool)
	// Page shows a text on standard output, a terminal, with the user's pager. It reports
	// false, and shows nothing, if the text fits the screen or there is no pager. Page may
	// be nil.
	Page func(text []byte) bool
	// Frontends is nil in a program that does not link them; Companion runs the
	// command in one that does.
	Frontends Frontends
	// Companion replaces this process by the companion program. The arguments are
	// this process's.
	Companion func(ctx context.Context) error
	// RunProgram runs a program on this process's streams, forwards signals and
	// returns its exit code. env is added to the environment.
	RunProgram func(argv, env []string) (code int, err error)
	// StartProgram runs a program of PATH in dir in place of this process.
	StartProgram func(ctx context.Context, dir string, argv []string) error
}

// Frontends are the entry points that a lean program leaves out.
type Frontends interface {
	// ServeMCP serves MCP on stdin and stdout until stdin ends.
	ServeMCP(ctx context.Context) error
	// ServeHTTP serves HTTP until ctx ends.
	ServeHTTP(ctx context.Context, s Serving) error
	// Guard watches the client's transcripts until ctx ends. notice prints a line.
	Guard(ctx context.Context, notice func(line string)) error
	// Browse runs the terminal browser.
	Browse(ctx context.Context, b Browsing) error
	// Relay starts a gateway to an API.
	Relay(ctx context.Context, r Relay) (Relayed, error)
}

// Main runs the command line and returns the exit code.
func Main(ctx context.Context, o Options, args []string) int {
	a := newCommands(o)
	root := a.root(args)
	root.SetArgs(args)
	err := errors.Join(root.ExecuteContext(ctx), a.app.Close())
	a.showPage()
	if lost := a.out.err; lost != nil { // output was lost: this outweighs any other error
		err = cannotPrint(lost)
	}
	return finished(ctx, a.errOut, a.columns(o.Stderr), err)
}

// commands is one run of the command line.
type commands struct {
	env Options
	app *app.App
	// out and errOut are the output streams without control characters, unless --raw is
	// given: what is piped often ends on a terminal. Exact bytes (export), the progress
	// bar and the demo are written unfiltered.
	out    *output
	errOut io.Writer
	json   bool          // --json is given
	raw    bool          // --raw is given
	page   *bytes.Buffer // the output, if it is meant for a pager
}

func newCommands(o Options) *commands {
	return &commands{env: o, app: o.App, out: &output{Writer: guard(o, o.Stdout, o.Stdout)}, errOut: guard(o, o.Stderr, o.Stderr)}
}

// guard returns a writer to w for text that is printed on a stream.
func guard(o Options, w, stream io.Writer) io.Writer {
	_, terminal := o.Terminal(stream)
	return text.TerminalWriter{W: w, Keep: func(params string) bool { return terminal && isOwnColor(params) }}
}

// pagerKey marks the commands whose output goes to a pager if it is longer than the
// terminal.
const pagerKey = "pager"

// paged marks a command for the pager.
func (a *commands) paged(cmd *cobra.Command) { cmd.Annotations = map[string]string{pagerKey: ""} }

// collectPage collects the output of a command for the pager.
func (a *commands) collectPage(cmd *cobra.Command) {
	_, marked := cmd.Annotations[pagerKey]
	if !marked || a.json || a.env.Page == nil || a.columns(a.env.Stdout) == 0 {
		return
	}
	a.page = &bytes.Buffer{}
	if a.out.Writer = guard(a.env, a.page, a.env.Stdout); a.raw {
		a.out.Writer = a.page
	}
}

// showPage shows the collected output.
func (a *commands) showPage() {
	if a.page == nil || a.env.Page(a.page.Bytes()) {
		return
	}
	a.out.Writer = a.env.Stdout
	_, _ = a.out.Write(a.page.Bytes()) // the stream keeps its error
}

// root returns the command line for args.
func (a *commands) root(args []string) *cobra.Command {
	root := &cobra.Command{
		Use: "strandline", Short: "Archives your coding agent's sessions and restores context after compactions",
		Version:       a.app.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentFlags().BoolVar(&a.raw, "raw", false, "print control characters of archived text as they are")
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		if a.raw {
			a.out.Writer = a.env.Stdout
		}
		a.collectPage(cmd)
	}
	root.SetOut(a.out)
	root.SetErr(a.errOut)
	root.SetIn(a.env.Stdin)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		msg, _, _ := strings.Cut(err.Error(), ": strconv.") // drop the error of package strconv
		return wrongUsage(msg, "`"+cmd.CommandPath()+" --help` lists the flags")
	})
	addCommands(root, a.named(args)...)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", fmt.Sprintf(".FlagUsagesWrapped %d ", helpWidth)))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			explain := c.Run
			c.Run = func(cmd *cobra.Command, args []string) {
				if !slices.Equal(args, []string{helpAll}) {
					explain(cmd, args)
					return
				}
				a.printHelp(root, helpGroups())
			}
			c.Args = func(_ *cobra.Command, args []string) error {
				if slices.Equal(args, []string{helpAll}) {
					return nil
				}
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
		if c == root {
			a.printHelp(root, helpGroups()[:everyday])
			return
		}
		describe(c)
		help(c, args)
	})
	return root
}

// helpWidth is the width of help texts in columns.
const helpWidth = 80

// fill wraps the paragraphs of a text. Indented lines stay.
func fill(text string, width int) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if !strings.HasPrefix(p, " ") && !strings.HasPrefix(p, "\t") && !strings.Contains(p, "\n ") {
			paragraphs[i] = strings.Join(wrap(p, width), "\n")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// helpTexts holds the description of each command that has more than one line, in a file
// with the words of the command, such as "model-add.txt".
//
//go:embed help
var helpTexts embed.FS

func helpFile(c *cobra.Command) string {
	return "help/" + strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "strandline "), " ", "-") + ".txt"
}

// describe sets a command's help: its description, wrapped, and the exit codes, unless it
// lists its own. It runs only when help is printed, since it takes longer than some commands.
func describe(c *cobra.Command) {
	if data, err := helpTexts.ReadFile(helpFile(c)); err == nil {
		c.Long = string(data)
	}
	c.Long = fill(strings.TrimRight(cmp.Or(c.Long, c.Short+"."), "\n"), helpWidth)
	if !strings.Contains(c.Long, "Exit status:") {
		c.Long += exitHelp
	}
}

// maxTypos is the maximum edit distance of suggested commands.
const maxTypos = 2

// knownCommand rejects unknown commands and suggests similar ones.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "`" + cmd.CommandPath() + " --help` lists the commands"
	cmd.SuggestionsMinimumDistance = maxTypos
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return wrongUsage(fmt.Sprintf("%q is not a command", args[0]), hint)
}
