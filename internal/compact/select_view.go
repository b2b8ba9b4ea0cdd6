package compact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// view is the input of the collectors: the past, its terms and the request. Several
// goroutines share it, so that only score may change it.
type view struct {
	past         *past
	req          Request
	instructions instructions
	terms        *vocabulary
	index        *termIndex // of the passages
	ordinals     map[place]int
	hunks        []*hunk // of the passages, nil before collect
	plan         []guide // nil before collect
	small        bool    // less than usual is for prompts
	stateless    bool    // the last messages follow the text, so that it need not describe the state
}

// newView counts the terms of a past. Their values are set by score.
func newView(p *past, req Request) *view {
	v := &view{past: p, req: req, instructions: parseInstructions(req.Instructions), ordinals: ordinals(p)}
	v.index = p.takeTerms()
	v.terms = v.index.voc
	v.terms.now = int32(len(v.ordinals))
	for _, x := range p.oldSummary {
		v.terms.learn(x.Text, 0, true)
	}
	for _, x := range p.prompts {
		v.terms.learn(x.Text, v.ordinals[place{x.Turn, x.Step}], true)
	}
	for i := range p.passages {
		x := &p.passages[i]
		used, at := x.Kind == archive.KindReply || x.Kind == archive.KindEdit, int32(v.ordinals[place{x.Turn, x.Step}])
		for _, id := range v.index.text(i) {
			v.terms.count(id, at, used)
		}
	}
	for _, x := range p.calls {
		v.terms.learn(callText(x), v.ordinals[place{x.Turn, x.Step}], true)
	}
	if n := len(p.prompts); n > 0 {
		v.terms.setFocus(p.prompts[n-1].Text, 1)
	}
	for _, t := range p.tasks {
		if t.open() {
			v.terms.setFocus(t.subject, 1)
		}
	}
	v.terms.setFocus(req.Instructions, 2)
	return v
}

// newScoredView is newView with the values beside the summary in the context.
func newScoredView(p *past, req Request) *view {
	v := newView(p, req)
	v.score(p.summary)
	return v
}

// score sets the values of the terms, given a text that is already in the context.
func (v *view) score(inContext string) {
	v.terms.known(inContext, func(t *term) { t.inSummary = true })
	v.terms.score(v.req.Weights)
}

// ordinals numbers the places of prompts, passages and calls, oldest first.
func ordinals(p *past) map[place]int {
	all := make([]place, 0, len(p.prompts)+len(p.passages)+len(p.calls))
	add := func(turn, step int) {
		if at := (place{turn, step}); len(all) == 0 || all[len(all)-1] != at {
			all = append(all, at)
		}
	}
	for _, ps := range [][]archive.Passage{p.prompts, p.passages} {
		for i := range ps {
			add(ps[i].Turn, ps[i].Step)
		}
	}
	for i := range p.calls {
		add(p.calls[i].Turn, p.calls[i].Step)
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Or(a.turn-b.turn, a.step-b.step) })
	all = slices.Compact(all)
	numbers := make(map[place]int, len(all))
	for i, at := range all {
		numbers[at] = i
	}
	return numbers
}

// age returns the number of places since a turn and step.
func (v *view) age(turn, step int) int { return int(v.terms.now) - v.ordinals[place{turn, step}] }

func (v *view) handle(turn, step int) string { return v.past.ref(turn, step).Handle() }

// local omits the session from the handle of a place in it.
func (v *view) local(handle string) string { return localHandle(handle, v.past.session.ID) }

// localHandle omits the session from the handle of a place in it.
func localHandle(handle, session string) string {
	return strings.TrimPrefix(handle, archive.ShortID(session)+"/")
}

// short makes paths in the session's folder relative.
func (v *view) short(s string) string { return v.past.short(s) }

// describe describes a call and its outcome; "" for calls other than
// commands and uses of files.
func (v *view) describe(x archive.Call) string {
	switch x.Kind {
	case archive.CallCommand:
		verb := "ran"
		if x.NotRun() {
			verb = "did not run"
		}
		return verb + " `" + text.Truncate(text.CleanLine(v.short(x.Command)), 160) + "`" + outcome(x)
	case archive.CallEdit, archive.CallRead:
		if len(x.Files) == 0 {
			return ""
		}
		verb := "read"
		switch {
		case x.Kind == archive.CallEdit && x.Failed:
			verb = "tried to change"
		case x.Kind == archive.CallEdit:
			verb = "changed"
		}
		return verb + " the file " + v.short(text.CleanLine(x.Files[0])) + outcome(x)
	}
	return ""
}

// outcome returns how a call ended, after a comma; "" for a success without exit
// code.
func outcome(x archive.Call) string {
	code := ""
	if x.Exit != nil {
		code = fmt.Sprintf(" (exit %d)", *x.Exit)
	}
	switch {
	case x.LineResult < 0:
		return ", no result yet"
	case x.NotRun():
		return ", " + text.Truncate(text.CleanLine(x.Error), maxLineUnits)
	case x.Failed && x.Exit != nil && *x.Exit == 0:
		return ", exit 0, but its output fails: " + text.Truncate(text.CleanLine(x.Error), maxLineUnits)
	case x.Failed && x.Error != "":
		return ", failed" + code + ": " + text.Truncate(text.CleanLine(x.Error), maxLineUnits)
	case x.Failed:
		return ", failed" + code
	case x.Exit != nil:
		return fmt.Sprintf(", exit %d", *x.Exit)
	}
	return ""
}

// recentReads is how many of the last calls a failed read has to be among to count
// as an open error. Earlier ones mean that the model looked elsewhere.
const recentReads = 3

// openFailures returns the calls that failed without a later success of the same
// command or on the same file, newest first, one for each. Calls that were never
// run are not failures.
func (p *past) openFailures() []archive.Call {
	var out []archive.Call
	seen := map[string]bool{}
	for i, x := range slices.Backward(p.calls) {
		key := archive.Subject(x)
		if key == "" || x.LineResult < 0 || seen[key] || x.NotRun() {
			continue
		}
		seen[key] = true
		if x.Failed && (x.Kind != archive.CallRead || len(p.calls)-i <= recentReads) {
			out = append(out, x)
		}
	}
	return out
}

// editCounts returns how often each file was changed.
func (v *view) editCounts() map[string]int {
	counts := map[string]int{}
	for _, x := range v.past.calls {
		if x.Kind == archive.CallEdit && !x.Failed {
			for _, f := range x.Files {
				counts[f]++
			}
		}
	}
	return counts
}

// times returns "once", "2 times" and so on.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
