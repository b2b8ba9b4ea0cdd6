package claude

import (
	"slices"
	"strings"

	"strandline/internal/archive"
)

// queueOperation follows the prompts that are typed while the model works. One
// that is taken out without a row of its own ("remove") was given to the model
// in the middle of the turn; one that is dequeued gets a row; one that is
// popped went back to the editor.
func (r *Reader) queueOperation(row *row) {
	st := &r.state
	switch string(row.operation) {
	case "enqueue":
		text := clean(unquote(row.rawContent))
		q := queued{hash: contentHash(text), line: row.line, time: row.time}
		if text != "" && !isNotice(text) && !isSynthetic(text) && !strings.HasPrefix(text, "/") {
			q.text = clipBytes(r.redact(text), archive.MaxPassage)
		}
		st.queue = append(st.queue, q)
		if n := len(st.queue) - maxQueue; n > 0 {
			st.queue = append(st.queue[:0], st.queue[n:]...)
		}
	case "remove":
		if q, ok := r.unqueue(0); ok && q.text != "" {
			r.ensureTurn(row, nil)
			r.putQueued(q)
			st.taken = append(st.taken, q.hash)
			if n := len(st.taken) - maxQueue; n > 0 {
				st.taken = append(st.taken[:0], st.taken[n:]...)
			}
		}
	case "popAll":
		text := contentHash(clean(unquote(row.rawContent)))
		for i := range st.queue {
			if st.queue[i].hash == text {
				r.unqueue(i)
				return
			}
		}
	}
}

// unqueue takes an entry out of the queue.
func (r *Reader) unqueue(i int) (queued, bool) {
	q := r.state.queue
	if i >= len(q) {
		return queued{}, false
	}
	out := q[i]
	r.state.queue = append(q[:i], q[i+1:]...)
	return out, true
}

// dequeued takes a prompt out of the queue that has got a row of its own, with
// all that was queued before it.
func (r *Reader) dequeued(text string) {
	hash := contentHash(text)
	for i := range r.state.queue {
		if r.state.queue[i].hash == hash {
			r.state.queue = append(r.state.queue[:0], r.state.queue[i+1:]...)
			return
		}
	}
}

// typedAhead reports whether a prompt was queued before the running turn began.
// Its row hangs where the conversation stood then, which is no rewind.
func (r *Reader) typedAhead(row *row) bool {
	hash := contentHash(row.text)
	for _, q := range r.state.queue {
		if q.hash == hash && q.line < r.state.turn.row.LineFrom {
			return true
		}
	}
	return false
}

func (r *Reader) putQueued(q queued) {
	t := &r.state.turn
	r.putPassage(archive.Passage{
		Turn: t.row.Index, Step: -1, Seq: t.seq, Kind: archive.KindPrompt, Text: q.text,
		LineFrom: q.line, LineTo: q.line + 1, Time: q.time, Partial: len(q.text) > archive.MaxPassage-4,
	})
	t.seq++
}

// attachment folds the one attachment that holds words of the user: a prompt
// that was typed while the model worked.
func (r *Reader) attachment(row *row) {
	a := row.attach
	if a == nil || a.kind != "queued_command" || a.meta || !r.main(row) {
		return
	}
	text := clean(r.scan.outputText(a.prompt))
	if text == "" || isSynthetic(text) || a.mode != "" && a.mode != "prompt" {
		return
	}
	r.ensureTurn(row, nil)
	if isNotice(text) {
		r.notice(row, text)
		return
	}
	r.dequeued(text)
	if i := slices.Index(r.state.taken, contentHash(text)); i >= 0 {
		r.state.taken = slices.Delete(r.state.taken, i, i+1) // the queue told it already
		return
	}
	r.putTexts(archive.KindPrompt, "", r.redact(text), row)
}
