package usage

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"strandline/internal/text"
	"strandline/internal/transcript"
)

// charsPerToken is how many characters of a conversation make a token, where
// nothing better is known.
const charsPerToken = 3.5

// maxEstimate is how many bytes of a transcript an estimate reads at once, the
// newest ones.
const maxEstimate = 4 << 20

// boundary is what the row has in it at which the client cut the context.
const boundary = `"subtype":"compact_boundary"`

// estimate sets the tokens of a session whose responses say nothing of them: what
// the client says a cut left, and the characters since. It reads the bytes that
// are new. What the client puts before a conversation, its instructions and
// tools, stands in no transcript and is not in the estimate.
func (p Monitor) estimate(s *Session, x Observation) {
	s.Estimated = true
	if x.Captured > s.CharsTo && p.Conversation != nil {
		// A transcript that cannot be read leaves the estimate where it was.
		if chunk, err := readPart(x.Transcript, max(s.CharsTo, x.Captured-maxEstimate), x.Captured); err == nil {
			at := bytes.LastIndex(chunk, []byte(boundary))
			if at >= 0 {
				s.Chars = 0
			}
			if at < 0 || s.Base == 0 {
				s.Chars += characters(p.Conversation(chunk[max(at, 0):]))
			}
		}
	}
	s.CharsTo = x.Captured
	s.LastTokenEstimate = s.Base + int64(float64(s.Chars)/charsPerToken)
}

// characters counts what stands in a context of a conversation.
func characters(ms []transcript.Message) int64 {
	n := 0
	for _, m := range ms {
		n += text.Units(m.Text)
		for _, u := range m.Uses {
			n += text.Units(u.Name) + text.Units(string(u.Input))
		}
		for _, r := range m.Results {
			n += text.Units(r.Text)
		}
	}
	return int64(n)
}

func readPart(path string, from, to int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("estimate: %w", err)
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, from, to-from))
}
