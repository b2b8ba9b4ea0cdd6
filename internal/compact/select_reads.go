package compact

import (
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// recentResults is the age up to which results other than reports are quoted whatever
// the budget.
const recentResults = 8

// collectReads adds the reports of sub-agents, as statements, and other results, as
// excerpts.
func collectReads(c *collector) {
	entries, gone, briefs := map[string]*entry{}, removedLines{}, c.agentBriefs()
	c.addPlan()
	for i, x := range slices.Backward(c.past.passages) {
		if h := c.hunks[i]; h != nil {
			gone.follow(x.Paths[0], h)
		}
		if x.Kind != archive.KindOutput || c.isThePlan(x) {
			continue
		}
		head, body, _ := strings.Cut(x.Text, "\n")
		age, h := c.age(x.Turn, x.Step), c.handle(x.Turn, x.Step)
		if brief := briefs[backgroundAgent(body)]; x.Label == "TaskOutput" && brief != "" {
			head = "agent: " + brief
		}
		key := head
		if len(x.Paths) == 1 {
			key = x.Paths[0]
		}
		e := entries[key]
		if e == nil {
			e = c.addResult(head, h, age)
			entries[key] = e
		}
		if isReport(x.Label) {
			c.addProse(e, withoutAgentMetadata(body), h, densityReport, age)
			continue
		}
		if recent := age < recentResults; recent || c.roomy() {
			d := 0.0
			if recent && x.Label != "Read" {
				d = densityResult * decay(age, recentResults)
			}
			c.addCode(e, body, h, func(line string) float64 {
				if gone.has(key, line) || isContext(line) {
					return -1
				}
				return d
			})
		}
	}
}

// isContext reports whether a line of a search is context beside a hit, which grep marks
// by hyphens around the line's number.
func isContext(line string) bool {
	_, number, _ := strings.Cut(line, "-")
	rest := strings.TrimLeft(number, "0123456789")
	return strings.HasPrefix(rest, "-") && len(rest) < len(number)
}

// addProse adds the statements of a text that a tool returned.
func (c *collector) addProse(e *entry, body, handle string, density float64, age int) {
	statements(c.short(body), func(s string) bool { return !strings.Contains(s, `\"`) }, func(s statement) { // no JSON
		d := density
		if s.finding {
			d *= findingFactor
		}
		c.addPiece(e, s.text, handle, aged(d, age), 1)
	})
}

// findingFactor raises the statements of a report or plan that have a reason or a finding.
const findingFactor = 1.5

// addResult adds the entry of a tool's result. head is the first line of its passage.
func (c *collector) addResult(head, handle string, age int) *entry {
	return c.add(entry{section: secReads, order: age, handle: handle, source: true, head: text.Truncate(text.CleanLine(c.short(head)), 160)})
}

// collectNames lists the names in the files that were changed or read which are likely
// to be needed again.
func collectNames(c *collector) {
	edits, gone := c.editCounts(), removedLines{}
	changed := c.add(entry{section: secNames, head: "in the changed files:"})
	read := c.add(entry{section: secNames, order: 1, head: "in other files and results:"})
	for i, x := range slices.Backward(c.past.passages) {
		switch {
		case c.hunks[i] != nil:
			c.addNames(changed, strings.Join(gone.follow(x.Paths[0], c.hunks[i]), "\n"))
		case x.Kind == archive.KindOutput && len(x.Paths) == 1 && edits[x.Paths[0]] > 0:
			lines := strings.Split(c.short(x.Text), "\n")
			c.addNames(changed, strings.Join(slices.DeleteFunc(lines, func(l string) bool { return gone.has(x.Paths[0], trimLineNumber(l)) }), "\n"))
		case x.Kind == archive.KindOutput:
			c.addNames(read, withoutAgentMetadata(c.short(x.Text)))
		}
	}
}

// agentBriefs returns the tasks of the sub-agents in the background, by the
// agent's id.
func (c *collector) agentBriefs() map[string]string {
	briefs := map[string]string{}
	for _, x := range c.past.passages {
		if _, id, ok := strings.Cut(x.Text, "agentId: "); ok && x.Kind == archive.KindOutput && archive.IsAgentTool(x.Label) {
			id, _, _ = strings.Cut(id, "\n")
			head, _, _ := strings.Cut(x.Text, "\n")
			briefs[strings.TrimSpace(id)] = strings.TrimPrefix(head, x.Label+" ")
		}
	}
	return briefs
}

// backgroundAgent returns the id of the agent whose result is read, "" for none.
func backgroundAgent(body string) string {
	_, rest, _ := strings.Cut(body, "<task_id>")
	id, _, _ := strings.Cut(rest, "</task_id>")
	return id
}

// isReport reports whether a tool answers in prose.
func isReport(tool string) bool {
	return archive.IsAgentTool(tool) || tool == "TaskOutput" || tool == "WebFetch" || tool == "AskUserQuestion" || tool == "ExitPlanMode"
}

// withoutAgentMetadata removes the client's additions to a sub-agent's answer.
func withoutAgentMetadata(body string) string {
	lines := strings.Split(body, "\n")
	return strings.Join(slices.DeleteFunc(lines, isAgentMetadata), "\n")
}

// isAgentMetadata reports whether a line of a sub-agent's answer was added by the
// client: how to continue the agent, its usage, an assessment.
func isAgentMetadata(line string) bool {
	return text.HasAnyPrefix(line, "<tools-used-before-summary>", "[Subagent hand-back]", "[Tool: ", "<retrieval_status>", "<task_id>", "<task_type>", "<status>",
		"<output>", "</output>", "REMINDER: You MUST include the sources", "agentId: ", "[in background] agentId: ", "<usage>", "subagent_tokens: ", "total_tokens: ", "tool_uses: ", "duration_ms: ")
}
