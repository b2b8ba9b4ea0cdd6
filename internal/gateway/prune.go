package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"strandline/internal/text"
)

// Rules say when old results of tools give way.
type Rules struct {
	// At is the size of the conversation, in estimated tokens, above which they do;
	// 0: never.
	At int
	// Keep is how many of the newest responses keep their results whatever they
	// weigh.
	Keep int
	// Chars is how much of a result stays, in UTF-16 units.
	Chars int
}

// bytesPerToken is the estimate for JSON of conversations; the client's own
// counts are not known before the answer.
const bytesPerToken = 3

// A cut is worth what it costs where it removes at least half of At: all behind it
// is written to the API's cache once more, at a quarter more than the price of new
// tokens, and a tenth of that price is saved at each request after it. And it
// leaves a third of At behind it, the work in hand.
const (
	gainPart = 2
	stayPart = 3
)

// worthStub is how much larger than what stays a result has to be, in bytes of
// JSON: the line with the handle takes about half of that.
const worthStub = 400

// places are the handles of results, by the ids of their calls. It is asked for
// results that are about to give way. settled reports that no handle will be added
// later: only then a cut is made, because a result that gives way afterwards, in
// front of a cut, would have the whole conversation cached once more.
type places func(ids []string) (found map[string]string, settled bool)

// cuts goes through the conversation as it grew, and returns the number of
// messages in front of the last cut, and the handles of what gives way there.
// Whether a message brings a cut about depends on nothing behind it, so the cuts
// of a request are found again by every later one.
func cuts(r *request, rules Rules, find places) (cut int, handles map[string]string) {
	handles = map[string]string{}
	if rules.At <= 0 {
		return 0, handles
	}
	total := 0         // bytes of the conversation so far, without what gave way
	work := hand{r: r} // the work in hand
	for i := range r.messages {
		total += r.messages[i].size
		next := work.take(rules)
		if total <= rules.At*bytesPerToken || r.gain(cut, next, rules, nil)*gainPart < rules.At*bytesPerToken {
			continue
		}
		found, settled := find(r.large(cut, next, rules))
		if !settled {
			continue
		}
		gain := r.gain(cut, next, rules, found)
		if gain*gainPart < rules.At*bytesPerToken {
			continue
		}
		maps.Copy(handles, found)
		cut, total = next, total-gain
	}
	return cut, handles
}

// hand is the work in hand: the newest messages, enough responses and enough text.
type hand struct {
	r               *request
	from, to        int // of its messages
	size, responses int
}

// take adds the next message and returns where the work in hand begins now.
func (h *hand) take(rules Rules) (from int) {
	m := &h.r.messages[h.to]
	h.to++
	h.size += m.size
	h.responses += m.responses()
	for h.from < h.to {
		m := &h.r.messages[h.from]
		if h.responses-m.responses() < rules.Keep || (h.size-m.size)*stayPart < rules.At*bytesPerToken {
			break
		}
		h.size -= m.size
		h.responses -= m.responses()
		h.from++
	}
	return h.from
}

func (m *message) responses() int {
	if m.role == roleAssistant {
		return 1
	}
	return 0
}

// gain is how many bytes a stretch of messages loses where its large results give
// way, those with a handle or, if found is nil, all.
func (r *request) gain(from, to int, rules Rules, found map[string]string) (gain int) {
	for i := from; i < to; i++ {
		for _, b := range r.messages[i].blocks {
			if rules.large(b) && (found == nil || found[b.id] != "") {
				gain += b.value.Size() - rules.Chars - worthStub/2
			}
		}
	}
	return gain
}

// large lists the calls in a stretch of messages whose results are worth giving
// up.
func (r *request) large(from, to int, rules Rules) (ids []string) {
	for i := from; i < to; i++ {
		for _, b := range r.messages[i].blocks {
			if rules.large(b) {
				ids = append(ids, b.id)
			}
		}
	}
	return ids
}

func (u Rules) large(b block) bool {
	return b.kind == blockResult && b.id != "" && b.value.Size() > u.Chars+worthStub
}

// Pruned is what was left out of a request.
type Pruned struct {
	Results int
	Bytes   int // fewer than came
}

// prune returns the request's body without what gives way. All other bytes stay
// what they are.
func prune(r *request, rules Rules, find places) ([]byte, Pruned) {
	cut, handles := cuts(r, rules, find)
	var out bytes.Buffer
	var did Pruned
	at := 0
	for _, m := range r.messages[:cut] {
		for _, b := range m.blocks {
			handle := handles[b.id]
			if handle == "" || !rules.large(b) {
				continue
			}
			out.Write(r.body[at:b.value.From])
			out.Write(stub(r.text(b), handle, rules.Chars))
			at = b.value.To
			did.Results++
		}
	}
	if did.Results == 0 {
		return r.body, did
	}
	out.Write(r.body[at:])
	did.Bytes = len(r.body) - out.Len()
	return out.Bytes(), did
}

// stub is what stands for a result, as JSON.
func stub(body, handle string, chars int) []byte {
	head := strings.TrimSuffix(text.Cut(body, chars), "…")
	left := text.Units(body) - text.Units(head)
	line := fmt.Sprintf("[strandline: %d more characters of this result were left out here to save room. They are on record: recall %s]", left, handle)
	if head != "" {
		line = head + "\n" + line
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(line) // a string and a buffer: it cannot fail
	return bytes.TrimSpace(b.Bytes())
}
