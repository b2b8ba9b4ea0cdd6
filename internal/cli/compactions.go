package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/app"
)

// compactionsFlags are those of the compactions command.
type compactionsFlags struct {
	session, dir string
	all, asJSON  bool
	limit        int
}

func (a *commands) compactionsCommand() *cobra.Command {
	var f compactionsFlags
	cmd := &cobra.Command{
		Use:   "compactions",
		Short: "List compactions and how much of what was needed next they kept",
		Long: `List the compactions of this project's sessions, newest first, and how much of what
the session needed next was still there. Needed are paths, identifiers, flags, versions
and hashes that it knew before and used between this compaction and the next one.

KEPT is the share of them that the client's summary conveys, or Strandline's text where
CAUSE says ours; BACK is the share that the restored block conveys, in brackets where none
was given and it would have been; BOTH is what the two convey together. USED counts the
places given back that brought something which the summary lacked and the session used.
A dash says that too little was used to tell. --json names the places.`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.compactions(cmd.Context(), f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.session, "session", "", "only this session, or a handle of it")
	fl.StringVar(&f.dir, "project", "", "of the project in this folder instead of the one you stand in")
	fl.BoolVar(&f.all, "all", false, "of all projects")
	fl.IntVarP(&f.limit, "limit", "n", 20, "at most this many (0: no limit)")
	jsonFlag(cmd, &f.asJSON)
	return cmd
}

func (a *commands) compactions(ctx context.Context, f compactionsFlags) error {
	if f.limit < 0 {
		return wrongUsage("--limit takes a number from 0 up", "")
	}
	if f.all && (f.dir != "" || f.session != "") || f.dir != "" && f.session != "" {
		return wrongUsage("--all, --project and --session exclude each other", "")
	}
	list, err := a.app.Compactions(ctx, app.CompactionsQuery{Session: f.session, Scope: app.Scope{All: f.all, Dir: f.dir}, Limit: f.limit})
	if err != nil {
		return err
	}
	if f.asJSON {
		return a.printJSON(list)
	}
	return a.printCompactions(list, f)
}

func (a *commands) printCompactions(list []app.Compaction, f compactionsFlags) error {
	if len(list) == 0 {
		where := "No compaction in the sessions of this project. `strandline compactions --all` lists those of all."
		if f.all || f.session != "" {
			where = "No compaction."
		}
		fmt.Fprintln(a.out, where)
		return nil
	}
	t := newTable("TURN", "WHEN", ">TOKENS", ">TOOK", ">KEPT", ">BACK", ">BOTH", ">USED", "CAUSE")
	for _, j := range list {
		o, c := j.Outcome, j.Outcome.Compaction
		cause := c.Trigger
		if c.Ours {
			cause += ", ours"
		}
		kept, back, both, used := "-", "-", "-", "-"
		if o.HasShares {
			kept, both = percent(o.Kept), percent(o.Together)
		}
		switch {
		case o.HasShares && o.Given && !c.Ours:
			back, used = percent(o.Restored), fmt.Sprintf("%d/%d", len(o.Used), len(o.Handles))
		case o.HasShares && !c.Ours:
			back = "(" + percent(o.Restored) + ")"
		}
		t.row(j.Handle, a.format(c.Time, "01-02 15:04"), kilo(c.PreTokens)+"→"+kilo(c.PostTokens), took(c.Duration), kept, back, both, used, cause)
	}
	return t.write(a.out, a.width())
}

func percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

// kilo writes a number of tokens in thousands, which is as exact as it needs.
func kilo(n int64) string {
	switch {
	case n <= 0:
		return "-"
	case n < 1000:
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.0fk", float64(n)/1000)
}

// took writes how long a compaction lasted.
func took(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return fmt.Sprintf("%.0fs", d.Seconds())
}
