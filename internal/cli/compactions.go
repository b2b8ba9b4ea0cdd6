package cli

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
	"strandline/internal/compact"
)

// compactionJSON is a compaction with its outcome, for scripts. Shares are null
// where too little was used afterwards to tell.
type compactionJSON struct {
	Session    string    `json:"session"`
	Handle     string    `json:"handle"`
	Index      int       `json:"index"`
	Line       int       `json:"line"`
	Time       time.Time `json:"time"`
	Trigger    string    `json:"trigger"`
	Ours       bool      `json:"ours"`
	PreTokens  int64     `json:"pre_tokens"`
	PostTokens int64     `json:"post_tokens"`
	DurationMS int64     `json:"duration_ms"`
	Needed     int       `json:"needed"`
	Kept       *float64  `json:"kept"`
	Restored   *float64  `json:"restored"`
	Together   *float64  `json:"together"`
	Given      bool      `json:"given"`
	Handles    []string  `json:"handles"`
	Used       []string  `json:"used"`
}

func toCompactionJSON(o compact.Outcome) compactionJSON {
	c := o.Compaction
	j := compactionJSON{
		Session: c.Session, Handle: turnHandle(c), Index: c.Index, Line: c.Line, Time: c.Time, Trigger: c.Trigger, Ours: c.Ours,
		PreTokens: c.PreTokens, PostTokens: c.PostTokens, DurationMS: c.Duration.Milliseconds(),
		Needed: o.Needed, Given: o.Given, Handles: append([]string{}, o.Handles...), Used: append([]string{}, o.Used...),
	}
	if !o.Told {
		return j
	}
	j.Kept, j.Together = rounded(o.Kept), rounded(o.Together)
	if !c.Ours {
		j.Restored = rounded(o.Restored)
	}
	return j
}

// rounded returns a share with three decimals, which is more than it tells.
func rounded(share float64) *float64 {
	share = math.Round(share*1000) / 1000
	return &share
}

func turnHandle(c archive.Compaction) string {
	return archive.Ref{Session: c.Session, Turn: c.Turn, Step: -1}.Handle()
}

// compactionsFlags are those of the compactions command.
type compactionsFlags struct {
	session, dir string
	all, asJSON  bool
	limit        int
}

func (a *app) compactionsCommand() *cobra.Command {
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

func (a *app) compactions(ctx context.Context, f compactionsFlags) error {
	if f.limit < 0 {
		return wrongUsage("--limit takes a number from 0 up", "")
	}
	if f.all && (f.dir != "" || f.session != "") || f.dir != "" && f.session != "" {
		return wrongUsage("--all, --project and --session exclude each other", "")
	}
	return a.withStore(ctx, StoreRead, func(x indexed) error {
		sessions, err := a.compacted(ctx, x, f)
		if err != nil {
			return err
		}
		list, err := a.outcomes(ctx, x, sessions, f.limit)
		if err != nil {
			return err
		}
		if f.asJSON {
			out := make([]compactionJSON, 0, len(list))
			for _, o := range list {
				out = append(out, toCompactionJSON(o))
			}
			return a.printJSON(out)
		}
		return a.printCompactions(list, f)
	})
}

// compacted returns the sessions that the flags select.
func (a *app) compacted(ctx context.Context, x indexed, f compactionsFlags) ([]archive.Session, error) {
	if f.session != "" {
		_, id, err := session(ctx, x.store, f.session)
		if err != nil {
			return nil, err
		}
		s, err := x.store.Session(ctx, id)
		return []archive.Session{s}, err
	}
	filter := archive.SessionFilter{Agents: true}
	if !f.all {
		dir := a.projectRoot()
		if f.dir != "" {
			dir = a.abs(f.dir)
		}
		filter.Projects = []string{x.capture.Project(dir).Key}
	}
	return x.store.Sessions(ctx, filter)
}

// againFor returns what makes a conversation of ours again.
func (a *app) againFor(x indexed) compact.Again {
	return func(ctx context.Context, c archive.Compaction, budget int) (string, error) {
		out, req, err := a.replaceArchived(ctx, x, c.Session, c.Line, budget)
		if err != nil {
			return "", err
		}
		return out.Print(req), nil
	}
}

func (a *app) printCompactions(list []compact.Outcome, f compactionsFlags) error {
	if len(list) == 0 {
		where := "No compaction in the sessions of this project. `strandline compactions --all` lists those of all."
		if f.all || f.session != "" {
			where = "No compaction."
		}
		fmt.Fprintln(a.out, where)
		return nil
	}
	t := newTable("TURN", "WHEN", ">TOKENS", ">TOOK", ">KEPT", ">BACK", ">BOTH", ">USED", "CAUSE")
	for _, o := range list {
		c := o.Compaction
		cause := c.Trigger
		if c.Ours {
			cause += ", ours"
		}
		kept, back, both, used := "-", "-", "-", "-"
		if o.Told {
			kept, both = percent(o.Kept), percent(o.Together)
		}
		switch {
		case o.Told && o.Given && !c.Ours:
			back, used = percent(o.Restored), fmt.Sprintf("%d/%d", len(o.Used), len(o.Handles))
		case o.Told && !c.Ours:
			back = "(" + percent(o.Restored) + ")"
		}
		t.row(turnHandle(c), a.format(c.Time, "01-02 15:04"), kilo(c.PreTokens)+"→"+kilo(c.PostTokens), took(c.Duration), kept, back, both, used, cause)
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
