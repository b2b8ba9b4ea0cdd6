package cli

import (
	"github.com/spf13/cobra"
)

// mcpCommand serves models. The server itself is the door's: it links much that
// a hook has no use for.
func (a *commands) mcpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serve the archive to a model (MCP on stdin and stdout)",
		Long: `Serve the archive to a model: a server of the Model Context Protocol on stdin and
stdout, for any client that speaks it. Its tools search what was said and done, and give
the text of a handle whole. It ends when its stdin does.

` + "`strandline init`" + ` registers it. By hand, for this client or another one:

  claude mcp add --scope user strandline -- strandline mcp
  {"mcpServers": {"strandline": {"command": "strandline", "args": ["mcp"]}}}

Searches are limited to the project in CLAUDE_PROJECT_DIR, else to the one it is
started in, unless they ask for more.`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.env.Frontends == nil {
				return a.env.Companion(cmd.Context())
			}
			return a.env.Frontends.ServeMCP(cmd.Context())
		},
	}
}
