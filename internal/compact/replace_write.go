package compact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/text"
	"strandline/internal/transcript"
)

// recordWriter prints the parts of a record, each within its share of the room.
type recordWriter struct {
	text    strings.Builder
	room    int // tokens
	handles []string
}

// write prints the whole record.
func (w *recordWriter) write(ctx context.Context, st *story, index *index, req ReplaceRequest, keep []int) {
	if text := strings.TrimSpace(req.Redact(clean(req.Instructions))); text != "" {
		text, _ = cutTokens(text, w.room/2)
		w.part(headOrder, []said{{text: text}})
	}
	asked := w.room * sharePrompts / 100
	if req.Budget < leastBudget {
		asked = index.shareOf(w.room, sharePrompts, req.Budget)
	}
	w.part(headPrompts, fitPrompts(st.prompts, asked))
	w.part(headFiles, w.fitFiles(st, req, index.shareOf(w.room, shareFiles, req.Budget)))
	if index.past == nil {
		w.part(headReplies, newest(st.replies, w.room/2, true))
		w.part(headDone, newest(st.done, w.room, false))
		return
	}
	w.part(headReplies, newest(st.replies, index.shareOf(w.room, shareReplies, req.Budget), true))
	w.part(headDone, newest(st.done, index.shareOf(w.room, shareDone, req.Budget), false))
	w.more(ctx, index, req, keep)
}

// part prints entries under their heading.
func (w *recordWriter) part(head string, all []said) {
	if len(all) == 0 {
		return
	}
	w.text.WriteString(head + "\n")
	w.room -= tokens(head) + 1
	for _, s := range all {
		w.note(s.handle)
		text := s.entry()
		w.room -= tokens(text)
		w.text.WriteString(text)
	}
}

func (w *recordWriter) note(handle string) {
	if handle != "" && !slices.Contains(w.handles, handle) {
		w.handles = append(w.handles, handle)
	}
}

// fitPrompts tells every prompt within room tokens. Where they do not fit the
// longest are cut, all to the same length, and if even their beginnings are too
// much the first and the newest stay.
func fitPrompts(all []said, room int) []said {
	limit, total := 0, 0
	sizes := make([]int, len(all))
	for i := range all {
		sizes[i] = tokens(all[i].entry())
		total += sizes[i]
		limit = max(limit, sizes[i])
	}
	if total <= room {
		return all
	}
	low := 0
	for low+1 < limit { // the largest limit at which all fit
		mid, sum := (low+limit)/2, 0
		for _, n := range sizes {
			sum += min(n, mid)
		}
		if sum <= room {
			low = mid
		} else {
			limit = mid
		}
	}
	if low >= leastPrompt {
		out := slices.Clone(all)
		for i := range out {
			out[i] = out[i].cut(low)
		}
		return out
	}
	out := newest(all[1:], room-min(sizes[0], leastPrompt), true)
	return append([]said{all[0].cut(leastPrompt)}, out...)
}

// leastPrompt is the least that a prompt is cut to, in tokens.
const leastPrompt = 40

// cut shortens an entry to about n tokens.
func (s said) cut(n int) said {
	over := tokens(s.entry()) - tokens(s.text)
	if text, cut := cutTokens(s.text, n-over-1); cut {
		s.text = text + "…"
	}
	return s
}

// newest takes entries from the end while they fit, and returns them oldest
// first. With cut, one that is too long for a third of the room is cut to it.
func newest(all []said, room int, cut bool) []said {
	var out []said
	third := max(room/3, leastPrompt)
	for _, s := range slices.Backward(all) {
		if cut {
			s = s.cut(third)
		}
		n := tokens(s.entry())
		if n > room {
			break
		}
		room -= n
		out = append(out, s)
	}
	slices.Reverse(out)
	return out
}

// fitFiles tells the files used last, the newest first and with the most room.
func (w *recordWriter) fitFiles(st *story, req ReplaceRequest, room int) []said {
	var out []said
	for _, f := range st.files.last() {
		if room < leastFile {
			break
		}
		if s, ok := f.entry(max(room/2, leastFile), req.Redact); ok {
			room -= tokens(s.entry())
			out = append(out, s)
		}
	}
	return out
}

// leastFile is the least of a file that is worth telling, in tokens.
const leastFile = 60

// more fills the room that is left with what the archive knows and the rest of
// the new conversation lacks. The selection counts characters; where they weigh
// more than ASCII does it is made again in less room.
func (w *recordWriter) more(ctx context.Context, index *index, req ReplaceRequest, keep []int) {
	known := w.text.String() + keptText(req, keep)
	room := text.TokenChars(w.room-tokens(headMore)-leftTokens) * restRoom / 100
	for range 3 {
		if room < minLine || ctx.Err() != nil {
			return
		}
		body, handles, left := chooseMore(index.gathered(req), known, room, len(keep) > 0)
		if weight := tokens(body) + leftTokens; weight > w.room {
			room = room * w.room / weight * restRoom / 100
			continue
		}
		if body == "" {
			return
		}
		for _, h := range handles {
			w.note(h)
		}
		w.text.WriteString(headMore + "\n" + body)
		if left > 0 {
			fmt.Fprintf(&w.text, "%d more items were left out.\n", left)
		}
		return
	}
}

// leftTokens is what the line that counts the items left out takes.
const leftTokens = 12

// gathering is what there is to choose from.
type gathering struct {
	collector *collector
	items     []*item
}

// gatherAhead collects what there is to choose from while the rest of the record
// is written, and returns what waits for it.
func gatherAhead(p *past, req ReplaceRequest) func() gathering {
	done := make(chan gathering, 1)
	go func() { done <- gatherMore(p, req) }()
	return func() gathering { return <-done }
}

// gathered returns what there is to choose from. A choice leaves its marks, so
// the next one begins anew.
func (x *index) gathered(req ReplaceRequest) gathering {
	if wait := x.ahead; wait != nil {
		x.ahead = nil
		return wait()
	}
	return gatherMore(x.past, req)
}

// close waits for what nobody took.
func (x *index) close() {
	if x.ahead != nil {
		x.ahead()
	}
}

func gatherMore(p *past, req ReplaceRequest) gathering {
	c := learnPast(p, Request{Session: req.Session, AtLine: req.AtLine, Budget: text.TokenChars(req.Budget), Instructions: req.Instructions})
	return gathering{c, c.gather(nil)}
}

// chooseMore makes the selection of a restored block, within room characters.
// known is what stands in the new conversation already; stands says that the
// last messages are part of it.
func chooseMore(g gathering, known string, room int, stands bool) (body string, handles []string, left int) {
	c := g.collector
	c.settle(known)
	items := slices.DeleteFunc(g.items, func(it *item) bool {
		// What was asked is told already; where the work stood, the kept messages show.
		return it.section == secAsked || it.section == secStood && it.head != "" && !it.inline && stands
	})
	RoleNone.layout().apply(items)
	return newChooser(c.voc, subTitles(), room).pick(items)
}

// restRoom leaves some of the room to what characters outside ASCII weigh more.
const restRoom = 96

// keptText is what stands behind the record as it is.
func keptText(req ReplaceRequest, keep []int) string {
	var b strings.Builder
	for _, i := range keep {
		m := &req.Messages[i]
		b.WriteString(m.Text + "\n")
		for j := range m.Uses {
			b.Write(m.Uses[j].Input)
			b.WriteByte('\n')
		}
		for j := range m.Results {
			b.WriteString(m.Results[j].Text + "\n")
		}
	}
	return b.String()
}

// Print renders the new conversation as plain text, the kept messages in full.
func (r Replacement) Print(req ReplaceRequest) string {
	return r.Text + "\n" + r.kept(req, func(m *transcript.Message) string { return m.Text })
}

// Summary renders the new conversation as the text of a summary: the record, and
// behind it the kept messages in a fence of their own, so that both are known as
// Strandline's when the summary comes by again. What the client itself put beside
// a person's words it puts there again.
func (r Replacement) Summary(req ReplaceRequest) string {
	said := func(m *transcript.Message) string {
		if m.Role == "user" {
			return m.Prompt
		}
		return m.Text
	}
	return r.Text + "\n" + text.Fence("the last messages, word for word", strings.TrimSpace(r.kept(req, said)))
}

// kept prints the kept messages, of each what said returns of its text.
func (r Replacement) kept(req ReplaceRequest, said func(*transcript.Message) string) string {
	var b strings.Builder
	for _, i := range r.Keep {
		m := &req.Messages[i]
		if text := said(m); text != "" {
			b.WriteString("\n" + m.Role + ": " + text + "\n")
		}
		for j := range m.Uses {
			b.WriteString("\ncall " + m.Uses[j].Name + " " + string(m.Uses[j].Input) + "\n")
		}
		for j := range m.Results {
			b.WriteString("\nresult: " + m.Results[j].Text + "\n")
		}
	}
	return b.String()
}
