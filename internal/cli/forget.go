package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
)

type forgetFlags struct {
	yes, dryRun bool
	prove       []string
}

func (a *commands) forgetCommand(cmd *cobra.Command) {
	var f forgetFlags
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return a.forget(cmd.Context(), args[0], f) }
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the plan and delete nothing")
	cmd.Flags().StringArrayVar(&f.prove, "prove", nil, "also search for this text afterwards (repeatable)")
	a.jsonFlag(cmd)
}

// forget shows a deletion, asks, deletes and prints the proof, as the flags say.
func (a *commands) forget(ctx context.Context, typed string, f forgetFlags) error {
	if a.json && !f.yes && !f.dryRun {
		return wrongUsage("--json cannot ask", "add --yes or --dry-run")
	}
	d, err := a.app.PlanForget(ctx, typed)
	if err != nil {
		return err
	}
	switch {
	case a.json && f.dryRun:
		return a.printJSON(d.Result())
	case !a.json:
		a.printDeletion(d)
	}
	if f.dryRun {
		fmt.Fprintln(a.out, "Nothing was deleted.")
		return nil
	}
	if !f.yes && !a.confirm("Delete it for good? Type yes: ") {
		fmt.Fprintln(a.out, "Nothing was deleted.")
		return silentError{ExitInternal}
	}
	bar := a.newProgress("indexing")
	d.Progress = bar.capture
	err = a.app.Forget(ctx, d, f.prove)
	bar.end()
	if d.Warning != nil {
		fmt.Fprintf(a.errOut, "note: vectors are missing: %s; `strandline maintain` computes them\n", app.ErrorText(d.Warning))
	}
	if d.Damaged != nil {
		fmt.Fprintf(a.errOut, "note: damaged entries of the journal could not be searched: %s\n", app.ErrorText(d.Damaged))
	}
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(d.Result())
	} else {
		a.printProof(d)
	}
	if err == nil && len(d.Proof.Left) > 0 {
		err = silentError{ExitCorrupt}
	}
	return err
}

// confirm asks a question on stdin.
func (a *commands) confirm(question string) bool {
	return strings.EqualFold(a.ask(question), "yes")
}

// ask asks a question and returns the line that the user typed; "" at the end of stdin.
func (a *commands) ask(question string) string {
	fmt.Fprint(a.out, question)
	line, err := bufio.NewReader(a.env.Stdin).ReadString('\n')
	if err != nil {
		fmt.Fprintln(a.out)
	}
	return strings.TrimSpace(line)
}

func (a *commands) printDeletion(d *app.Deletion) {
	p := a.paint()
	list := func(label string, items []string) {
		for _, item := range items {
			fmt.Fprintf(a.out, "  %s %s\n", p.yellow(label), item)
		}
	}
	const again = "%s is forgotten already; remaining data is deleted now.\n"
	client := d.Client
	if s := d.Session; s != nil {
		if s.Turns == 0 && s.Logs == 0 {
			fmt.Fprintf(a.out, "Session "+again, p.bold(archive.ShortID(s.Session)))
			return
		}
		fmt.Fprintf(a.out, "Session %s  %s\n", p.bold(archive.ShortID(s.Session)), s.Title)
		fmt.Fprintf(a.out, "  %s, %s in %s, last active %s\n", count(s.Turns, "turn"), size(s.Bytes), count(s.Logs, "log"), a.ago(s.Last))
		fmt.Fprintf(a.out, "  %s in the journal, its rows, texts and vectors\n", count(s.Facts, "fact"))
		if client != "" {
			list("stays, and is not captured again:", []string{client})
		}
		list("shares rows with it and stays:", s.Related)
		return
	}
	part := d.Part
	if part.Resumed {
		fmt.Fprintf(a.out, again, p.bold(part.Handle))
		return
	}
	fmt.Fprintf(a.out, "%s  %s\n", p.bold(part.Handle), part.Title)
	fmt.Fprintf(a.out, "  %s, %s of the transcript", count(part.Lines, "line"), size(part.Bytes))
	if part.Notes > 0 {
		fmt.Fprintf(a.out, ", and %s of the client's metadata elsewhere", count(part.Notes, "line"))
	}
	fmt.Fprintln(a.out, "; its rows, texts and vectors")
	for _, file := range part.Files {
		fmt.Fprintf(a.out, "  the file %s\n", file)
	}
	for _, id := range part.Sessions[1:] {
		fmt.Fprintf(a.out, "  copies in %s\n", id)
	}
	list("repeats words of it and stays:", part.Also)
	if client != "" {
		session, _, _ := strings.Cut(part.Handle, "/")
		list("still has it, and is not captured again:", []string{client})
		fmt.Fprintf(a.out, "  to get a transcript without it, delete that file and run `strandline rebuild %s`\n", session)
	}
}

func (a *commands) printProof(d *app.Deletion) {
	p, proof := a.paint(), d.Proof
	others := "other sessions' logs"
	if d.Part != nil {
		others = "other lines of the logs"
	}
	fmt.Fprintf(a.out, "Deleted. %s and %s of the archive were read", count(proof.Files, "file"), size(proof.Bytes))
	if proof.Texts > 0 {
		fmt.Fprintf(a.out, " for %s of it", count(proof.Texts, "text"))
	}
	switch {
	case len(proof.Left) > 0:
		fmt.Fprintf(a.out, ": %s\n", p.red(fmt.Sprintf("%q is found in %s", proof.Found, strings.Join(proof.Left, ", "))))
	case len(proof.Kept) > 0:
		fmt.Fprintf(a.out, ": nothing is left but %d that %s contain as well\n", proof.Shared, others)
		for _, path := range proof.Kept {
			fmt.Fprintf(a.out, "  %s\n", path)
		}
	default:
		fmt.Fprintln(a.out, ": nothing is left.")
	}
	for _, place := range d.Places {
		fmt.Fprintf(a.out, "%s until you run: strandline archive push %s\n", p.yellow("It may still be in "+place), place)
	}
}
