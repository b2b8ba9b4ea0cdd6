package task

import (
	"crypto/md5"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// minGap is the number of steps outside any task that are split into topics.
const minGap = 10

// SegmentHash returns the name under which older tools store a task's summary: the MD5
// of "session:task" in hexadecimal.
func SegmentHash(session, task string) string {
	sum := md5.Sum([]byte(session + ":" + task))
	return hex.EncodeToString(sum[:])
}

// SegmentID returns the ID of a task's segment.
func SegmentID(session, task string) string { return "seg-" + SegmentHash(session, task)[:12] }

// All returns the session's tasks, and its topics if it has no task list.
func (h *History) All() []Task {
	tasks := h.List()
	if slices.ContainsFunc(tasks, func(t Task) bool { return t.Kind != KindAgent }) {
		return tasks
	}
	return append(tasks, h.topics(0, len(h.Steps))...)
}

// Segments returns the parts of the session that can be summarised: one per task of a
// list, and the topics between them, or of the whole session without a list. A
// sub-agent run belongs to the segment that started it.
func (h *History) Segments() []Task {
	var out []Task
	covered := make([]bool, len(h.Steps))
	for _, t := range h.List() {
		if t.Kind == KindAgent || t.Start >= len(h.Steps) {
			continue
		}
		out = append(out, t)
		for i := t.Start; i < min(t.End, len(covered)); i++ {
			covered[i] = true
		}
	}
	if len(out) == 0 {
		return h.topics(0, len(h.Steps))
	}
	for from := 0; from < len(covered); from++ {
		to := from
		for to < len(covered) && !covered[to] {
			to++
		}
		if to-from >= minGap {
			out = append(out, h.topics(from, to)...)
		}
		from = max(from, to-1)
	}
	return out
}

// topics splits the steps [from, to) into topics. A topic at the end of the session is
// in progress.
func (h *History) topics(from, to int) []Task {
	if from >= to {
		return nil
	}
	starts := append([]int{from}, archive.Convert(h.Boundaries(from, to), func(b Boundary) int { return b.Moment })...)
	out := make([]Task, 0, len(starts))
	titles, replies := h.titles(), h.firstReplies(from, to)
	for i, start := range starts {
		end, status := to, Completed
		if i+1 < len(starts) {
			end = starts[i+1]
		} else if to == len(h.Steps) {
			status = InProgress
		}
		first := h.Steps[start]
		out = append(out, Task{
			Session: h.Session.ID, ID: "topic-" + strconv.Itoa(first.Turn) + "." + strconv.Itoa(first.Index), Kind: KindTopic,
			Subject: h.topicSubject(start, end, titles, replies[start-from:end-from]), Status: status, Created: first.Time, Changed: h.Steps[end-1].Time,
			First: h.ref(start), Last: h.ref(end - 1), Start: start, End: end,
		})
	}
	return out
}

// titles returns the titles of the turns by their index.
func (h *History) titles() map[int]string {
	titles := make(map[int]string, len(h.Turns))
	for _, t := range h.Turns {
		titles[t.Index] = t.Title
	}
	return titles
}

// firstReplies returns, for each of the steps [from, to), the position of the model's
// first reply in Passages, or -1.
func (h *History) firstReplies(from, to int) []int {
	first := slices.Repeat([]int{-1}, to-from)
	for i, x := range h.Passages {
		if x.Kind != archive.KindReply || x.Label != "" {
			continue
		}
		if m := h.Moment(x.Turn, x.Step); m >= from && m < to && first[m-from] < 0 {
			first[m-from] = i
		}
	}
	return first
}

// topicSubject returns the prompt at the start of a topic, or else the first line of
// the model's first reply in it. replies are the firstReplies of its steps.
func (h *History) topicSubject(start, end int, titles map[int]string, replies []int) string {
	first := h.Steps[start]
	if title := titles[first.Turn]; title != "" && (start == 0 || h.Steps[start-1].Turn != first.Turn) {
		return title
	}
	reply := -1
	for _, i := range replies {
		if i >= 0 && (reply < 0 || i < reply) {
			reply = i
		}
	}
	if reply >= 0 {
		line, _, _ := strings.Cut(strings.TrimSpace(h.Passages[reply].Text), "\n")
		return archive.Clip(line, 120)
	}
	return "steps " + h.ref(start).Handle() + " to " + h.ref(end-1).Handle()
}

// Cold reports whether the session has moved on from a segment by the moment now: its
// task was completed more than after steps ago, it has at least minMessages messages,
// and the last after steps do not mention its subject.
func (h *History) Cold(t Task, now, after, minMessages int) bool {
	if t.Status != Completed || now-t.End <= after || h.messages(t) < minMessages {
		return false
	}
	words := subjectWords(t.Subject)
	for _, x := range h.passagesIn(now-after, now) {
		if (x.Kind == archive.KindPrompt || x.Kind == archive.KindReply) && mentions(x.Text, t.Subject, words) {
			return false
		}
	}
	return true
}

// messages counts the messages of a segment as the API does: prompts, responses, and
// the results that answer them.
func (h *History) messages(t Task) (n int) {
	for i := t.Start; i < min(t.End, len(h.Steps)); i++ {
		n += 2
		if i == 0 || h.Steps[i-1].Turn != h.Steps[i].Turn {
			n++
		}
	}
	return n
}

// subjectWords returns the significant words of a subject.
func subjectWords(subject string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(terms.Index(subject)) {
		if len(w) > 2 && !terms.Stop(w) && len(out) < 12 {
			out[w] = true
		}
	}
	return out
}

// mentions reports whether a text contains a subject, or two thirds of its words if it
// has at least two.
func mentions(text, subject string, words map[string]bool) bool {
	return subject != "" && strings.Contains(strings.ToLower(text), strings.ToLower(subject)) ||
		len(words) >= 2 && 3*countFound(text, words) >= 2*len(words)
}

// countFound returns the number of the words that a text contains.
func countFound(text string, words map[string]bool) int {
	found := map[string]bool{}
	for w := range strings.FieldsSeq(terms.Index(text)) {
		if words[w] {
			found[w] = true
		}
	}
	return len(found)
}
