package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/text"
)

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
