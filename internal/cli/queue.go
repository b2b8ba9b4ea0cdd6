package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
)

func (a *commands) queueCommand() *cobra.Command {
	var typed string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "queue", Short: "Show what waits for a summary, and what has one", Args: arguments(),
		Long: `Show the queue of a session: segments that wait for a summary and those that have one.
--json prints it in the shape of context_queue/{session}_pending.json.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := a.app.SegmentQueue(cmd.Context(), typed)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(q)
			}
			fmt.Fprintf(a.out, "%s pending, %s compressed\n", count(len(q.Pending), "segment"), count(len(q.Compressed), "segment"))
			if len(q.Pending) == 0 {
				return nil
			}
			t := newTable("SEGMENT", "QUEUED", ">TOKENS", "TOPIC")
			for _, e := range q.Pending {
				t.row(e.ID, a.ago(e.QueuedAt), tokens(int64(e.OriginalTokens)), e.Topic)
			}
			return t.write(a.out, a.width())
		},
	}
	sessionFlag(cmd, &typed)
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *commands) segmentsReset() *cobra.Command {
	var typed string
	cmd := &cobra.Command{
		Use: "reset-check", Short: "Let the next hook look for cold work at once", Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := a.app.ResetSegmentCheck(cmd.Context(), typed)
			if err == nil {
				fmt.Fprintln(a.out, "The next hook of "+archive.ShortID(id)+" looks for cold work.")
			}
			return err
		},
	}
	sessionFlag(cmd, &typed)
	return cmd
}

func (a *commands) segmentsExport() *cobra.Command {
	var typed string
	cmd := &cobra.Command{
		Use: "export FOLDER", Short: "Write summaries as files that older tools read", Args: arguments("FOLDER"),
		Long: `Write the segments of a session into FOLDER: compressed_context/SEGMENT.json,
archived_context/SEGMENT.json, context_queue/SESSION_pending.json and _state.json, and for
each finished task its summary as md5("session:task").json. Files of the same name are
replaced.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := a.app.Abs(args[0])
			n, err := a.app.ExportSegments(cmd.Context(), typed, dir)
			if err == nil {
				fmt.Fprintf(a.out, "%s written to %s\n", count(n, "file"), dir)
			}
			return err
		},
	}
	sessionFlag(cmd, &typed)
	return cmd
}

func (a *commands) segmentsSearch() *cobra.Command {
	var warm, asJSON bool
	cmd := &cobra.Command{
		Use: "search WORDS", Short: "Find summaries, archived ones as well", Args: arguments("WORDS..."),
		Long: `Find summaries of finished work by their words, and see in which tier each one is.
strandline search --kind summary finds them among everything else.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := a.app.SearchSegments(cmd.Context(), strings.Join(args, " "), !warm)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(out)
			}
			if len(out) == 0 {
				fmt.Fprintln(a.out, "No summary holds any of these words.")
				return nil
			}
			t := newTable("SEGMENT", "WHERE", "TIER", "TOPIC")
			for _, j := range out {
				t.row(j.ID, j.Handle, string(j.Tier), j.Topic)
			}
			return t.write(a.out, a.width())
		},
	}
	cmd.Flags().BoolVar(&warm, "warm", false, "leave archived ones out")
	jsonFlag(cmd, &asJSON)
	return cmd
}
