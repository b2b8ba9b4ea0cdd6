package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/text"
)

// command is a command before it is made.
type command struct {
	name, group string // group is "" for commands that the help lists under no heading
	make        func() *cobra.Command
}

// commands lists them in the order of the help.
func (a *commands) commands() []command {
	return []command{
		{"init", "setup", a.initCommand},
		{"uninstall", "setup", a.uninstallCommand},
		{"import", "setup", a.importCommand},
		{"doctor", "setup", a.doctorCommand},
		{"config", "setup", a.configCommand},
		{"demo", "setup", a.demoCommand},
		{"sessions", "find", a.sessionsCommand},
		{"search", "find", a.searchCommand},
		{"browse", "find", a.browseCommand},
		{"show", "find", a.showCommand},
		{"export", "find", a.exportCommand},
		{"rebuild", "find", a.rebuildCommand},
		{"tasks", "find", a.tasksCommand},
		{"segments", "find", a.segmentsCommand},
		{"queue", "find", a.queueCommand},
		{"timeline", "find", a.timelineCommand},
		{"files", "find", a.filesCommand},
		{"stats", "find", a.statsCommand},
		{"projects", "find", a.projectsCommand},
		{"mcp", "find", a.mcpCommand},
		{"serve", "find", a.serveCommand},
		{"gateway", "context", a.gatewayCommand},
		{"run", "context", a.runCommand},
		{"restore", "context", a.restoreCommand},
		{"preserve", "context", a.preserveCommand},
		{"compact", "context", a.compactCommand},
		{"compactions", "context", a.compactionsCommand},
		{"status", "keep", a.statusCommand},
		{"verify", "keep", a.verifyCommand},
		{"reindex", "keep", a.reindexCommand},
		{"maintain", "keep", a.maintainCommand},
		{"forget", "keep", a.forgetCommand},
		{"sync", "keep", a.syncCommand},
		{"model", "keep", a.modelCommand},
		{"version", "", a.versionCommand},
		{"hook", "", a.hookHelp},
		{"statusline", "", a.statuslineHelp},
		{"early", "", a.earlyCommand},
		{"catchup", "", a.catchupCommand},
	}
}

// addCommands adds the command that args names, or else all. Making all forty takes
// half a millisecond, which counts in a compaction that a hook waits for.
func (a *commands) addCommands(root *cobra.Command, args []string) {
	all := a.commands()
	if len(args) > 0 {
		for i, c := range all {
			if c.name == args[0] {
				all = all[i : i+1]
				break
			}
		}
	}
	for _, c := range all {
		cmd := c.make()
		cmd.GroupID = c.group
		checkArguments(cmd)
		root.AddCommand(cmd)
	}
}

// checkArguments makes a command and its subcommands check their arguments, by the
// names in their usage lines.
func checkArguments(cmd *cobra.Command) {
	switch {
	case cmd.Args != nil:
	case cmd.HasSubCommands():
		cmd.Args = knownCommand
	default:
		cmd.Args = arguments(strings.Fields(cmd.Use)[1:]...)
	}
	for _, c := range cmd.Commands() {
		checkArguments(c)
	}
}

// arguments returns a check of the arguments that a usage line names. A name in
// brackets is optional; one that ends in dots may be repeated.
func arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		hint := "usage: " + cmd.UseLine()
		many := len(names) > 0 && strings.Contains(names[len(names)-1], "...")
		switch {
		case len(args) > len(names) && !many:
			return wrongUsage(fmt.Sprintf("%q is one argument too many", args[len(names)]), hint)
		case len(args) < len(names) && !strings.HasPrefix(names[len(args)], "["):
			return wrongUsage(strings.TrimSuffix(names[len(args)], "...")+" is missing", hint)
		}
		return nil
	}
}

// argument returns an optional argument, or "".
func argument(args []string) string { return strings.Join(args, "") }

func sessionFlag(cmd *cobra.Command, v *string) {
	cmd.Flags().StringVar(v, "session", "", "session or handle (default: the last session of this project)")
}

func (a *commands) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print JSON")
}

func checkLimit(n int) error {
	if n < 0 {
		return wrongUsage("--limit takes a number from 0 up", "")
	}
	return nil
}

// completed is the number of sessions that a shell is offered, the newest.
const completed = 50

// complete registers the values of flags and arguments. Only completion requests of a
// shell call it.
func (a *commands) complete(root *cobra.Command) {
	fixed := map[string][]string{
		"kind":   texts(archive.PassageKinds()),
		"role":   texts(compact.Roles()),
		"scope":  app.WiringScopes(),
		"format": {"json", "text"},
		"from":   {"claude", "compressed-context", "knowledge-db"},
	}
	for _, cmd := range root.Commands() {
		for _, c := range append(cmd.Commands(), cmd) {
			for flag, values := range fixed {
				if c.Flags().Lookup(flag) != nil {
					_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
				}
			}
			if c.Flags().Lookup("session") != nil {
				_ = c.RegisterFlagCompletionFunc("session", a.completeSession) // as above
			}
			switch argument := strings.Trim(argumentOf(c), "[]"); {
			case strings.HasPrefix(argument, "SESSION") || argument == "HANDLE":
				c.ValidArgsFunction = first(a.completeSession)
			case argument == "KEY":
				c.ValidArgsFunction = first(a.completeKey)
			}
		}
	}
}

func texts[T ~string](values []T) (out []string) {
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

// argumentOf returns the first argument in a command's usage line.
func argumentOf(c *cobra.Command) string {
	if words := strings.Fields(c.Use); len(words) > 1 {
		return words[1]
	}
	return ""
}

// first offers values for the first argument only.
func first(of cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return of(cmd, args, typed)
	}
}

func (a *commands) completeSession(cmd *cobra.Command, _ []string, typed string) (out []string, _ cobra.ShellCompDirective) {
	list, _ := a.app.Sessions(cmd.Context(), app.SessionsQuery{Scope: app.Scope{All: true}, Limit: completed}) // a shell prints no errors
	for _, s := range list {
		if strings.HasPrefix(s.Handle, typed) {
			out = append(out, cobra.CompletionWithDesc(s.Handle, text.TruncateCells(oneLine(s.Title), 60)))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func (a *commands) completeKey(_ *cobra.Command, _ []string, typed string) (out []string, _ cobra.ShellCompDirective) {
	cfg, _ := a.app.Settings() // fallbacks have keys as well
	for _, e := range cfg.Entries() {
		if strings.HasPrefix(e.Key, typed) {
			out = append(out, e.Key)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
