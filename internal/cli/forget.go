package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/app/maintenance"
	"strandline/internal/archive"
)

// forgetJSON is what `forget` would delete, or has deleted, for scripts.
type forgetJSON struct {
	Session string    `json:"session"`
	Title   string    `json:"title,omitempty"`
	Project string    `json:"project,omitempty"`
	First   time.Time `json:"first,omitzero"`
	Last    time.Time `json:"last,omitzero"`
	Turns   int       `json:"turns"`
	Bytes   int64     `json:"bytes"` // of transcripts
	Logs    int       `json:"logs"`
	Facts   int       `json:"facts"` // of the journal
	// Related are sessions that share rows with it: forks, and what it is a fork of.
	Related []string `json:"related"`
	forgottenJSON
}

// forgottenJSON is what became of a deletion.
type forgottenJSON struct {
	// Client is the client's own transcript where it still exists. It stays.
	Client string             `json:"client_file,omitempty"`
	Done   bool               `json:"done"`
	Proof  *maintenance.Proof `json:"proof,omitempty"`
}

type forgetFlags struct {
	yes, dryRun, asJSON bool
	prove               []string
}

func (a *commands) forgetCommand() *cobra.Command {
	var f forgetFlags
	cmd := &cobra.Command{
		Use:   "forget SESSION|HANDLE",
		Short: "Delete a session, a turn or a step for good, with proof",
		Long: `Delete a session for good: its logs with all generations, its sub-agents' logs and side
files, what the journal holds of it, its state, and with a rebuilt index every row, text
and vector. Afterwards every file of the archive is read, logs decompressed, and searched
for texts of the session; what was looked at is printed.

Of a turn (7f3a12cd/12) or a step (7f3a12cd/12.3) the lines go out of the logs, also out
of forks that hold copies of them; a line stands for it, so that all others keep their
numbers. With it go the files that only it names, the client's notes that repeat its
words, and summaries of it in the journal. What the conversation said of it elsewhere
stays, and is listed.

The client's own transcript is not touched. While it exists nothing takes it in again: no
import, no hook, also not if that session goes on. What other sessions hold of a session, a
fork's copies above all, stays until they are forgotten as well.

It shows what would go and asks. If it is interrupted, the same command, or the next pass
of upkeep, goes on where it ended.`,
		Args: arguments("SESSION|HANDLE"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.forget(cmd.Context(), args[0], f) },
	}
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would go and delete nothing")
	cmd.Flags().StringArrayVar(&f.prove, "prove", nil, "also look for this text afterwards (repeatable)")
	jsonFlag(cmd, &f.asJSON)
	return cmd
}

func (a *commands) forget(ctx context.Context, typed string, f forgetFlags) error {
	if f.asJSON && !f.yes && !f.dryRun {
		return wrongUsage("--json cannot ask", "add --yes or --dry-run")
	}
	r, err := a.app.Workspace()
	if err != nil {
		return err
	}
	if h, err := archive.ParseHandle(typed); err == nil && h.Turn >= 0 {
		return a.forgetPart(ctx, r, typed, f)
	}
	plan, samples, err := a.forgetPlan(ctx, r, typed)
	if err != nil {
		return err
	}
	return a.carryOut(ctx, r, f, deletion{
		plan: &plan, outcome: &plan.forgottenJSON, samples: samples, elsewhere: "other sessions' logs",
		show: func() { a.printForget(plan) },
		erase: func() error {
			if err := forgetter(r).Begin(ctx, plan.Session, archive.ForgetAsked); err != nil {
				return err
			}
			return a.erase(ctx, r, []string{plan.Session})
		},
	})
}

// deletion is something that is to be deleted for good.
type deletion struct {
	plan      any            // for scripts; it holds outcome
	outcome   *forgottenJSON // what became of it
	show      func()         // prints the plan for a person
	erase     func() error   // called under the lock of upkeep
	samples   []string       // texts of it, to look for afterwards
	elsewhere string         // which logs may hold these still
}

// carryOut shows a deletion, asks, deletes and proves it, as far as the flags say.
func (a *commands) carryOut(ctx context.Context, r app.Workspace, f forgetFlags, d deletion) error {
	if f.dryRun && f.asJSON {
		return a.printJSON(d.plan)
	}
	if !f.asJSON {
		d.show()
	}
	if f.dryRun {
		fmt.Fprintln(a.out, "Nothing was deleted.")
		return nil
	}
	if !f.yes && !a.agreed("Delete it for good? Type yes: ") {
		fmt.Fprintln(a.out, "Nothing was deleted.")
		return silentError{ExitInternal}
	}
	lock, err := r.Lock("maintain", "pass of upkeep")
	if err != nil {
		return err
	}
	defer lock.Release() // it ends with the process in any case
	if err := d.erase(); err != nil {
		return err
	}
	d.outcome.Done = true
	proof, err := maintenance.Prove(ctx, r.Config.Paths.Home, append(d.samples, f.prove...))
	if err != nil {
		return err
	}
	d.outcome.Proof = &proof
	if f.asJSON {
		err = a.printJSON(d.plan)
	} else {
		a.printProof(proof, d.elsewhere)
	}
	if err == nil && len(proof.Left) > 0 {
		err = silentError{ExitCorrupt}
	}
	return err
}

func forgetter(r app.Workspace) maintenance.Forgetter {
	return maintenance.Forgetter{Capture: r.Capture, Journal: r.Journal, State: r.Config.Paths.State()}
}

// erase deletes what is left of sessions that are forgotten.
func (a *commands) erase(ctx context.Context, r app.Workspace, sessions []string) error {
	if len(sessions) == 0 {
		return nil
	}
	if _, err := forgetter(r).Erase(ctx, sessions); err != nil {
		return err
	}
	if err := a.rederive(ctx, r); err != nil {
		return err
	}
	return forgetter(r).Done(sessions)
}

// rederive builds what is derived anew: rows, texts and vectors that a database
// only marks as free would still stand in its file.
func (a *commands) rederive(ctx context.Context, r app.Workspace) error {
	embedded, err := a.hasVectors(ctx, r)
	if err != nil {
		return err
	}
	if _, _, err := a.rebuildIndex(ctx, r); err != nil {
		return err
	}
	if err := dropFlat(r); err != nil {
		return err
	}
	if embedded {
		err := a.app.WithIndex(ctx, r, app.ReadWrite, func(x app.Archive) error {
			_, err := a.app.EmbedAll(ctx, x)
			return err
		})
		if err != nil {
			fmt.Fprintf(a.errOut, "note: the vectors are not whole: %s; `strandline maintain` makes the rest\n", app.ErrorText(err))
		}
	}
	return nil
}

// hasVectors reports that the index holds vectors, which a rebuilt one does not.
func (a *commands) hasVectors(ctx context.Context, r app.Workspace) (has bool, err error) {
	if _, err := os.Stat(r.Config.Paths.Index()); err != nil {
		return false, nil //nolint:nilerr // no index, no vectors
	}
	err = a.app.WithIndex(ctx, r, app.ReadOnly, func(x app.Archive) error {
		sets, err := x.Index.VectorSets(ctx)
		has = len(sets) > 0
		return err
	})
	return has, err
}

// dropFlat removes what is derived from vectors; the next search or pass writes it
// anew.
func dropFlat(r app.Workspace) error {
	entries, err := os.ReadDir(r.Config.Paths.Vectors())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.Name() != ".lock" { // who writes there holds it
			err = errors.Join(err, os.RemoveAll(filepath.Join(r.Config.Paths.Vectors(), e.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("delete vectors: %w", err)
	}
	return nil
}

// forgetPlan finds what would be deleted and takes samples of it. A session that an
// interrupted call left half deleted is found by its name in what was forgotten.
func (a *commands) forgetPlan(ctx context.Context, r app.Workspace, typed string) (forgetJSON, []string, error) {
	h, err := archive.ParseHandle(typed)
	if err != nil {
		return forgetJSON{}, nil, err
	}
	if archive.IsAgentID(h.Session) {
		return forgetJSON{}, nil, wrongUsage("a sub-agent's run is not forgotten by itself", "it goes with its session, or with the turn that started it")
	}
	known, err := r.Capture.Forgotten().List()
	if err != nil {
		return forgetJSON{}, nil, err
	}
	for id := range known {
		if id == h.Session || len(h.Session) >= 8 && strings.HasPrefix(id, h.Session) {
			return forgetJSON{Session: id, Related: []string{}}, nil, nil
		}
	}
	plan := forgetJSON{Related: []string{}}
	var samples []string
	err = a.app.WithIndex(ctx, r, app.ReadOnly, func(x app.Archive) error {
		_, id, err := app.ResolveSession(ctx, x.Index, typed)
		if err != nil {
			return err
		}
		id, _, _ = strings.Cut(id, "@")
		samples, err = a.describeForget(ctx, x, id, &plan)
		return err
	})
	return plan, samples, err
}

// samplesMost is how many texts of a session are looked for after it is deleted.
const samplesMost = 64

func (a *commands) describeForget(ctx context.Context, x app.Archive, id string, plan *forgetJSON) ([]string, error) {
	s, err := x.Index.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	plan.Session, plan.Title, plan.Project, plan.First, plan.Last, plan.Turns = id, s.Title, app.ProjectPath(s.Project), s.First, s.Last, s.Turns
	if s.Relation == archive.RelationFork {
		plan.Related = append(plan.Related, s.Parent)
	}
	list, err := x.Index.Sessions(ctx, archive.SessionFilter{})
	if err != nil {
		return nil, err
	}
	for _, other := range list {
		if other.Parent == id && other.Relation == archive.RelationFork {
			plan.Related = append(plan.Related, other.ID)
		}
	}
	slices.Sort(plan.Related)
	size, err := forgetter(x.Workspace).Size(ctx, id)
	if err != nil {
		return nil, err
	}
	plan.Logs, plan.Bytes, plan.Facts, plan.Client = size.Logs, size.Bytes, size.Facts, size.Client
	passages, err := x.Index.Passages(ctx, archive.PassageSpan{Span: archive.Span{Session: id}})
	if err != nil {
		return nil, err
	}
	return forgetter(x.Workspace).Samples(ctx, id, passages, samplesMost)
}

// agreed asks a question on stdin.
func (a *commands) agreed(question string) bool {
	fmt.Fprint(a.out, question)
	line, err := bufio.NewReader(a.env.Stdin).ReadString('\n') // the end of stdin is no yes
	if err != nil {
		fmt.Fprintln(a.out)
	}
	return strings.EqualFold(strings.TrimSpace(line), "yes")
}

func (a *commands) printForget(plan forgetJSON) {
	p := a.paint()
	if plan.Turns == 0 && plan.Logs == 0 {
		fmt.Fprintf(a.out, "Session %s is forgotten already; what may be left of it is deleted now.\n", p.bold(archive.ShortID(plan.Session)))
		return
	}
	fmt.Fprintf(a.out, "Session %s  %s\n", p.bold(archive.ShortID(plan.Session)), plan.Title)
	fmt.Fprintf(a.out, "  %s, %s in %s, last active %s\n", count(plan.Turns, "turn"), size(plan.Bytes), count(plan.Logs, "log"), a.ago(plan.Last))
	fmt.Fprintf(a.out, "  %s in the journal, its rows, texts and vectors\n", count(plan.Facts, "fact"))
	if plan.Client != "" {
		fmt.Fprintf(a.out, "  %s %s\n", p.yellow("stays, and is not taken in again:"), plan.Client)
	}
	for _, id := range plan.Related {
		fmt.Fprintf(a.out, "  %s %s\n", p.yellow("shares rows with it and stays:"), id)
	}
}

// printProof says what was found; elsewhere are the logs that may hold texts still.
func (a *commands) printProof(proof maintenance.Proof, elsewhere string) {
	p := a.paint()
	fmt.Fprintf(a.out, "Deleted. %s and %s of the archive were read", count(proof.Files, "file"), size(proof.Bytes))
	if proof.Texts > 0 {
		fmt.Fprintf(a.out, " for %s of it", count(proof.Texts, "text"))
	}
	switch {
	case len(proof.Left) > 0:
		fmt.Fprintf(a.out, ": %s\n", p.red(fmt.Sprintf("%q is found in %s", proof.Found, strings.Join(proof.Left, ", "))))
	case len(proof.Kept) > 0:
		fmt.Fprintf(a.out, ": nothing is left but %d that %s hold, too\n", proof.Shared, elsewhere)
		for _, path := range proof.Kept {
			fmt.Fprintf(a.out, "  %s\n", path)
		}
	default:
		fmt.Fprintln(a.out, ": nothing is left.")
	}
}
