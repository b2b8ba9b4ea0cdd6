package app

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/text"
)

// briefSection is a section of a brief and its weight. The heaviest come first when
// the budget is short.
type briefSection struct {
	title  string
	weight float64
	lines  func(archive.SnapshotFact) []string
}

// briefSections lists the sections of a brief for a role, in order.
func briefSections(role compact.Role) []briefSection {
	switch role {
	case compact.RoleOrchestrator:
		return []briefSection{
			{"Progress", 90, progress}, {"Open tasks", 80, openTasks}, {"Agents", 70, agents}, {"Decisions", 60, decisions},
			{"Next", 65, next}, {messagesTitle, 50, messages}, {"Files", 40, paths}, {"Summary", 85, summary},
		}
	case compact.RoleDeveloper:
		return []briefSection{
			{"Current task", 90, currentTask}, {"Summary", 80, summary}, {"Recent changes", 70, changes}, {"Failed", 75, failures},
			{"Decisions", 60, decisions}, {"Next", 65, next}, {messagesTitle, 50, messages}, {"Other open tasks", 40, openTasks},
		}
	case compact.RoleSpecialist:
		return []briefSection{
			{"Current task", 90, currentTask}, {"Summary", 80, summary}, {"Decisions", 75, decisions}, {messagesTitle, 60, messages},
			{"Files", 50, paths}, {"Next", 65, next}, {"Failed", 55, failures},
		}
	case compact.RoleValidator:
		return []briefSection{
			{"Finished, to be checked", 90, finishedTasks}, {"Recent changes", 80, changes}, {"Commands", 85, commands}, {"Failed", 88, failures},
			{"Decisions", 60, decisions}, {"Summary", 70, summary}, {"Still open", 50, openTasks},
		}
	}
	return []briefSection{
		{"Summary", 90, summary}, {"Open tasks", 85, openTasks}, {"Next", 80, next}, {"Decisions", 75, decisions}, {"Failed", 70, failures},
		{"Agents", 60, agents}, {messagesTitle, 55, messages}, {"Recent changes", 50, changes}, {"Files", 40, paths}, {"Progress", 30, progress},
	}
}

// brief returns the part of a snapshot that a role needs, within a budget of UTF-16
// units, fenced as a record of the past. It returns "" if nothing fits.
func brief(f archive.SnapshotFact, role compact.Role, title string, budget int) string {
	sections := briefSections(role)
	var items []briefItem
	for n, s := range sections {
		for i, line := range s.lines(f) {
			rank := i
			if s.title == messagesTitle { // the newest are last and weigh most
				rank = len(f.Messages) - i
			}
			if line = strings.ReplaceAll(strings.TrimSpace(line), "\n", "\n  "); line != "" {
				items = append(items, briefItem{section: n, seq: i, line: "- " + line, value: s.weight - float64(rank)/100})
			}
		}
	}
	return text.Fence(title, fitBrief(sections, items, budget-text.FenceOverhead-text.Units(title)))
}

// briefItem is a line of a brief.
type briefItem struct {
	section, seq int
	line         string
	value        float64 // ranks it among those of all sections
}

// fitBrief prints the items of the highest value that fit into budget units, below the
// titles and in the order of their sections. The last line counts the others, if it fits.
func fitBrief(sections []briefSection, items []briefItem, budget int) string {
	slices.SortStableFunc(items, func(a, b briefItem) int { return cmp.Compare(b.value, a.value) })
	opened := map[int]bool{}
	var picked []briefItem
	reserve := text.Units(omitted(len(items))) + 1
	if budget < reserve+minBriefItem {
		reserve = 0
	}
	left := budget - reserve + 1 // the last line break is not printed
	for _, it := range items {
		head := 0
		if !opened[it.section] {
			head = text.Units("## \n") + text.Units(sections[it.section].title)
		}
		most := left - head - 1
		if text.Units(it.line) > most && most < minBriefItem {
			continue
		}
		it.line = text.Truncate(it.line, most)
		left -= head + text.Units(it.line) + 1
		opened[it.section] = true
		picked = append(picked, it)
	}
	slices.SortFunc(picked, func(a, b briefItem) int { return cmp.Or(a.section-b.section, a.seq-b.seq) })
	var out strings.Builder
	section := -1
	for _, it := range picked {
		if it.section != section {
			section = it.section
			out.WriteString("## " + sections[section].title + "\n")
		}
		out.WriteString(it.line + "\n")
	}
	if n := len(items) - len(picked); n > 0 && len(picked) > 0 && reserve > 0 {
		out.WriteString(omitted(n) + "\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// omitted returns the line that counts the items left out.
func omitted(n int) string {
	return text.Count(n, "more item") + " left out: strandline show HANDLE, strandline search WORDS"
}

const messagesTitle = "Messages"

// minBriefItem is the minimum length in characters that an item is shortened to.
const minBriefItem = 60

func summary(f archive.SnapshotFact) []string   { return []string{f.Summary} }
func decisions(f archive.SnapshotFact) []string { return f.Decisions }
func next(f archive.SnapshotFact) []string      { return f.Next }
func paths(f archive.SnapshotFact) []string     { return f.Files }

func progress(f archive.SnapshotFact) []string {
	if len(f.Tasks) == 0 {
		return nil
	}
	done := archive.Select(f.Tasks, func(t archive.SnapshotTask) bool { return archive.TaskDone(t.Status) })
	return []string{fmt.Sprintf("%d of %d tasks are done", len(done), len(f.Tasks))}
}

// openTasks lists the tasks with work left, each after its ancestors.
func openTasks(f archive.SnapshotFact) (lines []string) {
	children := subtasks(f.Tasks)
	var walk func(parent, ancestors string)
	walk = func(parent, ancestors string) {
		for _, t := range children[parent] {
			if !archive.TaskDone(t.Status) {
				lines = append(lines, ancestors+taskLine(t))
			}
			walk(t.ID, ancestors+archive.Clip(t.Subject, 60)+" > ")
		}
	}
	walk("", "")
	return lines
}

// currentTask is the task in progress, preferably of the snapshot's own agent, or
// else the first open task.
func currentTask(f archive.SnapshotFact) []string {
	var found *archive.SnapshotTask
	for i := range f.Tasks {
		t := &f.Tasks[i]
		switch {
		case t.Status != "in_progress" && found == nil && !archive.TaskDone(t.Status):
			found = t
		case t.Status == "in_progress" && (found == nil || found.Status != "in_progress" || f.AgentID != "" && t.Owner == f.AgentID):
			found = t
		}
	}
	if found == nil {
		return nil
	}
	return []string{taskLine(*found)}
}

// finishedTasks lists them newest first.
func finishedTasks(f archive.SnapshotFact) (lines []string) {
	for _, t := range slices.Backward(f.Tasks) {
		if archive.TaskDone(t.Status) {
			lines = append(lines, taskLine(t))
		}
	}
	return lines
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

func agents(f archive.SnapshotFact) (lines []string) {
	for _, a := range f.Agents {
		parts := slices.DeleteFunc([]string{a.ID, a.Type, a.Status, a.Task, a.Result}, func(s string) bool { return s == "" })
		lines = append(lines, strings.Join(parts, " · "))
	}
	return lines
}

func messages(f archive.SnapshotFact) (lines []string) {
	for _, m := range f.Messages {
		from := strings.TrimSpace(m.From)
		if m.To != "" {
			from += " to " + m.To
		}
		if from != "" {
			from += ": "
		}
		lines = append(lines, from+m.Text)
	}
	return lines
}

func changes(f archive.SnapshotFact) []string {
	return actions(f, func(a archive.SnapshotAction) bool { return a.File != "" && !a.Failed })
}

func commands(f archive.SnapshotFact) []string {
	return actions(f, func(a archive.SnapshotAction) bool { return a.Command != "" && !a.Failed })
}

func failures(f archive.SnapshotFact) []string {
	return actions(f, func(a archive.SnapshotAction) bool { return a.Failed || a.Exit != nil && *a.Exit != 0 })
}

// actions lists the selected actions, newest first, each once.
func actions(f archive.SnapshotFact, selected func(archive.SnapshotAction) bool) (lines []string) {
	for _, a := range slices.Backward(f.Actions) {
		line := strings.Join(strings.Fields(a.Tool+" "+a.File+" "+a.Command), " ")
		if a.Exit != nil {
			line += fmt.Sprintf(" (exit %d)", *a.Exit)
		}
		if a.Error != "" {
			line += ": " + a.Error
		}
		if selected(a) && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// subtasks returns the tasks by the ID of their parent. A task is at the top level, ""
// in the map, if its parent is missing or its ancestors form a cycle.
func subtasks(tasks []archive.SnapshotTask) map[string][]archive.SnapshotTask {
	parents := map[string]string{}
	for _, t := range tasks {
		parents[t.ID] = t.Parent
	}
	children := map[string][]archive.SnapshotTask{}
	for _, t := range tasks {
		parent := t.Parent
		if _, known := parents[parent]; !known || inCycle(parents, t.ID) {
			parent = ""
		}
		children[parent] = append(children[parent], t)
	}
	return children
}

// inCycle reports whether a task's ancestors form a cycle.
func inCycle(parents map[string]string, id string) bool {
	at := parents[id]
	for n := 0; n < len(parents) && at != id && at != ""; n++ {
		at = parents[at]
	}
	return at != ""
}
