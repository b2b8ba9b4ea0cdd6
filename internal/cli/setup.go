package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// printJSON writes v as indented JSON.
func (a *commands) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return cannotPrint(err)
	}
	return nil
}

// arguments is a check that a command gets the arguments that its usage line
// names; one in brackets may be missing, one that ends in dots may be repeated.
func arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		hint := "usage: " + cmd.UseLine()
		many := len(names) > 0 && strings.HasSuffix(names[len(names)-1], "...")
		switch {
		case len(args) > len(names) && !many:
			return wrongUsage(fmt.Sprintf("%q is one argument too many", args[len(names)]), hint)
		case len(args) < len(names) && !strings.HasPrefix(names[len(args)], "["):
			return wrongUsage(strings.TrimSuffix(names[len(args)], "...")+" is missing", hint)
		}
		return nil
	}
}

func sessionFlag(cmd *cobra.Command, v *string) {
	cmd.Flags().StringVar(v, "session", "", "session or handle (default: the last session of this project)")
}

func jsonFlag(cmd *cobra.Command, v *bool) {
	cmd.Flags().BoolVar(v, "json", false, "print JSON for scripts")
}
