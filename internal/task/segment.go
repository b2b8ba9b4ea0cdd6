package task

import (
	"crypto/md5"
	"encoding/hex"
	"strconv"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// gapLeast is how many steps outside any task are looked at for topics.
const gapLeast = 10

// SegmentHash is the name under which older tools keep a task's summary: the MD5 of
// "session:task" in hexadecimal.
func SegmentHash(session, task string) string {
	sum := md5.Sum([]byte(session + ":" + task))
	return hex.EncodeToString(sum[:])
}

// SegmentID names the segment of a task.
func SegmentID(session, task string) string { return "seg-" + SegmentHash(session, task)[:12] }

// All returns the session's tasks, and its topics where it keeps no list.
func (p *History) All() []Task {
	tasks := p.List()
	for _, t := range tasks {
		if t.Kind != KindAgent {
			return tasks
		}
	}
	return append(tasks, p.topics(0, len(p.Steps))...)
}

// Segments returns the stretches of the session that a summary can stand for:
// one per task of a list, and topics where the session keeps none and between
// its tasks. Sub-agents' runs are part of the stretch that they were started in.
func (p *History) Segments() []Task {
	var out []Task
	covered := make([]bool, len(p.Steps))
	for _, t := range p.List() {
		if t.Kind == KindAgent || t.Start >= len(p.Steps) {
			continue
		}
		out = append(out, t)
		for i := t.Start; i < min(t.End, len(covered)); i++ {
			covered[i] = true
		}
	}
	if len(out) == 0 {
		return p.topics(0, len(p.Steps))
	}
	for from := 0; from < len(covered); from++ {
		to := from
		for to < len(covered) && !covered[to] {
			to++
		}
		if to-from >= gapLeast {
			out = append(out, p.topics(from, to)...)
		}
		from = max(from, to-1)
	}
	return out
}

// topics cuts the steps [from, to) into topics. The last one is open while the
// session may still go on with it.
func (p *History) topics(from, to int) []Task {
	if from >= to {
		return nil
	}
	starts := []int{from}
	for _, b := range p.Boundaries(from, to) {
		starts = append(starts, b.Moment)
	}
	out := make([]Task, 0, len(starts))
	for i, start := range starts {
		end, status := to, Completed
		if i+1 < len(starts) {
			end = starts[i+1]
		} else if to == len(p.Steps) {
			status = InProgress
		}
		first := p.Steps[start]
		out = append(out, Task{
			Session: p.Session.ID, ID: "topic-" + strconv.Itoa(first.Turn) + "." + strconv.Itoa(first.Index), Kind: KindTopic,
			Subject: p.topicName(start, end), Status: status, Created: first.Time, Changed: p.Steps[end-1].Time,
			First: p.place(start), Last: p.place(end - 1), Start: start, End: end,
		})
	}
	return out
}

// topicName is what a stretch is called: the prompt that it answers, else the
// first words of the model in it.
func (p *History) topicName(start, end int) string {
	first := p.Steps[start]
	if start == 0 || p.Steps[start-1].Turn != first.Turn {
		for _, t := range p.Turns {
			if t.Index == first.Turn && t.Title != "" {
				return t.Title
			}
		}
	}
	for _, x := range p.Passages {
		if x.Kind != archive.KindReply || x.Label != "" {
			continue
		}
		if m := p.Moment(x.Turn, x.Step); m >= start && m < end {
			line, _, _ := strings.Cut(strings.TrimSpace(x.Text), "\n")
			return archive.Clip(line, 120)
		}
	}
	return "steps " + p.place(start).Handle() + " to " + p.place(end-1).Handle()
}

// Cold reports whether a stretch has left the work in hand by the moment now:
// its task is completed since more than after steps, it has at least least
// messages, and its subject was not spoken of in the last after steps.
func (p *History) Cold(t Task, now, after, least int) bool {
	if t.Status != Completed || now-t.End <= after || p.messages(t) < least {
		return false
	}
	want := words(t.Subject)
	for _, x := range p.Passages {
		if m := p.Moment(x.Turn, x.Step); m < now-after || m >= now {
			continue
		}
		if x.Kind != archive.KindPrompt && x.Kind != archive.KindReply {
			continue
		}
		if mentions(x.Text, t.Subject, want) {
			return false
		}
	}
	return true
}

// messages counts what a stretch is made of as the API does: prompts, responses,
// and results that answer them.
func (p *History) messages(t Task) int {
	n := 0
	for i := t.Start; i < min(t.End, len(p.Steps)); i++ {
		n += 2
		if i == 0 || p.Steps[i-1].Turn != p.Steps[i].Turn {
			n++
		}
	}
	return n
}

// words are the words of a subject that tell it from others.
func words(subject string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(terms.Index(subject)) {
		if len(w) > 2 && !terms.Stop(w) && len(out) < 12 {
			out[w] = true
		}
	}
	return out
}

// mentions reports whether a text speaks of a subject: it holds it word for word,
// or two thirds of at least two of its words.
func mentions(text, subject string, want map[string]bool) bool {
	if subject != "" && strings.Contains(strings.ToLower(text), strings.ToLower(subject)) {
		return true
	}
	if len(want) < 2 {
		return false
	}
	found := map[string]bool{}
	for w := range strings.FieldsSeq(terms.Index(text)) {
		if want[w] {
			found[w] = true
		}
	}
	return 3*len(found) >= 2*len(want)
}
