package cli

import "github.com/spf13/cobra"

// command is one of the command line's, before it is made.
type command struct {
	name, group string // group is "" for those that the help does not list in one
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

// addCommands adds the command that args name, or all where they name none:
// making forty commands takes half a millisecond, which a hook's compaction has
// better uses for.
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
		root.AddCommand(cmd)
	}
}
