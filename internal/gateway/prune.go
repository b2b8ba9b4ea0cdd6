package gateway

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"strandline/internal/text"
)

// Rules configure the pruning of old tool results.
type Rules struct {
	// At is the conversation's size, in estimated tokens, above which results are
	// pruned. 0 means never.
	At int
	// Keep is the number of newest responses whose results are never pruned.
	Keep int
	// Chars is the length of a pruned result's or reply's kept beginning, in UTF-16 units.
	Chars int
	// Texts prunes old replies and reasoning too if results do not free enough.
	Texts bool
}

// bytesPerToken estimates the tokens of a conversation's JSON. The API reports
// exact counts only with its response.
const bytesPerToken = 3

// Pruning invalidates the API's cache after the first pruned result: rewriting
// costs 1.25 times the price of new tokens, and each later request saves a tenth
// of that price per removed token. It pays off if it removes at least At/gainPart.
// The newest At/keepPart of the conversation is kept.
const (
	gainPart = 2
	keepPart = 3
)

// minGain is the minimal size, in bytes of JSON, by which a result must exceed
// its kept part to be pruned. The line with the handle takes about half of it.
const minGain = 400

// lookup returns the handles of results by the ids of their calls. final reports
// that no handle will be added later. Results are pruned only then, because a
// result pruned later would invalidate the cache from there on.
type lookup func(ids []string) (found map[string]string, final bool)

// cut says how much of a conversation is pruned: the number of messages before which
// results, texts and reasoning are.
type cut struct{ results, texts, thoughts int }

// prunePoint replays the conversation message by message. It returns the last prune point
// and the handles of the calls before it. A prune point depends only on the messages before
// it, so every later request finds the same ones.
//
// Where results do not free enough, the replies are pruned as well, and the reasoning of
// finished turns: the API needs that of the turn that is under way.
func prunePoint(r *request, rules Rules, find lookup) (at cut, handles map[string]string) {
	handles = map[string]string{}
	if rules.At <= 0 {
		return at, handles
	}
	limit := rules.At * bytesPerToken
	total := 0 // bytes of the conversation so far, without pruned content
	// The newest messages, from next on, are not pruned: at least Keep responses and
	// At/keepPart tokens.
	next, size, responses, turn := 0, 0, 0, 0
	for i, m := range r.messages {
		total, size, responses = total+m.size, size+m.size, responses+m.responses
		if m.prompts() {
			turn = i
		}
		for ; next <= i; next++ {
			first := &r.messages[next]
			if responses-first.responses < rules.Keep || (size-first.size)*keepPart < limit {
				break
			}
			size, responses = size-first.size, responses-first.responses
		}
		if total <= limit {
			continue
		}
		to := cut{results: next, texts: at.texts, thoughts: at.thoughts}
		if r.gain(at, to, rules, nil)*gainPart < limit {
			if to = (cut{next, next, max(min(next, turn), at.thoughts)}); !rules.Texts || r.gain(at, to, rules, nil)*gainPart < limit {
				continue
			}
		}
		found, final := find(r.calls(at, to, rules))
		if !final {
			continue
		}
		gain := r.gain(at, to, rules, found)
		if gain*gainPart < limit {
			continue
		}
		maps.Copy(handles, found)
		at, total = to, total-gain
	}
	return at, handles
}

// prompts reports whether a message begins a turn.
func (m *message) prompts() bool {
	if m.role != roleUser {
		return false
	}
	for _, b := range m.blocks {
		if b.kind == blockResult {
			return false
		}
	}
	return true
}

// each calls fn with the blocks that pruning from one point to another replaces, and with
// the handle of each: that of its call, for texts of the response's call or else the turn.
// found nil means that all have one.
func (r *request) each(from, to cut, rules Rules, found map[string]string, fn func(b block, handle string)) {
	turn := ""
	for i := range r.messages[:max(to.results, to.texts, to.thoughts)] {
		m := &r.messages[i]
		if m.prompts() {
			turn = ""
		}
		own := turn
		for _, b := range m.blocks {
			if h := found[b.id]; b.kind == blockUse && h != "" {
				own = h
				turn, _, _ = strings.Cut(h, ".")
				break
			}
		}
		for _, b := range m.blocks {
			handle := own
			switch {
			case b.kind == blockResult && i >= from.results && i < to.results && rules.large(b):
				handle = found[b.id]
			case b.kind == blockText && m.role == roleAssistant && i >= from.texts && i < to.texts && rules.large(b):
			case (b.kind == blockThought || b.kind == blockHidden) && i >= from.thoughts && i < to.thoughts && rules.large(b):
			default:
				continue
			}
			if found == nil || handle != "" {
				fn(b, handle)
			}
		}
	}
}

// gain returns how many bytes pruning from one point to another removes: of the blocks with
// handles in found, or of all if found is nil.
func (r *request) gain(from, to cut, rules Rules, found map[string]string) (gain int) {
	r.each(from, to, rules, found, func(b block, _ string) {
		gain += b.value.Size() - minGain/2
		if b.kind == blockResult || b.kind == blockText {
			gain -= rules.Chars
		}
	})
	return gain
}

// calls returns the ids of the calls whose handles pruning from one point to another needs.
func (r *request) calls(from, to cut, rules Rules) (ids []string) {
	for i := from.results; i < to.results; i++ {
		for _, b := range r.messages[i].blocks {
			if rules.large(b) && b.kind == blockResult {
				ids = append(ids, b.id)
			}
		}
	}
	for i := min(from.texts, from.thoughts); i < max(to.texts, to.thoughts); i++ {
		for _, b := range r.messages[i].blocks {
			if b.kind == blockUse && b.id != "" && !slices.Contains(ids, b.id) {
				ids = append(ids, b.id)
			}
		}
	}
	return ids
}

func (u Rules) large(b block) bool {
	switch b.kind {
	case blockResult:
		return b.id != "" && b.value.Size() > u.Chars+minGain
	case blockText:
		return b.value.Size() > u.Chars+minGain
	case blockThought, blockHidden:
		return b.value.Size() > minGain
	}
	return false
}

// pruned counts what prune removed: results, and texts with reasoning.
type pruned struct{ results, texts, bytes int }

// prune returns the request's body with old results replaced by stubs. All other
// bytes are unchanged.
func prune(r *request, rules Rules, find lookup) ([]byte, pruned) {
	point, handles := prunePoint(r, rules, find)
	var out bytes.Buffer
	var removed pruned
	at := 0
	r.each(cut{}, point, rules, handles, func(b block, handle string) {
		out.Write(r.body[at:b.value.From])
		at = b.value.To
		switch b.kind {
		case blockResult:
			out.Write(stub(r.text(b), handle, rules.Chars, "result"))
			removed.results++
			return
		case blockText:
			out.Write(stub(r.text(b), handle, rules.Chars, "reply"))
		default:
			fmt.Fprintf(&out, `{"type":"text","text":"[strandline: reasoning was omitted to save context. To read it: recall %s]"}`, handle)
		}
		removed.texts++
	})
	if at == 0 {
		return r.body, removed
	}
	out.Write(r.body[at:])
	removed.bytes = len(r.body) - out.Len()
	return out.Bytes(), removed
}

// stub returns the JSON string that replaces a result or a reply.
func stub(body, handle string, chars int, what string) []byte {
	head := strings.TrimSuffix(text.Truncate(body, chars), "…")
	left := text.Units(body) - text.Units(head)
	line := fmt.Sprintf("[strandline: %d more characters of this %s were omitted to save context. To read them: recall %s]", left, what, handle)
	if head != "" {
		line = head + "\n" + line
	}
	quoted, _ := jsontext.AppendQuote(nil, line) // the text is valid UTF-8
	return quoted
}

// Handles returns the handles of archived tool results by the ids of their calls.
// Calls that the archive does not hold are missing from the map; an error beside a map
// says why they stay missing.
type Handles func(ctx context.Context, session string, ids []string) (map[string]string, error)

// handleCache caches looked-up handles. It is safe for concurrent use.
type handleCache struct {
	find Handles

	mu       sync.Mutex
	sessions map[string]map[string]*result // by session and call id
}

// result is the cached state of a call's result.
type result struct {
	handle  string // "" if it was not found
	lookups int
}

const (
	// maxSessions bounds the cache. It is cleared when full.
	maxSessions = 64
	// maxLookups limits the lookups of a call. The archive is some seconds older than
	// the client; a result missing after this many requests is never archived.
	maxLookups = 8
)

// lookup returns the handles of the calls that the archive holds. final reports
// that the other calls will not get one.
func (s *handleCache) lookup(ctx context.Context, session string, ids []string) (found map[string]string, final bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.sessions[session]
	if known == nil {
		if s.sessions == nil || len(s.sessions) >= maxSessions {
			s.sessions = map[string]map[string]*result{}
		}
		known = map[string]*result{}
		s.sessions[session] = known
	}
	var missing []string
	for _, id := range ids {
		if known[id] == nil {
			known[id] = new(result)
		}
		if p := known[id]; p.handle == "" && p.lookups < maxLookups {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		var fresh map[string]string
		if fresh, err = s.find(ctx, session, missing); fresh == nil && err != nil {
			return nil, false, err
		}
		for _, id := range missing {
			known[id].handle = fresh[id]
			known[id].lookups++
		}
	}
	found, final = make(map[string]string, len(ids)), true
	for _, id := range ids {
		switch p := known[id]; {
		case p.handle != "":
			found[id] = p.handle
		case p.lookups < maxLookups:
			final = false
		}
	}
	return found, final, err
}
