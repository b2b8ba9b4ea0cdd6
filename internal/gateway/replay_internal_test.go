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

// Prices of the API relative to a new token of input, and where a client with a
// window of 200,000 tokens compacts, into a record of a fifth of it.
const (
	cachedPrice = 0.1
	writtenTo   = 1.25
	compactsAt  = 167_000
	recordOf    = 40_000
)

// bill is what the requests of sessions come to.
type bill struct {
	requests, compactions, cuts int
	price                       float64 // in new tokens of input
}

// replay sends a session's conversation as it grew.
func (b *bill) replay(messages []message, rules Rules) {
	r := &request{}
	cut, sent := 0, 0
	for i := range messages {
		r.messages = append(r.messages, messages[i])
		if i+1 < len(messages) && messages[i+1].role != roleAssistant || messages[i].role == roleAssistant {
			continue
		}
		now, _ := cuts(r, rules, all)
		size, front := r.weigh(now, rules), r.weighFront(cut, rules)
		if size > compactsAt*bytesPerToken {
			b.compactions++
			r.messages = []message{{role: roleUser, size: recordOf * bytesPerToken}}
			now, size, sent, front = 0, recordOf*bytesPerToken, 0, 0
		}
		cached := sent
		if now != cut {
			b.cuts++
			cached = front
		}
		b.requests++
		b.price += (cachedPrice*float64(cached) + writtenTo*float64(max(size-cached, 0))) / bytesPerToken
		cut, sent = now, size
	}
}

// weigh is the size of a conversation with what gives way in front of a cut.
func (r *request) weigh(cut int, rules Rules) int {
	size := r.weighFront(cut, rules)
	for _, m := range r.messages[min(cut, len(r.messages)):] {
		size += m.size
	}
	return size
}

func (r *request) weighFront(cut int, rules Rules) (size int) {
	for _, m := range r.messages[:min(cut, len(r.messages))] {
		size += m.size
		for _, b := range m.blocks {
			if rules.large(b) {
				size -= b.value.Size() - rules.Chars - worthStub/2
			}
		}
	}
	return size
}

// sizes makes of a transcript's messages what a request would hold.
func sizes(ms []transcript.Message) (out []message) {
	for i := range ms {
		m := &ms[i]
		x := message{role: m.Role, size: len(m.Text)}
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
// table in docs/gateway.md. It needs them.
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
			sessions = append(sessions, sizes(claude.Conversation(data)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var body strings.Builder
	w := tabwriter.NewWriter(&body, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w, "prune_at\tkeep\trequests\tcuts\tcompactions\tprice\tof none\t")
	none := 0.0
	for _, rules := range []Rules{{}, {At: 20_000, Keep: 4, Chars: 80}, {At: 50_000, Keep: 4, Chars: 80}, {At: 80_000, Keep: 4, Chars: 80}, {At: 100_000, Keep: 4, Chars: 80}, {At: 120_000, Keep: 4, Chars: 80}, {At: 140_000, Keep: 4, Chars: 80}} {
		var b bill
		for _, s := range sessions {
			b.replay(s, rules)
		}
		if none == 0 {
			none = b.price
		}
		_, _ = fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%.1f M\t%.0f %%\t\n", rules.At, rules.Keep, b.requests, b.cuts, b.compactions, b.price/1e6, 100*b.price/none)
	}
	_ = w.Flush() // into memory
	t.Logf("%d sessions\n%s", len(sessions), body.String())
}
