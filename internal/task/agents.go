package task

import (
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// maxResult is how much of a sub-agent's answer a task shows, in UTF-16 units.
const maxResult = 600

// runs lists the sub-agents that the session started.
func (p *History) runs() []Task {
	texts := p.agentTexts()
	var out []Task
	taken := map[string]bool{}
	for _, c := range p.Calls {
		if c.Kind != archive.CallAgent {
			continue
		}
		place := at(c.Turn, c.Step)
		t := Task{
			Session: p.Session.ID, ID: "agent:" + c.ToolID, Kind: KindAgent, Status: InProgress,
			First: archive.Ref{Session: p.Session.ID, Turn: c.Turn, Step: c.Step},
		}
		t.Last, t.Start = t.First, p.Moment(c.Turn, c.Step)
		t.End = t.Start + 1
		if t.Start < len(p.Steps) {
			t.Created = p.Steps[t.Start].Time
			t.Changed = t.Created.Add(c.Duration)
		}
		if ts := texts[place]; len(ts) > 0 {
			t.describe(ts[0])
			texts[place] = ts[1:]
		}
		switch {
		case c.Failed:
			t.Status = Failed
			t.Result = c.Error
		case c.LineResult >= 0 && !strings.HasPrefix(t.Result, launchedPrefix):
			t.Status = Completed
		default:
			p.background(&t, c)
		}
		p.child(&t, taken)
		out = append(out, t)
	}
	return out
}

// agentTexts are the passages of agent calls by their step, in the order of the
// calls: "Task <type> · <description> · <prompt>" and the answer below.
func (p *History) agentTexts() map[archive.Ref][]archive.Passage {
	out := map[archive.Ref][]archive.Passage{}
	for _, x := range p.Passages {
		if archive.IsAgentTool(x.Label) && x.Step >= 0 {
			out[at(x.Turn, x.Step)] = append(out[at(x.Turn, x.Step)], x)
		}
	}
	for _, xs := range out {
		slices.SortFunc(xs, func(a, b archive.Passage) int { return a.Seq - b.Seq })
	}
	return out
}

func (t *Task) describe(x archive.Passage) {
	head, answer, _ := strings.Cut(x.Text, "\n")
	t.Agent, t.Subject = archive.AgentCall(head, x.Label)
	t.Result = text.Truncate(strings.TrimSpace(answer), maxResult)
}

// launchedPrefix begins the answer of a run that goes on in the background.
const launchedPrefix = "[in background] agentId: "

// background looks for the end of a run that went on behind: the client tells it
// in a notice of its own, "Agent "<description>" completed", or the model asks
// for it by its id.
func (p *History) background(t *Task, c archive.Call) {
	id, _ := strings.CutPrefix(t.Result, launchedPrefix)
	t.Result = ""
	for _, x := range p.Passages {
		if x.LineFrom <= c.LineUse {
			continue
		}
		head, answer, _ := strings.Cut(x.Text, "\n")
		var status string
		switch {
		case x.Label == "Agent" && x.Step < 0 && t.Subject != "":
			status, _ = strings.CutPrefix(head, `Agent "`+t.Subject+`" `)
			if status == head {
				continue
			}
		case (x.Label == "TaskOutput" || x.Label == "AgentOutput") && id != "" && strings.Contains(head+" ", "task_id "+id+" "):
			_, status, _ = strings.Cut(answer, "<status>")
			status, _, _ = strings.Cut(status, "</status>")
			if status == "" || status == "running" {
				continue
			}
			_, answer, _ = strings.Cut(answer, "<output>")
		default:
			continue
		}
		t.Status, t.Changed = Completed, x.Time
		for _, bad := range []string{"fail", "killed", "stopped", "error"} {
			if strings.Contains(status, bad) {
				t.Status = Failed
			}
		}
		t.Result = text.Truncate(strings.TrimSpace(answer), maxResult)
		t.Last = archive.Ref{Session: p.Session.ID, Turn: x.Turn, Step: x.Step}
		t.End = max(t.End, p.Moment(x.Turn, max(x.Step, 0)))
		return
	}
}

// child links a run to the session that holds it: the first one of its
// description that is not taken, begun no earlier than the call.
func (p *History) child(t *Task, taken map[string]bool) {
	for i := len(p.agents) - 1; i >= 0; i-- { // they come newest first
		a := p.agents[i]
		if taken[a.ID] || t.Subject == "" || a.Agent.Description != t.Subject || a.First.Before(t.Created) {
			continue
		}
		taken[a.ID] = true
		t.AgentID = a.ID
		return
	}
}
