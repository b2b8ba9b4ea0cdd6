package cli

import (
	"fmt"
	"strings"
	"time"

	"strandline/internal/capture"
	"strandline/internal/text"
)

// progress draws a bar on stderr if that is a terminal. Not safe for concurrent use.
type progress struct {
	app   *commands
	label string
	live  bool
	width int
	start time.Time
	drawn time.Time // zero: never
	cells int       // width of the current line
}

func (a *commands) newProgress(label string) *progress {
	width, live := a.env.Terminal(a.env.Stderr)
	return &progress{app: a, label: label, live: live && !a.json, width: width, start: a.app.Now()}
}

// redraw is the minimum time between two draws.
const redraw = 80 * time.Millisecond

func (p *progress) capture(s capture.Progress) {
	p.draw(s.Bytes, s.TotalBytes, fmt.Sprintf("%d/%d files", s.Done, s.Jobs), s.Done == s.Jobs)
}

func (p *progress) draw(done, total int64, what string, last bool) {
	now := p.app.app.Now()
	if !p.live || (now.Sub(p.drawn) < redraw && !last) {
		return
	}
	p.drawn = now
	share := 1.0
	if total > 0 {
		share = float64(done) / float64(total)
	}
	const length = 24
	full := int(share * length)
	rate := ""
	if d := now.Sub(p.start).Seconds(); d > 0.2 {
		rate = fmt.Sprintf("  %s/s", size(int64(float64(done)/d)))
		if left := time.Duration((d/max(share, 0.001) - d) * float64(time.Second)); left > 2*time.Second {
			rate += "  " + left.Round(time.Second).String() + " left"
		}
	}
	line := fmt.Sprintf("%s [%s%s] %3.0f%%  %s  %s%s", p.label,
		strings.Repeat("█", full), strings.Repeat("░", length-full), share*100, what, size(done), rate)
	line = text.TruncateCells(line, max(p.width-1, 20))
	fmt.Fprintf(p.app.env.Stderr, "\r%s", pad(line, p.cells, false))
	p.cells = text.Cells(line)
}

// end finishes the line of the bar, if one was drawn.
func (p *progress) end() {
	if p.cells > 0 {
		fmt.Fprintln(p.app.env.Stderr)
	}
}
