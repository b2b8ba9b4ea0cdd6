package gateway

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"

	"strandline/internal/text"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// Prices of the API relative to a new input token; the context size at which a
// client with a window of 200,000 tokens compacts, and its size afterwards.
const (
	cachedPrice  = 0.1
	writtenPrice = 1.25
	compactsAt   = 167_000
	compactedTo  = 40_000
)

// bill sums the cost of sessions' requests.
type bill struct {
	requests, compactions, prunings int
	price                           float64 // in new input tokens
	sent, whole                     int     // bytes
}

// replay sends a session's conversation message by message.
func (b *bill) replay(messages []message, rules Rules) {
	r := &request{}
	point, sent := cut{}, 0
	for i := range messages {
		r.messages = append(r.messages, messages[i])
		if i+1 < len(messages) && messages[i+1].role != roleAssistant || messages[i].role == roleAssistant {
			continue
		}
		now, _ := prunePoint(r, rules, all)
		size, front := r.prunedSize(now, rules), r.prefixSize(point, rules)
		b.sent, b.whole = b.sent+size, b.whole+r.prunedSize(cut{}, rules)
		if size > compactsAt*bytesPerToken {
			b.compactions++
			r.messages = []message{{role: roleUser, size: compactedTo * bytesPerToken}}
			now, size, sent, front = cut{}, compactedTo*bytesPerToken, 0, 0
		}
		cached := sent
		if now != point {
			b.prunings++
			cached = front
		}
		b.requests++
		b.price += (cachedPrice*float64(cached) + writtenPrice*float64(max(size-cached, 0))) / bytesPerToken
		point, sent = now, size
	}
}

// prunedSize returns a conversation's size with what is before a prune point replaced.
func (r *request) prunedSize(point cut, rules Rules) int {
	size := r.prefixSize(point, rules)
	for _, m := range r.messages[min(point.results, len(r.messages)):] {
		size += m.size
	}
	return size
}

func (r *request) prefixSize(point cut, rules Rules) (size int) {
	point.results = min(point.results, len(r.messages))
	for _, m := range r.messages[:point.results] {
		size += m.size
	}
	return size - r.gain(cut{}, point, rules, nil)
}

// sizes converts a transcript's messages to a request's.
func sizes(ms []transcript.Message) (out []message) {
	for i := range ms {
		m := &ms[i]
		x := message{role: m.Role, size: len(m.Text)}
		if m.Role == roleAssistant {
			x.responses = 1
		}
		for _, u := range m.Uses {
			x.size += len(u.Input)
		}
		for _, u := range m.Results {
			x.size += len(u.Text)
			x.blocks = append(x.blocks, block{kind: blockResult, id: u.ID, value: text.Span{To: len(u.Text)}})
		}
		out = append(out, x)
	}
	return out
}

// TestReplay prints what the gateway would have saved in real sessions, for the
// table in docs/gateway.md.
func TestReplay(t *testing.T) {
	dir := os.Getenv("STRANDLINE_EVAL_DATA")
	if dir == "" {
		t.Skip("STRANDLINE_EVAL_DATA names no folder of transcripts")
	}
	var sessions [][]message
	err := filepath.WalkDir(filepath.Join(dir, "data", "transcripts"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil {
			sessions = append(sessions, sizes(claude.Conversation(data, nil)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var body strings.Builder
	w := tabwriter.NewWriter(&body, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w, "prune_at\tkeep\trequests\tprunings\tcompactions\tprice\tof none\tbytes\textend\t")
	none := 0.0
	for _, rules := range []Rules{{}, {At: 20_000, Keep: 4, Chars: 80}, {At: 40_000, Keep: 4, Chars: 80}, {At: 50_000, Keep: 4, Chars: 80}, {At: 60_000, Keep: 4, Chars: 80}, {At: 80_000, Keep: 4, Chars: 80}, {At: 100_000, Keep: 4, Chars: 80}, {At: 120_000, Keep: 4, Chars: 80}, {At: 140_000, Keep: 4, Chars: 80}} {
		var b bill
		for _, s := range sessions {
			b.replay(s, rules)
		}
		if none == 0 {
			none = b.price
		} else if b.prunings == 0 {
			t.Errorf("prune_at = %d prunes nothing", rules.At)
		}
		_, _ = fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%.1f M\t%.0f %%\t%d %%\t%d %%\t\n", rules.At, rules.Keep, b.requests, b.prunings, b.compactions, b.price/1e6, 100*b.price/none, b.sent*100/b.whole, 100-b.prunings*100/b.requests)
	}
	_ = w.Flush() // into memory
	t.Logf("%d sessions\n%s", len(sessions), body.String())
}
