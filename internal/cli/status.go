package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
)

func (a *commands) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say what is kept, how large it is, and whether anything is missing",
		Args:  arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := a.app.Status(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(st)
			}
			a.printStatus(st)
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *commands) printStatus(st app.Status) {
	p, columns := a.paint(), a.columns(a.env.Stdout)
	styled := func(name, text string, style func(string) string) {
		hang(a.out, columns, p.dim(fmt.Sprintf("%-11s", name))+" ", 12, text, style)
	}
	line := func(name, text string) { styled(name, text, plain) }
	line("archive", st.Home)
	line("kept", fmt.Sprintf("%s of %s, %s to %s",
		runs(st.Sessions, st.Agents), count(st.Projects, "project"), a.stamp(st.First), a.stamp(st.Last)))
	if st.Older > 0 {
		line("", count(st.Older, "earlier generation")+" of transcripts that were rewritten")
	}
	line("", strings.Join([]string{count(st.Turns, "turn"), count(st.Steps, "step"), count(st.Calls, "tool call"),
		count(st.Compactions, "compaction"), count(st.Passages, "passage")}, " · "))
	ratio := ""
	if st.LogBytes > 0 {
		ratio = fmt.Sprintf(" (%.1f : 1)", float64(st.Bytes)/float64(st.LogBytes))
	}
	line("on disk", fmt.Sprintf("%s of transcripts in %s of logs%s, index %s", size(st.Bytes), size(st.LogBytes), ratio, size(st.IndexBytes)))
	if m := st.Measured; m != nil {
		text := fmt.Sprintf("the last %s kept %s of what was needed next", count(m.Compactions, "compaction"), percent(m.Kept))
		if m.Together > m.Kept {
			text += ", " + percent(m.Together) + " with what was given back"
		}
		line("compacted", text)
	}
	a.printMemory(st)
	if st.Pending {
		styled("pending", "a session waits to be indexed: `strandline maintain` does it now", p.yellow)
	}
	if st.Errors > 0 {
		styled("errors", fmt.Sprintf("%d in the last day: `strandline doctor` shows what happened", st.Errors), p.yellow)
	}
}
