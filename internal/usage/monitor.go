package usage

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
	"strandline/internal/transcript"
)

// Monitor keeps the usage records of an archive's sessions up to date.
type Monitor struct {
	Store Store
	// Zones are the configured zones. They are scaled down if the client compacts
	// before the end of the window; see Zones.Within.
	Zones Zones
	// Window is the configured window size in tokens; 0 if not set.
	Window int
	// Always makes Report return the usage at every prompt. Silent makes it return
	// nothing and overrides Always.
	Always, Silent bool
	// Getenv reads the client's environment variables.
	Getenv func(string) string
	// Settings are the client's settings files, the one that takes precedence first.
	Settings []string
	// Client is the one whose transcripts are read.
	Client transcript.Client
	// Conversation parses the messages in consecutive rows of the common form. Nil: usage
	// is not estimated from text.
	Conversation func(chunk []byte) []transcript.Message
	// LastUsage returns the usage and the model of the last response in consecutive rows of
	// the common form, after the last compaction if there is one. Nil: only counted responses
	// are reported.
	LastUsage func(chunk []byte) (u archive.Usage, model string, compacted bool)
}

// Latest returns a session's usage record with the response that its transcript ends with,
// also if no hook has counted it. It stores nothing.
func (p Monitor) Latest(session, transcript string) Session {
	s, ok := p.Store.Session(session)
	if !ok || !s.Counted {
		s.SessionID, s.Captured = session, 0
	}
	p.readWindow(&s, transcript)
	p.readNew(&s, transcript)
	return s
}

// Observation is the state of a session as a hook sees it.
type Observation struct {
	Session    string
	Transcript string // path of the transcript, which the caller has validated
	Now        time.Time
	// Compacted is set at SessionStart after a compaction.
	Compacted bool
	// Context is the number of tokens that the client reported for a resumed or forked
	// session; 0 if it reported none.
	Context int64
	// Captured is the number of transcript bytes in the session log.
	Captured int64
	// CaptureFailed is set if the capture or its indexing failed.
	CaptureFailed bool
	// Batches are the newly indexed rows. Those of other sessions are ignored.
	Batches []archive.Batch
}

// Observe updates a session's usage record from an observation.
func (p Monitor) Observe(ctx context.Context, x Observation) error {
	return p.Store.Update(ctx, x.Session, func(s *Session) bool {
		if x.Compacted {
			s.Reset()
		}
		for _, b := range x.Batches {
			if b.Session.ID == x.Session {
				s.addBatch(b, x.Now)
			}
		}
		if len(x.Batches) == 0 && !x.Compacted && x.Captured > s.Captured {
			p.readNew(s, x.Transcript) // a hook that was stopped indexed them
		}
		p.readWindow(s, x.Transcript)
		s.Captured, s.CaptureFailed, s.LastCheck = x.Captured, x.CaptureFailed, x.Now.UnixMilli()
		switch {
		case s.Counted:
			s.CharsTo = x.Captured
		case x.Context > 0:
			s.Base, s.Chars, s.CharsTo = min(x.Context, maxTokens), 0, x.Captured
			s.LastTokenEstimate, s.Estimated = s.Base, true
		default:
			p.estimate(s, x)
		}
		p.Derive(s)
		return true
	})
}

// maxModelName is the maximum length of a stored model name in bytes.
const maxModelName = 100

// maxTokens is larger than any context window, in tokens. Larger counts in a
// transcript are invalid.
const maxTokens = 20_000_000

// addBatch counts the responses and compactions of a batch in transcript order.
func (s *Session) addBatch(b archive.Batch, now time.Time) {
	if b.Cursor.Generation != s.Generation {
		s.Generation, s.Line, s.CompactionLine = b.Cursor.Generation, 0, 0
	}
	compactions := b.Compactions
	for i := range b.Steps {
		step := &b.Steps[i]
		for len(compactions) > 0 && compactions[0].Line <= step.LineFrom {
			s.addCompaction(compactions[0])
			compactions = compactions[1:]
		}
		s.addStep(step, now)
	}
	for _, c := range compactions {
		s.addCompaction(c)
	}
}

// addStep counts a response. It ignores responses of sub-agents, errors, copies,
// responses that were already counted, and invalid counts.
func (s *Session) addStep(step *archive.Step, now time.Time) {
	used := step.Usage.Context()
	if step.Sidechain || step.APIError || step.Copy != nil || step.LineFrom < max(s.Line, s.CompactionLine) ||
		used <= 0 || used > maxTokens || step.Usage.Output < 0 || step.Usage.Output > maxTokens {
		return
	}
	s.LastTokenEstimate, s.Output, s.Line, s.Counted, s.Estimated = used, step.Usage.Output, step.LineFrom, true, false
	if step.Model != "" {
		s.Model = archive.Clip(strings.ToValidUTF8(step.Model, "?"), maxModelName)
	}
	s.MaxTokens = max(s.MaxTokens, used)
	s.Append(Point{TS: now.UnixMilli(), Tokens: used, Turns: step.Turn})
}

// addCompaction resets the usage to the tokens that a compaction left. It ignores
// compactions that were already counted.
func (s *Session) addCompaction(c archive.Compaction) {
	if c.Line <= s.CompactionLine || c.Line < s.Line {
		return
	}
	s.Reset()
	s.CompactionLine, s.Base = c.Line, min(max(c.PostTokens, 0), maxTokens)
}

// Derive recomputes the fields of s that depend on its tokens and its model: the
// window and its limits, the shares, the growth and the zone.
func (p Monitor) Derive(s *Session) {
	size, from := p.windowSize(*s)
	l := Limits{Window: int(size), Threshold: int(s.ClientLimit), Hard: int(size)}
	if s.ClientLimit == 0 || size == 0 {
		l = FindLimits(s.Model, int(size), p.Getenv, p.Settings...)
	}
	s.Window, s.WindowFrom, s.Threshold, s.Hard = int64(l.Window), from, int64(l.Threshold), int64(l.Hard)
	next, compacts := l.Next()
	s.Limit, s.Compacts = int64(next), compacts
	s.LastPercentage = share(s.LastTokenEstimate, s.Window)
	for i := range s.History {
		s.History[i].Pct = share(s.History[i].Tokens, s.Window)
	}
	s.Growth = Growth(s.History)
	if s.Zone = string(p.zones(*s).Of(s.LastPercentage)); s.Zone == string(OK) {
		s.ReportedZone, s.ReportedStep = "", 0
	}
}

// zones returns the zones for the share of the window at which the client acts.
func (p Monitor) zones(s Session) Zones { return p.Zones.Within(share(s.Limit, s.Window)) }

// readWindow stores the window that the end of the transcript names. One that cannot be
// read changes nothing.
func (p Monitor) readWindow(s *Session, transcript string) {
	info, err := os.Stat(transcript)
	if err != nil || p.Client.Window == nil {
		return
	}
	chunk, err := readRange(transcript, max(0, info.Size()-maxNew), info.Size())
	if n, limit := p.Client.Window(chunk); err == nil && n > 0 && n <= maxWindow {
		s.ClientWindow, s.ClientModel, s.ClientLimit = n, s.Model, limit
	}
}

// share returns tokens / window, rounded down to four decimal places; 0 if the
// window is unknown.
func share(tokens, window int64) float64 {
	if window <= 0 {
		return 0
	}
	return float64(tokens*10_000/window) / 10_000
}

// windowSize returns the window's size in tokens and its source, a value of
// Session.WindowFrom. Size 0 means the default window of the model. A configured or
// default size below the session's largest usage is ignored.
func (p Monitor) windowSize(s Session) (size int64, from string) {
	known := knownModel(s.Model)
	switch {
	case s.ClientWindow > 0 && sameModel(s.ClientModel, s.Model):
		return s.ClientWindow, "client"
	case known && s.MaxTokens <= int64(ModelWindow(s.Model)):
		return 0, "model"
	case !known && p.Window > 0 && s.MaxTokens <= int64(p.Window):
		return int64(p.Window), "config"
	case s.MaxTokens > 0:
		return fitWindow(max(s.MaxTokens, int64(p.Window))), "observed"
	}
	return 0, "model" // for an unknown model FindLimits assumes the large window, as the client does
}

// sameModel reports whether two names may refer to one model: the client reports
// "claude-opus-4-6[1m]" where the API returns "claude-opus-4-6-20260205".
func sameModel(a, b string) bool {
	a, b = strings.TrimSuffix(a, "[1m]"), strings.TrimSuffix(b, "[1m]")
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

// charsPerToken is the average number of UTF-16 units per token of a conversation.
const charsPerToken = 3.5

// maxEstimate is the maximum number of bytes at the end of a transcript that one
// estimate reads.
const maxEstimate = 4 << 20

// boundary identifies the transcript row that the client writes at a compaction.
const boundary = `"subtype":"compact_boundary"`

// estimate sets the tokens of a session that has no response since the last
// compaction or the start: the tokens that the compaction left, and the new
// characters since. The client's system prompt and tool definitions are not included
// because they are not in the transcript.
func (p Monitor) estimate(s *Session, x Observation) {
	s.Estimated = true
	if x.Captured > s.CharsTo && p.Conversation != nil {
		// If the transcript cannot be read, its new bytes are not estimated.
		if chunk, err := readRange(x.Transcript, max(s.CharsTo, x.Captured-maxEstimate), x.Captured); err == nil {
			chunk = p.Client.Common()(chunk)
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

// characters returns the length of messages in UTF-16 units.
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

// readRange reads the bytes [from, to) of a file.
func readRange(path string, from, to int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, from, to-from))
}
