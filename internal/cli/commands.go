package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/text"
)

// command is a command before it is made.
type command struct {
	group      string // of helpGroups, "" for a subcommand
	use, short string // the usage line and the first line of the help
	setUp      func(*cobra.Command)
}

// build makes the command. Its arguments are checked by the names in its usage line,
// unless setUp sets a check.
func (c command) build() *cobra.Command {
	cmd := &cobra.Command{Use: c.use, Short: c.short}
	c.setUp(cmd)
	switch {
	case cmd.Args != nil:
	case cmd.HasSubCommands():
		cmd.Args = knownCommand
	default:
		cmd.Args = arguments(strings.Fields(cmd.Use)[1:]...)
	}
	return cmd
}

// addCommands adds subcommands to a command.
func addCommands(parent *cobra.Command, list ...command) {
	for _, c := range list {
		parent.AddCommand(c.build())
	}
}

// commands lists the commands in the order of the help.
func (a *commands) commands() []command {
	return []command{
		{"day", "search QUERY", "Search prompts, replies, commands, edits and outputs", a.searchCommand},
		{"day", "show HANDLE", "Print a session's outline, or a turn or step in full", a.showCommand},
		{"day", "sessions", "List archived sessions, newest first", a.sessionsCommand},
		{"day", "resume HANDLE [-- ARGUMENT...]", "Start the client in a session; restore lost files first", a.resumeCommand},
		{"day", "handoff [HANDLE]", "Print a session's record for another client, or start that", a.handoffCommand},
		{"day", "timeline [SESSION]", "Show a session over time: turns, tasks, compactions, tokens", a.timelineCommand},
		{"day", "files [PATH]", "List a file's history, or the files that a session touched", a.filesCommand},
		{"day", "fix ERROR", "Show the commands run after an error before, and whether they helped", a.fixCommand},
		{"day", "how WORDS", "List the commands that did it, with their outcome", a.howCommand},
		{"day", "restore-file PATH", "Write a file's content as a session last saw it", a.restoreFileCommand},
		{"day", "browse [QUERY]", "Search as you type, and read the hits", a.browseCommand},
		{"day", "share HANDLE", "Write a session or a turn as one readable file, redacted", a.shareCommand},
		{"day", "remember TEXT", "Remember a note, for searches and restored contexts", a.rememberCommand},
		{"day", "stats [SESSION]", "Show tokens and cost by day, model and project, and failing tools", a.statsCommand},
		{"day", "serve", "Serve the archive over HTTP: a web page and a JSON API", a.serveCommand},
		{"day", "status", "Report the archive's contents, size and gaps", a.statusCommand},
		{"day", "projects", "List the projects of archived sessions", a.projectsCommand},
		{"setup", "init", "Add Strandline to the client's settings", a.initCommand},
		{"setup", "import [PATH...]", "Add the sessions that the client has on disk", a.importCommand},
		{"setup", "doctor", "Check the installation and show recent errors", a.doctorCommand},
		{"setup", "config", "Print every setting, its value and its source", a.configCommand},
		{"setup", "demo", "Show what Strandline does in seconds, changing nothing of yours", a.demoCommand},
		{"setup", "uninstall", "Remove Strandline from the client's settings; the archive stays", a.uninstallCommand},
		{"more", "compactions [SESSION]", "List compactions and how much of the needed context they kept", a.compactionsCommand},
		{"more", "tasks [SESSION]", "List a session's tasks and their states", a.tasksCommand},
		{"more", "segments", "List segments of finished work and their summaries", a.segmentsCommand},
		{"more", "queue", "Show a session's segments with and without a summary", a.queueCommand},
		{"more", "export [SESSION]", "Write the exact bytes of a session's transcript, or its turns as JSON", a.exportCommand},
		{"more", "rebuild SESSION", "Restore a deleted session's files, to resume it", a.rebuildCommand},
		{"more", "mcp", "Serve the archive to a model (MCP on stdin and stdout)", a.mcpCommand},
		{"context", "restore", "Print the context that a compaction of a session gets back", a.restoreCommand},
		{"context", "preserve", "Print the steering text for the client's summarizer", a.preserveCommand},
		{"context", "compact", "Print the replacement for a conversation", a.compactCommand},
		{"context", "gateway", "Run a proxy between client and API that keeps the context small", a.gatewayCommand},
		{"context", "run [flags] -- PROGRAM [ARGUMENT…]", "Start a client with its own gateway", a.runCommand},
		{"keep", "maintain", "Do a maintenance run: index, embed, learn, seal idle logs", a.maintainCommand},
		{"keep", "guard", "Capture transcripts as they are written, without hooks", a.guardCommand},
		{"keep", "verify [SESSION]", "Check every byte of the logs, also against the client's files", a.verifyCommand},
		{"keep", "reindex", "Rebuild the index from the logs and the journal", a.reindexCommand},
		{"keep", "scan [SESSION]", "List where the logs hold secrets, by kind and line, never a value", a.scanCommand},
		{"keep", "forget SESSION|HANDLE", "Delete a session, a turn or a step for good, with proof", a.forgetCommand},
		{"keep", "sync", "Push this archive to the team's, in PostgreSQL", a.syncCommand},
		{"keep", "archive", "Bring the archives of your machines together", a.archiveCommand},
		{"keep", "model", "Add, choose and remove embedding models", a.modelCommand},
		{"client", "hook", "Answer a hook of the client (stdin holds the event)", a.hookHelp},
		{"client", "statusline", "Print the client's statusline (stdin holds its state)", a.statuslineHelp},
		{"client", "version", "Print the version", a.versionCommand},
		{"client", "early TOKENS WINDOW", "Say whether the plugin should compact now", a.earlyCommand},
		{"client", "catchup", "Finish the work that a hook deferred", a.catchupCommand},
	}
}

// named returns the command that args names, or else all. Making all forty takes half a
// millisecond, which counts in a compaction that a hook waits for.
func (a *commands) named(args []string) []command {
	all := a.commands()
	if len(args) > 0 {
		if i := slices.IndexFunc(all, func(c command) bool { return strings.Fields(c.use)[0] == args[0] }); i >= 0 {
			return all[i : i+1]
		}
	}
	return all
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

// scopeFlags adds --project, with its help text, and --all.
func scopeFlags(f *pflag.FlagSet, s *app.Scope, project string) {
	f.StringVar(&s.Name, "project", "", project)
	f.BoolVar(&s.All, "all", false, "all projects")
}

func (a *commands) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print JSON")
}

// limitFlag adds --limit, whose value is checked before the command runs.
func limitFlag(cmd *cobra.Command, v *int, normal int, usage string) {
	cmd.Flags().IntVarP(v, "limit", "n", normal, usage)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if *v < 0 {
			return wrongUsage("--limit takes a number from 0 up", "")
		}
		return nil
	}
}

// completed is the number of sessions that a shell is offered, the newest.
const completed = 50

// complete registers the values of flags and arguments. Only completion requests of a
// shell call it.
func (a *commands) complete(root *cobra.Command) {
	fixed := map[string][]string{
		"kind":   texts(archive.QueryKinds()),
		"role":   texts(compact.Roles()),
		"scope":  app.WiringScopes(),
		"format": {"json", "text"},
		"from":   {"claude", "ruflo", "compressed-context", "knowledge-db"},
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
			_, arguments, _ := strings.Cut(c.Use, " ")
			switch argument, _, _ := strings.Cut(strings.Trim(arguments, "[]"), " "); {
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
