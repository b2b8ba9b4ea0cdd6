package app

import (
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Kind is the kind of work that a brief is for.
type Kind string

// The kinds; General is for whoever it concerns.
const (
	General      Kind = ""
	Orchestrator Kind = "orchestrator"
	Developer    Kind = "developer"
	Specialist   Kind = "specialist"
	Validator    Kind = "validator"
)

// Budget is how many characters a brief takes where nobody says: about 2,000
// tokens, as the services gave that this replaces.
const Budget = 8000

// Brief is what an agent of a kind needs of a snapshot, within a budget of UTF-16
// units, fenced as a record of the past. title says what it is of. It is "" where
// nothing fits.
func Brief(f archive.SnapshotFact, kind Kind, title string, budget int) string {
	s := sections{fact: f}
	var list []text.Section
	switch kind {
	case Orchestrator:
		list = []text.Section{s.progress(90), s.open("Open tasks", 80), s.agents(70), s.decisions(60), s.next(65), s.messages(50), s.files(40), s.summary(85)}
	case Developer:
		list = []text.Section{s.current(90), s.summary(80), s.changes(70), s.failures(75), s.decisions(60), s.next(65), s.messages(50), s.open("Other open tasks", 40)}
	case Specialist:
		list = []text.Section{s.current(90), s.summary(80), s.decisions(75), s.messages(60), s.files(50), s.next(65), s.failures(55)}
	case Validator:
		list = []text.Section{s.finished(90), s.changes(80), s.commands(85), s.failures(88), s.decisions(60), s.summary(70), s.open("Still open", 50)}
	default:
		list = []text.Section{s.summary(90), s.open("Open tasks", 85), s.next(80), s.decisions(75), s.failures(70), s.agents(60), s.messages(55), s.changes(50), s.files(40), s.progress(30)}
	}
	room := budget - text.FenceOverhead - text.Units(title)
	body, _, _ := text.FitSections(list, room)
	return text.Fence(title, body)
}

// sections makes the parts of a brief; the number each takes is how much it is
// worth.
type sections struct{ fact archive.SnapshotFact }

func items(texts []string, value float64) []text.Item {
	var out []text.Item
	for i, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			out = append(out, text.Item{Text: t, Value: value - float64(i)/100, Min: 60})
		}
	}
	return out
}

func (s sections) summary(value float64) text.Section {
	return text.Section{Title: "Summary", Items: items([]string{s.fact.Summary}, value)}
}

func (s sections) progress(value float64) text.Section {
	finished := 0
	for _, t := range s.fact.Tasks {
		if done(t.Status) {
			finished++
		}
	}
	if len(s.fact.Tasks) == 0 {
		return text.Section{}
	}
	return text.Section{Title: "Progress", Items: items([]string{fmt.Sprintf("%d of %d tasks are done", finished, len(s.fact.Tasks))}, value)}
}

// open lists the tasks with work left, each behind those that it is part of.
func (s sections) open(title string, value float64) text.Section {
	var lines []string
	var walk func(nodes []Node, above string)
	walk = func(nodes []Node, above string) {
		for _, n := range nodes {
			if !done(n.Status) {
				lines = append(lines, above+taskLine(n.SnapshotTask))
			}
			walk(n.Tasks, above+archive.Clip(n.Subject, 60)+" > ")
		}
	}
	walk(Tree(s.fact.Tasks), "")
	return text.Section{Title: title, Items: items(lines, value), AsGiven: true}
}

func taskLine(t archive.SnapshotTask) string {
	line := t.Subject
	if t.Status != "" {
		line = "[" + strings.ReplaceAll(t.Status, "_", " ") + "] " + line
	}
	if t.Owner != "" {
		line += " (" + t.Owner + ")"
	}
	if len(t.BlockedBy) > 0 {
		line += ", blocked by " + strings.Join(t.BlockedBy, ", ")
	}
	if t.Description != "" {
		line += ": " + t.Description
	}
	return line
}

// current is the task that is being worked on, by the snapshot's own agent if one
// is; else the first that is open.
func (s sections) current(value float64) text.Section {
	var found *archive.SnapshotTask
	for i := range s.fact.Tasks {
		t := &s.fact.Tasks[i]
		switch {
		case t.Status != "in_progress" && found == nil && !done(t.Status):
			found = t
		case t.Status == "in_progress" && (found == nil || found.Status != "in_progress" || s.fact.AgentID != "" && t.Owner == s.fact.AgentID):
			found = t
		}
	}
	if found == nil {
		return text.Section{}
	}
	return text.Section{Title: "Current task", Items: items([]string{taskLine(*found)}, value)}
}

func (s sections) finished(value float64) text.Section {
	var lines []string
	for _, t := range slices.Backward(s.fact.Tasks) {
		if done(t.Status) {
			lines = append(lines, taskLine(t))
		}
	}
	return text.Section{Title: "Finished, to be checked", Items: items(lines, value)}
}

func (s sections) agents(value float64) text.Section {
	var lines []string
	for _, a := range s.fact.Agents {
		parts := slices.DeleteFunc([]string{a.ID, a.Type, a.Status, a.Task, a.Result}, func(s string) bool { return s == "" })
		lines = append(lines, strings.Join(parts, " · "))
	}
	return text.Section{Title: "Agents", Items: items(lines, value)}
}

// messages are the newest ones, in order.
func (s sections) messages(value float64) text.Section {
	out := text.Section{Title: "Messages", AsGiven: true}
	for i, m := range s.fact.Messages {
		who := strings.TrimSpace(m.From)
		if m.To != "" {
			who += " to " + m.To
		}
		if who != "" {
			who += ": "
		}
		out.Items = append(out.Items, text.Item{Text: who + m.Text, Value: value - float64(len(s.fact.Messages)-i)/100, Min: 60})
	}
	return out
}

func (s sections) decisions(value float64) text.Section {
	return text.Section{Title: "Decisions", Items: items(s.fact.Decisions, value)}
}

func (s sections) next(value float64) text.Section {
	return text.Section{Title: "Next", Items: items(s.fact.Next, value)}
}

func (s sections) files(value float64) text.Section {
	return text.Section{Title: "Files", Items: items(s.fact.Files, value)}
}

// changes are the newest actions on files.
func (s sections) changes(value float64) text.Section {
	return s.actions("Recent changes", value, func(a archive.SnapshotAction) bool { return a.File != "" && !a.Failed })
}

// commands are the newest commands with what they came to.
func (s sections) commands(value float64) text.Section {
	return s.actions("Commands", value, func(a archive.SnapshotAction) bool { return a.Command != "" && !a.Failed })
}

func (s sections) failures(value float64) text.Section {
	return s.actions("Failed", value, func(a archive.SnapshotAction) bool { return a.Failed || a.Exit != nil && *a.Exit != 0 })
}

func (s sections) actions(title string, value float64, which func(archive.SnapshotAction) bool) text.Section {
	var lines []string
	for _, a := range slices.Backward(s.fact.Actions) {
		if !which(a) {
			continue
		}
		line := strings.Join(strings.Fields(strings.Join([]string{a.Tool, a.File, a.Command}, " ")), " ")
		if a.Exit != nil {
			line += fmt.Sprintf(" (exit %d)", *a.Exit)
		}
		if a.Error != "" {
			line += ": " + a.Error
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return text.Section{Title: title, Items: items(lines, value)}
}
