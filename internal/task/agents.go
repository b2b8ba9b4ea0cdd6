package task

import (
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// maxResult is the length of a sub-agent's answer in a task, in UTF-16 units.
const maxResult = 600

// backgroundPrefix starts the answer of a run that continues in the background.
const backgroundPrefix = "[in background] agentId: "

// agentRuns returns the sub-agent runs that the session started.
func (h *History) agentRuns() (out []Task) {
	passages := h.agentPassages()
	linked := map[string]bool{} // sessions
	for _, c := range h.Calls {
		if c.Kind != archive.CallAgent {
			continue
		}
		place, start := archive.Ref{Session: h.Session.ID, Turn: c.Turn, Step: c.Step}, h.Moment(c.Turn, c.Step)
		t := Task{
			Session: h.Session.ID, ID: "agent:" + c.ToolID, Kind: KindAgent, Status: InProgress,
			First: place, Last: place, Start: start, End: start + 1,
		}
		if t.Start < len(h.Steps) {
			t.Created = h.Steps[t.Start].Time
			t.Changed = t.Created.Add(c.Duration)
		}
		if key := stepKey(c.Turn, c.Step); len(passages[key]) > 0 {
			x := passages[key][0]
			passages[key] = passages[key][1:]
			head, answer, _ := strings.Cut(x.Text, "\n")
			t.Agent, t.Subject = archive.AgentCall(head, x.Label)
			t.Result = clipResult(answer)
		}
		switch {
		case c.Failed:
			t.Status, t.Result = Failed, c.Error
		case c.LineResult >= 0 && !strings.HasPrefix(t.Result, backgroundPrefix):
			t.Status = Completed
		default:
			h.endBackground(&t, c)
		}
		h.linkSession(&t, linked)
		out = append(out, t)
	}
	return out
}

func clipResult(answer string) string { return text.Truncate(strings.TrimSpace(answer), maxResult) }

// agentPassages returns the passages of agent calls by their step, in the order of the
// calls: "Task <type> · <description> · <prompt>", then the answer.
func (h *History) agentPassages() map[archive.Ref][]archive.Passage {
	out := map[archive.Ref][]archive.Passage{}
	for _, x := range h.Passages {
		if archive.IsAgentTool(x.Label) && x.Step >= 0 {
			key := stepKey(x.Turn, x.Step)
			out[key] = append(out[key], x)
		}
	}
	for _, xs := range out {
		slices.SortFunc(xs, func(a, b archive.Passage) int { return a.Seq - b.Seq })
	}
	return out
}

// endBackground sets the end of a run that continued in the background, if it is known.
func (h *History) endBackground(t *Task, c archive.Call) {
	id, _ := strings.CutPrefix(t.Result, backgroundPrefix)
	t.Result = ""
	for _, x := range h.Passages {
		if x.LineFrom <= c.LineUse {
			continue
		}
		status, answer, ok := backgroundEnd(x, id, t.Subject)
		if !ok {
			continue
		}
		t.Status, t.Changed = Completed, x.Time
		if containsAny(status, "fail", "killed", "stopped", "error") {
			t.Status = Failed
		}
		t.Result = clipResult(answer)
		t.Last = archive.Ref{Session: h.Session.ID, Turn: x.Turn, Step: x.Step}
		t.End = max(t.End, h.Moment(x.Turn, max(x.Step, 0)))
		return
	}
}

// backgroundEnd parses a passage that reports the end of a background run: a notice of
// the client (Agent "<description>" completed), or the answer to a query by the ID.
func backgroundEnd(x archive.Passage, id, subject string) (status, answer string, ok bool) {
	head, answer, _ := strings.Cut(x.Text, "\n")
	switch {
	case x.Label == "Agent" && x.Step < 0 && subject != "":
		status, ok = strings.CutPrefix(head, `Agent "`+subject+`" `)
		return status, answer, ok
	case (x.Label == "TaskOutput" || x.Label == "AgentOutput") && id != "" && strings.Contains(head+" ", "task_id "+id+" "):
		_, status, _ = strings.Cut(answer, "<status>")
		status, _, _ = strings.Cut(status, "</status>")
		_, answer, _ = strings.Cut(answer, "<output>")
		return status, answer, status != "" && status != "running"
	}
	return "", "", false
}

// linkSession links a run to its session: the first one with its description that is
// not linked and started no earlier than the call.
func (h *History) linkSession(t *Task, linked map[string]bool) {
	for _, a := range slices.Backward(h.agents) { // newest first
		if !linked[a.ID] && t.Subject != "" && a.Agent.Description == t.Subject && !a.First.Before(t.Created) {
			linked[a.ID], t.AgentID = true, a.ID
			return
		}
	}
}
