package app

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Fix is what followed a failure: the calls up to the one that succeeded where it had
// failed, or the next ones if none did.
type Fix struct {
	Handle string    `json:"handle"` // of the failed call
	Time   time.Time `json:"time"`
	Failed string    `json:"failed"` // the command or file
	Error  string    `json:"error"`
	Steps  []FixStep `json:"steps"`
	Helped bool      `json:"helped"` // the last step is the failed call, now successful
}

// Outcome says whether it helped.
func (f Fix) Outcome() string {
	if f.Helped {
		return "it helped"
	}
	return "not seen to succeed afterwards"
}

// FixStep is a command or an edit.
type FixStep struct {
	Handle  string `json:"handle"`
	What    string `json:"what"`
	Verdict string `json:"verdict,omitempty"` // see Verdict
}

// The most hits that are looked at, results, steps of a fix, and turns after a failure.
const fixHits, fixResults, fixSteps, fixTurns = 60, 6, 8, 3

// Fixes returns the commands run after failures like an error, those that helped first.
func (a *App) Fixes(ctx context.Context, q SearchQuery) ([]Fix, error) {
	q.Kinds, q.Limit, q.Failed = []archive.PassageKind{archive.KindCommand, archive.KindOutput}, fixHits, true
	found, err := a.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	return read(ctx, a, func(x Archive) ([]Fix, error) {
		out, seen := []Fix{}, map[string]bool{}
		for _, h := range found.Hits {
			place, err := archive.ParseHandle(h.Handle)
			if err != nil {
				return nil, err
			}
			calls, err := x.Index.Calls(ctx, archive.CallSpan{Span: archive.Span{Session: h.Session, TurnFrom: place.Turn, TurnTo: place.Turn + fixTurns}})
			if err != nil {
				return nil, err
			}
			at := slices.IndexFunc(calls, func(c archive.Call) bool { return c.Turn == place.Turn && c.Step == place.Step && failed(c) })
			if at < 0 {
				continue
			}
			session, err := x.Index.Session(ctx, h.Session)
			if err != nil {
				return nil, err
			}
			fix := newFix(calls, at, session.Cwd, x.Redact)
			// A command that fails again and again is one failure.
			if key := h.Session + archive.Subject(calls[at]) + fix.Error; !seen[key] {
				seen[key] = true
				fix.Time = h.Time
				out = append(out, fix)
			}
		}
		slices.SortStableFunc(out, func(f, g Fix) int {
			if f.Helped == g.Helped {
				return 0
			} else if f.Helped {
				return -1
			}
			return 1
		})
		return out[:min(len(out), fixResults)], nil
	})
}

// failed reports whether a call ran and failed.
func failed(c archive.Call) bool {
	return !c.NotRun() && (c.Failed || c.Exit != nil && *c.Exit != 0)
}

// newFix returns what followed the failure of calls[at], with paths relative to cwd.
func newFix(calls []archive.Call, at int, cwd string, redact func(string) string) Fix {
	what := func(c archive.Call) string {
		if c.Command != "" {
			return redact(archive.CommandText(c.Command))
		}
		words := []string{c.Name}
		for _, f := range c.Files {
			words = append(words, relative(cwd, f))
		}
		return redact(strings.Join(words, " "))
	}
	c := calls[at]
	fix := Fix{Handle: c.Ref().Handle(), Failed: what(c), Error: redact(c.Error), Steps: []FixStep{}}
	subject := archive.Subject(c)
	for _, next := range calls[at+1:] {
		again := subject != "" && archive.Subject(next) == subject
		if !again && (!concerns(next, c) || len(fix.Steps) >= fixSteps) {
			continue
		}
		fix.Steps = append(fix.Steps, FixStep{next.Ref().Handle(), what(next), Verdict(next)})
		if again && !failed(next) && !next.NotRun() && next.LineResult >= 0 {
			fix.Helped = true
			break
		}
	}
	return fix
}

// concerns reports whether a call after a failure may be part of its fix. After a failed
// edit or read that is what names the same file, after a failed command each edit, each
// command, and each look at a file that the error names.
func concerns(next, failure archive.Call) bool {
	names := func(s, file string) bool { return strings.Contains(s, path.Base(file)) }
	if failure.Kind != archive.CallCommand && len(failure.Files) > 0 {
		return slices.Contains(next.Files, failure.Files[0]) || names(next.Command, failure.Files[0])
	}
	switch next.Kind {
	case archive.CallEdit, archive.CallCommand:
		return true
	case archive.CallRead:
		return slices.ContainsFunc(next.Files, func(f string) bool { return names(failure.Error, f) })
	}
	return false
}

// Recipe is a command that was run, under what it has in common in every run.
type Recipe struct {
	Command string    `json:"command"` // the newest run, on one line
	Handle  string    `json:"handle"`  // of that run
	Time    time.Time `json:"time"`
	Runs    int       `json:"runs"`   // among the hits
	Failed  int       `json:"failed"` // of them
	Verdict string    `json:"verdict"`
	About   string    `json:"about,omitempty"` // the model's description
}

// Outcome returns the verdict of a single run, or counts the runs.
func (r Recipe) Outcome() string {
	switch {
	case r.Runs == 1:
		return cmp.Or(r.Verdict, "-")
	case r.Failed == 0:
		return fmt.Sprintf("ok %d×", r.Runs)
	case r.Failed == r.Runs:
		return fmt.Sprintf("failed %d×", r.Runs)
	}
	return fmt.Sprintf("ok %d of %d", r.Runs-r.Failed, r.Runs)
}

// recipeHits is the number of commands that Recipes looks at.
const recipeHits = 100

// Recipes returns the commands that match a query, the best hits first. A command that
// succeeded comes before one that only failed.
func (a *App) Recipes(ctx context.Context, q SearchQuery) ([]Recipe, error) {
	limit := cmp.Or(max(q.Limit, 0), fixResults+fixResults)
	q.Kinds, q.Limit = []archive.PassageKind{archive.KindCommand}, recipeHits
	found, err := a.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	at, out := map[string]int{}, []Recipe{}
	for _, h := range found.Hits {
		r := newRecipe(h.Text)
		if r.Command == "" {
			continue
		}
		r.Handle, r.Time = h.Handle, h.Time
		key := archive.CommandKey(r.Command)
		i, known := at[key]
		if !known {
			i = len(out)
			at[key] = i
			out = append(out, Recipe{})
		}
		runs, bad := out[i].Runs+1, out[i].Failed
		if r.Verdict != "ok" && r.Verdict != "" {
			bad++
		}
		if r.Time.After(out[i].Time) {
			out[i] = r
		}
		out[i].Runs, out[i].Failed = runs, bad
	}
	slices.SortStableFunc(out, func(r, s Recipe) int {
		bad := func(r Recipe) int {
			if r.Failed == r.Runs {
				return 1
			}
			return 0
		}
		return bad(r) - bad(s)
	})
	return out[:min(len(out), limit)], nil
}

// newRecipe reads the passage of a command: the command after "$ ", its description after
// "# ", and its outcome in brackets.
func newRecipe(passage string) (r Recipe) {
	body, ok := strings.CutPrefix(passage, "$ ")
	if !ok {
		return r
	}
	var command []string
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		if about, ok := strings.CutPrefix(line, "# "); ok && len(command) > 0 {
			r.About = about
			continue
		}
		if verdict, ok := strings.CutPrefix(line, "["); ok && len(command) > 0 && strings.HasSuffix(verdict, "]") {
			if r.Verdict = strings.TrimSuffix(verdict, "]"); r.Verdict == "exit 0" {
				r.Verdict = "ok"
			}
			break
		}
		command = append(command, line)
	}
	r.Command = text.OneLine(archive.CommandText(strings.Join(command, "\n")))
	return r
}
