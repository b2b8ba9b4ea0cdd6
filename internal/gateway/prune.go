package gateway

import (
	"bytes"
	"context"
	"fmt"
	"maps"
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
	// Chars is the length of a pruned result's kept beginning, in UTF-16 units.
	Chars int
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

// prunePoint replays the conversation message by message. It returns the number
// of messages before the last prune point and the handles of the results pruned
// there. A prune point depends only on the messages before it, so every later
// request finds the same ones.
func prunePoint(r *request, rules Rules, find lookup) (point int, handles map[string]string) {
	handles = map[string]string{}
	if rules.At <= 0 {
		return 0, handles
	}
	limit := rules.At * bytesPerToken
	total := 0 // bytes of the conversation so far, without pruned content
	// The newest messages, from next on, are not pruned: at least Keep responses and
	// At/keepPart tokens.
	next, size, responses := 0, 0, 0
	for i, m := range r.messages {
		total, size, responses = total+m.size, size+m.size, responses+m.responses
		for ; next <= i; next++ {
			first := &r.messages[next]
			if responses-first.responses < rules.Keep || (size-first.size)*keepPart < limit {
				break
			}
			size, responses = size-first.size, responses-first.responses
		}
		if total <= limit || r.gain(point, next, rules, nil)*gainPart < limit {
			continue
		}
		found, final := find(r.large(point, next, rules))
		if !final {
			continue
		}
		gain := r.gain(point, next, rules, found)
		if gain*gainPart < limit {
			continue
		}
		maps.Copy(handles, found)
		point, total = next, total-gain
	}
	return point, handles
}

// gain returns how many bytes pruning a range of messages removes: of the large
// results in found, or of all if found is nil.
func (r *request) gain(from, to int, rules Rules, found map[string]string) (gain int) {
	for i := from; i < to; i++ {
		for _, b := range r.messages[i].blocks {
			if rules.large(b) && (found == nil || found[b.id] != "") {
				gain += b.value.Size() - rules.Chars - minGain/2
			}
		}
	}
	return gain
}

// large returns the ids of the calls in a range of messages whose results are
// large enough to prune.
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
	return b.kind == blockResult && b.id != "" && b.value.Size() > u.Chars+minGain
}

// pruned counts what prune removed.
type pruned struct{ results, bytes int }

// prune returns the request's body with old results replaced by stubs. All other
// bytes are unchanged.
func prune(r *request, rules Rules, find lookup) ([]byte, pruned) {
	point, handles := prunePoint(r, rules, find)
	var out bytes.Buffer
	var removed pruned
	at := 0
	for _, m := range r.messages[:point] {
		for _, b := range m.blocks {
			handle := handles[b.id]
			if handle == "" || !rules.large(b) {
				continue
			}
			out.Write(r.body[at:b.value.From])
			out.Write(stub(r.text(b), handle, rules.Chars))
			at = b.value.To
			removed.results++
		}
	}
	if removed.results == 0 {
		return r.body, removed
	}
	out.Write(r.body[at:])
	removed.bytes = len(r.body) - out.Len()
	return out.Bytes(), removed
}

// stub returns the JSON string that replaces a result.
func stub(body, handle string, chars int) []byte {
	head := strings.TrimSuffix(text.Truncate(body, chars), "…")
	left := text.Units(body) - text.Units(head)
	line := fmt.Sprintf("[strandline: %d more characters of this result were omitted to save context. To read them: recall %s]", left, handle)
	if head != "" {
		line = head + "\n" + line
	}
	quoted, _ := jsontext.AppendQuote(nil, line) // the text is valid UTF-8
	return quoted
}

// Handles returns the handles of archived tool results by the ids of their calls.
// Calls that the archive does not hold are missing from the map.
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
		fresh, err := s.find(ctx, session, missing)
		if err != nil {
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
	return found, final, nil
}
