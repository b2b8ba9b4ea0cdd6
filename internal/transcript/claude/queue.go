package claude

import (
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// queueOperation follows the queue of prompts that are typed while the model
// works. A removed prompt was given to the model within the turn and has no row; a
// dequeued prompt has a row; a popped prompt returned to the editor.
func (r *Reader) queueOperation(row *row) {
	st := &r.state
	switch string(row.operation) {
	case "enqueue":
		body := clean(stringOf(row.rawContent))
		q := queued{hash: contentHash(body), line: row.line, time: row.time}
		if body != "" && !isNotice(body) && !isSynthetic(body) && !strings.HasPrefix(body, "/") {
			q.text = text.Prefix(r.redact(body), archive.MaxPassage)
		}
		st.queue = keepLast(append(st.queue, q), maxQueue)
	case "remove":
		if len(st.queue) == 0 {
			return
		}
		q := st.queue[0]
		st.queue = append(st.queue[:0], st.queue[1:]...)
		if q.text == "" {
			return
		}
		r.ensureTurn(row, nil)
		r.putInTurn(archive.Passage{Kind: archive.KindPrompt, Text: q.text, Partial: len(q.text) > archive.MaxPassage-4}, q.line, q.time)
		st.taken = keepLast(append(st.taken, q.hash), maxQueue)
	case "popAll":
		if i := r.findQueued(clean(stringOf(row.rawContent))); i >= 0 {
			st.queue = slices.Delete(st.queue, i, i+1)
		}
	}
}

// findQueued returns the index of a queued prompt, or -1.
func (r *Reader) findQueued(body string) int {
	hash := contentHash(body)
	return slices.IndexFunc(r.state.queue, func(q queued) bool { return q.hash == hash })
}

// dequeued removes a prompt that has a row, and all that were queued before it.
func (r *Reader) dequeued(body string) {
	if i := r.findQueued(body); i >= 0 {
		r.state.queue = append(r.state.queue[:0], r.state.queue[i+1:]...)
	}
}

// typedAhead reports whether a prompt was queued before the current turn began.
// The parent of its row is then an earlier row, which is not a rewind.
func (r *Reader) typedAhead(row *row) bool {
	hash := contentHash(row.text)
	return slices.ContainsFunc(r.state.queue, func(q queued) bool { return q.hash == hash && q.line < r.state.turn.row.LineFrom })
}

// attachment folds a queued prompt, the only attachment with text of the user.
func (r *Reader) attachment(row *row) {
	a := &row.attach
	if a.kind != "queued_command" || a.meta || !r.isMain(row) {
		return
	}
	body := clean(r.scan.outputText(a.prompt))
	if body == "" || isSynthetic(body) || a.mode != "" && a.mode != "prompt" {
		return
	}
	r.ensureTurn(row, nil)
	if isNotice(body) {
		r.notice(row, body)
		return
	}
	r.dequeued(body)
	if i := slices.Index(r.state.taken, contentHash(body)); i >= 0 {
		r.state.taken = slices.Delete(r.state.taken, i, i+1) // added when it was removed from the queue
		return
	}
	r.putTexts(archive.KindPrompt, "", r.redact(body), row)
}
