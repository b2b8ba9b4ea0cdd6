package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/app"
	"strandline/internal/app/maintenance"
	"strandline/internal/archive"
)

// forgetPartJSON is what `forget` of a turn or a step would delete, or has deleted,
// for scripts.
type forgetPartJSON struct {
	Handle   string   `json:"handle"`
	Title    string   `json:"title,omitempty"` // of the turn
	Lines    int      `json:"lines"`
	Bytes    int64    `json:"bytes"` // of the transcript
	Notes    int      `json:"notes"` // lines of the client's notes elsewhere
	Files    []string `json:"files"`
	Sessions []string `json:"sessions"` // whose logs are looked through
	// Also are places of the conversation that repeat its words. They stay.
	Also []string `json:"also"`
	forgottenJSON
}

// forgetPart deletes a turn or a step.
func (a *commands) forgetPart(ctx context.Context, r app.Workspace, typed string, f forgetFlags) error {
	var ref archive.Ref
	var plan maintenance.PartPlan
	var out forgetPartJSON
	err := a.app.WithIndex(ctx, r, app.ReadOnly, func(x app.Archive) (err error) {
		ref, plan, out, err = a.planPart(ctx, x, typed)
		return err
	})
	if archive.ErrorCode(err) == archive.CodeNotFound {
		return a.finishPart(ctx, r, ref, f, err)
	}
	if err != nil {
		return err
	}
	return a.carryOut(ctx, r, f, deletion{
		plan: &out, outcome: &out.forgottenJSON, samples: plan.Samples, elsewhere: "other lines of the logs",
		show: func() { a.printForgetPart(out) },
		erase: func() error {
			if err := forgetter(r).BeginPart(ctx, ref, plan); err != nil {
				return err
			}
			return a.eraseParts(ctx, r, plan.Part.Sessions)
		},
	})
}

// finishPart goes on with what an interrupted call began: the lines are gone, and
// what is derived of them is not. Else the part is not there, as missing says.
func (a *commands) finishPart(ctx context.Context, r app.Workspace, ref archive.Ref, f forgetFlags, missing error) error {
	of, err := r.Capture.ForgottenParts().Of(ref.Session)
	if err != nil || !of.Open {
		return errors.Join(missing, err)
	}
	out := forgetPartJSON{Handle: ref.Handle(), Files: []string{}, Sessions: []string{ref.Session}, Also: []string{}}
	return a.carryOut(ctx, r, f, deletion{
		plan: &out, outcome: &out.forgottenJSON, samples: of.Samples, elsewhere: "other lines of the logs",
		show: func() {
			fmt.Fprintf(a.out, "%s is forgotten already; what may be left of it is deleted now.\n", a.paint().bold(ref.Handle()))
		},
		erase: func() error {
			open, err := forgetter(r).OpenParts(ctx)
			if err != nil {
				return err
			}
			return a.eraseParts(ctx, r, open)
		},
	})
}

// eraseParts deletes what is left of parts of sessions that are forgotten.
func (a *commands) eraseParts(ctx context.Context, r app.Workspace, sessions []string) error {
	if _, err := forgetter(r).EraseParts(ctx, sessions); err != nil {
		return err
	}
	if err := a.rederive(ctx, r); err != nil {
		return err
	}
	return forgetter(r).PartsDone(sessions)
}

// planPart finds what would be deleted.
func (a *commands) planPart(ctx context.Context, x app.Archive, typed string) (archive.Ref, maintenance.PartPlan, forgetPartJSON, error) {
	var plan maintenance.PartPlan
	var out forgetPartJSON
	h, id, err := app.ResolveSession(ctx, x.Index, typed)
	ref := archive.Ref{Session: id, Turn: h.Turn, Step: h.Step}
	if err == nil && strings.ContainsAny(id, "~@") {
		err = wrongUsage("a turn is forgotten in its session", "name the session itself: what belongs to the turn in sub-agents' runs and older generations goes with it")
	}
	if err != nil {
		return ref, plan, out, err
	}
	p, title, err := a.placeOf(ctx, x, ref)
	if err != nil {
		return ref, plan, out, err
	}
	if plan, err = forgetter(x.Workspace).PlanPart(ctx, p, samplesMost); err != nil {
		return ref, plan, out, err
	}
	size, err := forgetter(x.Workspace).Size(ctx, id)
	out = forgetPartJSON{
		Handle: ref.Handle(), Title: title, Lines: plan.Lines, Bytes: plan.Bytes, Notes: plan.Echoes,
		Files: append([]string{}, plan.Part.Files...), Sessions: plan.Part.Sessions, Also: []string{}, forgottenJSON: forgottenJSON{Client: size.Client},
	}
	turns, terr := x.Index.Turns(ctx, archive.Span{Session: id})
	if err == nil {
		err = terr
	}
	for _, line := range plan.Also {
		out.Also = append(out.Also, turnAt(id, turns, line))
	}
	out.Also = slices.Compact(out.Also)
	return ref, plan, out, err
}

// turnAt is the handle of the turn that a line stands in.
func turnAt(session string, turns []archive.Turn, line int) string {
	ref := archive.Ref{Session: session, Step: -1}
	for _, t := range turns {
		if t.LineFrom <= line {
			ref.Turn = max(ref.Turn, t.Index)
		}
	}
	return ref.Handle()
}

// placeOf is a turn or a step as the index has it, and the turn's title.
func (a *commands) placeOf(ctx context.Context, x app.Archive, ref archive.Ref) (maintenance.Target, string, error) {
	p := maintenance.Target{Ref: ref, LineTo: 1 << 31}
	turns, err := x.Index.Turns(ctx, archive.Span{Session: ref.Session, TurnFrom: ref.Turn, TurnTo: ref.Turn + 2})
	if err != nil {
		return p, "", err
	}
	if len(turns) == 0 || turns[0].Index != ref.Turn {
		return p, "", archive.NotFound("there is no turn "+ref.Handle(), "`strandline show "+archive.ShortID(ref.Session)+"` lists the turns")
	}
	p.LineFrom = turns[0].LineFrom
	if len(turns) > 1 {
		p.LineTo = turns[1].LineFrom
	}
	if ref.Step >= 0 {
		steps, err := x.Index.Steps(ctx, archive.Span{Session: ref.Session, TurnFrom: ref.Turn, TurnTo: ref.Turn + 1})
		if err != nil {
			return p, "", err
		}
		at := slices.IndexFunc(steps, func(s archive.Step) bool { return s.Index == ref.Step })
		if at < 0 {
			return p, "", archive.NotFound("there is no step "+ref.Handle(), "")
		}
		p.LineFrom, p.LineTo, p.Message = steps[at].LineFrom, max(steps[at].LineTo, steps[at].LineFrom+1), steps[at].MessageID
	}
	passages, err := x.Index.Passages(ctx, archive.PassageSpan{Span: archive.Span{Session: ref.Session, TurnFrom: ref.Turn, TurnTo: ref.Turn + 1}})
	if err != nil {
		return p, "", err
	}
	for _, y := range passages {
		if ref.Step >= 0 && y.Step != ref.Step {
			continue
		}
		p.Texts = append(p.Texts, y.Text)
		if y.Kind == archive.KindPrompt {
			p.Prompts = append(p.Prompts, y.Text)
		}
	}
	p.Sessions, err = a.family(ctx, x, ref.Session)
	return p, turns[0].Title, err
}

// family lists a session, what it was forked from, and its forks: they hold copies
// of the same rows.
func (a *commands) family(ctx context.Context, x app.Archive, session string) ([]string, error) {
	list, err := x.Index.Sessions(ctx, archive.SessionFilter{})
	if err != nil {
		return nil, err
	}
	in := []string{session}
	for i := 0; i < len(in); i++ {
		for _, s := range list {
			id, parent := archive.Owner(s.ID), archive.Owner(s.Parent)
			if s.Relation != archive.RelationFork {
				continue
			}
			for _, pair := range [][2]string{{id, parent}, {parent, id}} {
				if pair[0] == in[i] && pair[1] != "" && !slices.Contains(in, pair[1]) {
					in = append(in, pair[1])
				}
			}
		}
	}
	return in, nil
}

func (a *commands) printForgetPart(out forgetPartJSON) {
	p := a.paint()
	fmt.Fprintf(a.out, "%s  %s\n", p.bold(out.Handle), out.Title)
	fmt.Fprintf(a.out, "  %s, %s of the transcript", count(out.Lines, "line"), size(out.Bytes))
	if out.Notes > 0 {
		fmt.Fprintf(a.out, ", and %s of the client's notes elsewhere", count(out.Notes, "line"))
	}
	fmt.Fprintln(a.out, "; its rows, texts and vectors")
	for _, f := range out.Files {
		fmt.Fprintf(a.out, "  with it goes %s\n", f)
	}
	for _, id := range out.Sessions[1:] {
		fmt.Fprintf(a.out, "  also where %s holds copies\n", id)
	}
	for _, h := range out.Also {
		fmt.Fprintf(a.out, "  %s %s\n", p.yellow("repeats words of it and stays:"), h)
	}
	if out.Client != "" {
		session, _, _ := strings.Cut(out.Handle, "/")
		fmt.Fprintf(a.out, "  %s %s\n", p.yellow("holds it still, and is not taken in again:"), out.Client)
		fmt.Fprintf(a.out, "  to have a transcript without it, delete that file and run `strandline rebuild %s`\n", session)
	}
}
