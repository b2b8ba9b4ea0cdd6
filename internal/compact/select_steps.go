package compact

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

const (
	maxSteps   = 16 // groups of actions of the current turn that are listed
	maxObjects = 5  // files or commands of one
	maxDeed    = 60 // units of a command
)

// stepGroup is actions of one kind that follow each other.
type stepGroup struct {
	from    place
	verb    string
	objects []string
}

// addSteps adds the last actions of the current turn, oldest first, without the very last
// one, which has its own entry.
func (c *collector) addSteps() {
	calls := c.past.calls
	if len(calls) == 0 {
		return
	}
	var groups []stepGroup // newest first
	turn, room := calls[len(calls)-1].Turn, c.req.Budget/16
	for _, x := range slices.Backward(calls[:len(calls)-1]) {
		verb, object := c.deed(x)
		if x.Turn != turn || len(groups) == maxSteps {
			break
		}
		if verb == "" {
			continue
		}
		if n := len(groups); n > 0 && groups[n-1].verb == verb {
			g := &groups[n-1]
			g.from = place{x.Turn, x.Step}
			if slices.Contains(g.objects, object) {
				continue
			}
			if g.objects = append(g.objects, object); len(g.objects) <= maxObjects {
				room -= text.Units(object) + 2
			}
		} else {
			groups = append(groups, stepGroup{place{x.Turn, x.Step}, verb, []string{object}})
			room -= text.Units(verb+object) + len("; [10.100]  ")
		}
		if room < 0 {
			break
		}
	}
	if len(groups) < 2 {
		return
	}
	var parts []string
	for _, g := range slices.Backward(groups) {
		most := ""
		if more := len(g.objects) - maxObjects; more > 0 {
			g.objects, most = g.objects[:maxObjects], fmt.Sprintf(" and %d more", more)
		}
		slices.Reverse(g.objects)
		parts = append(parts, "["+c.local(c.handle(g.from.turn, g.from.step))+"] "+g.verb+" "+strings.Join(g.objects, ", ")+most)
	}
	c.add(entry{section: secState, order: 15, prior: 12, required: true, head: "Last steps: " + strings.Join(parts, "; ")})
}

// deed returns the action and the object of a call, "" for one that changed and checked nothing.
func (c *collector) deed(x archive.Call) (verb, object string) {
	switch {
	case x.NotRun():
		return "", ""
	case x.Kind == archive.CallCommand:
		command := archive.CommandKey(x.Command)
		check := archive.IsCheck(command)
		switch {
		case !check && !text.HasAnyPrefix(command, "git commit", "git push", "git rebase", "git merge", "git checkout", "git mv", "git rm"):
			return "", ""
		case x.Failed:
			verb = "failed:"
		case check && x.LineResult >= 0:
			verb = "passed:"
		default:
			verb = "ran"
		}
		return verb, "`" + text.Truncate(text.CleanLine(c.short(x.Command)), maxDeed) + "`"
	case x.Kind == archive.CallEdit && len(x.Files) > 0 && !x.Failed:
		return "changed", path.Base(text.CleanLine(x.Files[0]))
	}
	return "", ""
}
