package usage

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// ReportPrefix is the start of every report. It shows the origin in transcripts.
const ReportPrefix = "[Strandline]"

// Report is a usage report for the model.
type Report struct {
	Text string // "" if no report is due
	// Delivered records that the text was injected. If it is not nil, the caller calls it
	// after the injection; otherwise the report is due again.
	Delivered func(ctx context.Context) error
}

// Report returns the report that is due at a prompt. It reads one small file.
//
// A report is due when the session enters a zone other than "ok" and the last reported
// one, and at each further five percent of the window above the warning. In the zone
// "optimize" the report includes advice and increments PruneCount. With Always, a usage
// line is returned at all other prompts too.
//
// Rows of the transcript that are not captured yet are read, up to 256 KiB of them: the
// answer to a prompt precedes the indexing of what the last response added.
func (p Monitor) Report(session, transcript string) Report {
	s, ok := p.Store.Session(session)
	if p.Silent || !ok {
		return Report{}
	}
	p.readNew(&s, transcript)
	if s.LastTokenEstimate <= 0 {
		return Report{}
	}
	zones := p.zones(s)
	zone, step := zones.Of(s.LastPercentage), zones.step(s.LastPercentage)
	if zone == OK || string(zone) == s.ReportedZone && step <= s.ReportedStep {
		if p.Always {
			return Report{Text: Summary(s)}
		}
		return Report{}
	}
	text := Summary(s)
	if zone == Optimize {
		text += "\n" + advice(s)
	}
	return Report{Text: text, Delivered: func(ctx context.Context) error {
		return p.Store.Update(ctx, session, func(s *Session) bool {
			s.ReportedZone, s.ReportedStep, s.WarningIssued = string(zone), step, true
			if zone == Optimize {
				s.PruneCount++
			}
			return true
		})
	}}
}

// maxNew is how many bytes of a transcript are read at most for its newest usage.
const maxNew = 256 << 10

// readNew sets the tokens of a session to those of the last response that is not counted
// yet. A transcript that cannot be read changes nothing.
func (p Monitor) readNew(s *Session, transcript string) {
	info, err := os.Stat(transcript)
	if err != nil || p.LastUsage == nil || info.Size() <= s.Captured {
		return
	}
	chunk, err := readRange(transcript, max(s.Captured, info.Size()-maxNew), info.Size())
	if err != nil {
		return
	}
	u, model, compacted := p.LastUsage(p.Client.Common()(chunk))
	if compacted {
		s.Reset()
	}
	if used := u.Context(); used > 0 && used <= maxTokens {
		s.LastTokenEstimate, s.Output, s.Counted, s.Estimated = used, u.Output, true, false
		s.Model, s.MaxTokens = cmp.Or(model, s.Model), max(s.MaxTokens, used)
		p.Derive(s)
	}
}

// approx returns the prefix of the figures: "~" if they are estimated.
func (s Session) approx() string {
	if s.Estimated {
		return "~"
	}
	return ""
}

// bar draws a share from 0 to 1 as ten cells.
func bar(share float64, full, empty string) string {
	n := min(max(int(share*10), 0), 10)
	return strings.Repeat(full, n) + strings.Repeat(empty, 10-n)
}

// Summary returns a report's first line: the used share, the tokens and the size of the
// window, the growth and the forecast. Estimated figures have the prefix "~".
//
//	[Strandline] [=====-----] 52% 104K/200K +3.1K/turn, ~14 turns to compaction
func Summary(s Session) string {
	line := fmt.Sprintf("%s [%s] %s%d%% %s%s/%s", ReportPrefix, bar(s.LastPercentage, "=", "-"),
		s.approx(), Percent(s.LastPercentage), s.approx(), FormatTokens(s.LastTokenEstimate), FormatTokens(s.Window))
	if s.Growth <= 0 {
		return line
	}
	line += " +" + FormatTokens(s.Growth) + "/turn"
	// The next request contains the last response.
	turns, ok := TurnsLeft(s.LastTokenEstimate+s.Output, s.Limit, s.Growth)
	event := "compaction"
	if !s.Compacts {
		event = "the end of the window"
	}
	switch {
	case !ok:
		return line
	case turns == 0:
		return line + ", " + event + " is next"
	}
	return line + ", ~" + text.Count(turns, "turn") + " to " + event
}

// advice returns the text for the zone "optimize".
func advice(s Session) string {
	id := archive.ShortID(s.SessionID)
	kept := "Everything up to here is archived: `strandline search` finds it, `strandline show " + id + "/<turn>` prints it."
	if s.CaptureFailed {
		kept = "The archive may lack the end of this session; `strandline doctor` prints the cause."
	}
	return kept + " Keep answers and tool output short, and read files in parts. Start new tasks in a fresh session; it will receive a reference to this one (" + id + ")."
}

// Percent returns a share in whole percent, rounded down as the client does.
func Percent(share float64) int { return int(share*100 + 1e-9) }

// FormatTokens formats a number of tokens with at most three digits and a unit: 950,
// 3.1K, 104K, 1M.
func FormatTokens(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	value, unit := float64(n)/1000, "K"
	if n >= 999_950 {
		value, unit = value/1000, "M"
	}
	text := strconv.FormatFloat(value, 'f', 1, 64)
	if value >= 100 || strings.HasSuffix(text, ".0") {
		text = strconv.FormatFloat(value, 'f', 0, 64)
	}
	return text + unit
}
