package compact

import (
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// run is a sub-agent that the session started.
type run struct {
	call   archive.Call
	what   string // its type and what it was to do
	answer string // "" while there is none
}

// runs returns the sub-agents in the order they were started. What they were
// asked stands in the first line of their passage, which comes with the answer.
func (c *collector) runs() []run {
	passages := map[place][]archive.Passage{}
	for _, x := range c.past.passages {
		if x.Kind == archive.KindOutput && archive.IsAgentTool(x.Label) {
			passages[place{x.Turn, x.Step}] = append(passages[place{x.Turn, x.Step}], x)
		}
	}
	var all []run
	for _, x := range c.past.calls {
		if x.Kind != archive.CallAgent {
			continue
		}
		r := run{call: x, what: "a sub-agent"}
		at := place{x.Turn, x.Step}
		if ps := passages[at]; len(ps) > 0 && x.LineResult >= 0 {
			head, answer, _ := strings.Cut(ps[0].Text, "\n")
			r.answer, passages[at] = answer, ps[1:]
			agent, about := archive.AgentAsk(head, x.Name)
			if about != "" {
				agent += ": " + about
			}
			if agent != "" {
				r.what = text.Cut(oneLine(agent), 160)
			}
		}
		all = append(all, r)
	}
	return all
}

// handsBack reports whether a line of a sub-agent's answer is the client's, not
// the agent's: how it is continued, what it took, what was thought of it.
func handsBack(tool, line string) bool {
	return archive.IsAgentTool(tool) &&
		beginsWith(line, "<tools-used-before-summary>", "[Subagent hand-back]", "agentId: ", "<usage>", "subagent_tokens: ", "total_tokens: ", "tool_uses: ", "duration_ms: ")
}

// state says how far a sub-agent is.
func (r run) state() string {
	switch {
	case r.call.LineResult < 0:
		return "no answer yet"
	case r.call.Failed:
		return "failed"
	}
	return "answered"
}

// waves groups sub-agents by the step that started them.
func (c *collector) waves() (items []text.Item) {
	runs := c.runs()
	n := 0
	for i := 0; i < len(runs); {
		j := i
		var names []string
		for ; j < len(runs) && runs[j].call.Turn == runs[i].call.Turn && runs[j].call.Step == runs[i].call.Step; j++ {
			names = append(names, runs[j].what+" ("+runs[j].state()+")")
		}
		n++
		items = append(items, text.Item{
			Text: fmt.Sprintf("wave %d, %s: %s", n, count(j-i, "sub-agent"), strings.Join(names, "; ")), Handle: c.handle(runs[i].call.Turn, runs[i].call.Step),
		})
		i = j
	}
	slices.Reverse(items)
	return items[:min(len(items), keepWaves)]
}

// agents tells what each sub-agent came back with, the newest first.
func (c *collector) agents() (items []text.Item) {
	for _, r := range slices.Backward(c.runs()) {
		if len(items) == keepAgents {
			break
		}
		body := r.what + ", " + r.state()
		var found []string
		sentences(c.short(r.answer), func(s string) {
			if len(found) < keepLines && !narrates(s) && !handsBack("Agent", s) {
				found = append(found, s)
			}
		})
		if r.call.Error != "" {
			found = []string{text.Cut(oneLine(r.call.Error), maxLineUnits)}
		}
		if len(found) > 0 {
			body += ": " + strings.Join(found, " ")
		}
		items = append(items, text.Item{Text: body, Handle: c.handle(r.call.Turn, r.call.Step)})
	}
	return items
}

// active lists the tasks in progress and the sub-agents that have not answered,
// each task with the errors that came up since it was begun and are open still.
func (c *collector) active() (items []text.Item) {
	failures := c.openFailures()
	for _, t := range c.past.tasks {
		if t.status != "in_progress" || t.subject == "" || len(items) == keepTasks {
			continue
		}
		lines := []string{t.line()}
		for _, x := range failures {
			before := x.Turn < t.turn || x.Turn == t.turn && x.Step < t.step
			if act := c.act(x); act != "" && !before && len(lines) < 1+maxBlockers {
				lines = append(lines, "blocked by: "+text.Cut(act, maxLineUnits))
			}
		}
		items = append(items, c.entry(valueTask, len(items), t.turn, t.step, strings.Join(lines, "\n")))
	}
	for _, r := range c.runs() {
		if r.call.LineResult < 0 && len(items) < keepTasks {
			items = append(items, text.Item{Text: r.what + ", no answer yet", Handle: c.handle(r.call.Turn, r.call.Step)})
		}
	}
	return items
}

// maxBlockers is how many open errors stand under a task that they may block.
const maxBlockers = 2

// skills are the skills that were called, the newest first.
func (c *collector) skills() (items []text.Item) {
	seen := map[string]bool{}
	for _, x := range slices.Backward(c.past.passages) {
		if x.Kind != archive.KindOutput || x.Label != "Skill" || len(items) == keepSkills {
			continue
		}
		head, _, _ := strings.Cut(x.Text, "\n")
		name := oneLine(strings.TrimPrefix(head, "Skill"))
		name = strings.TrimPrefix(name, "skill ")
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		items = append(items, text.Item{Text: text.Cut(name, 120), Handle: c.handle(x.Turn, x.Step)})
	}
	return items
}
