package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/usage"
)

func (a *commands) statusCommand(cmd *cobra.Command) {
	query(a, cmd, func(ctx context.Context, _ []string) (app.Status, error) { return a.app.Status(ctx) }, a.printStatus)
}

func (a *commands) printStatus(st app.Status) error {
	p, columns := a.paint(), a.columns(a.env.Stdout)
	styled := func(name, text string, style func(string) string) {
		hang(a.out, columns, p.dim(fmt.Sprintf("%-11s", name))+" ", 12, text, style)
	}
	line := func(name, text string) { styled(name, text, plain) }
	line("archive", st.Home)
	line("kept", fmt.Sprintf("%s of %s, %s to %s", runs(st.Sessions, st.Agents), count(st.Projects, "project"), a.stamp(st.First), a.stamp(st.Last)))
	if st.Older > 0 {
		line("", count(st.Older, "earlier generation")+" of transcripts that were rewritten")
	}
	line("", strings.Join([]string{
		count(st.Turns, "turn"), count(st.Steps, "step"), count(st.Calls, "tool call"), count(st.Compactions, "compaction"), count(st.Passages, "passage"),
	}, " · "))
	ratio := ""
	if st.LogBytes > 0 {
		ratio = fmt.Sprintf(" (%.1f : 1)", float64(st.Bytes)/float64(st.LogBytes))
	}
	line("on disk", fmt.Sprintf("%s of transcripts in %s of logs%s, index %s", size(st.Bytes), size(st.LogBytes), ratio, size(st.IndexBytes)))
	if m := st.Measured; m != nil {
		text := fmt.Sprintf("the last %s kept %s of the details used afterwards", count(m.Compactions, "compaction"), percent(m.Kept))
		if m.Together > m.Kept {
			text += ", " + percent(m.Together) + " with the restored context"
		}
		line("compacted", text)
	}
	for _, r := range st.Running {
		line("running", runningLine(r))
	}
	if g := st.Gateway; g != nil {
		line("gateway", fmt.Sprintf("%s, pruned by %s; %s avoided", count(int(g.Requests), "request"), size(g.Bytes), count(int(g.Avoided), "compaction")))
	}
	for i, e := range st.Exchanges {
		name := ""
		if i == 0 {
			name = "machines"
		}
		line(name, exchangedAt(e, a.stamp))
	}
	a.printMemory(st)
	if st.Why != "" {
		styled("index", st.Why+": the logs answer until it is rebuilt", p.yellow)
	}
	if st.Pending {
		styled("pending", "sessions wait to be indexed: `strandline maintain` does it now", p.yellow)
	}
	if st.Lost > 0 {
		styled("lost", app.LostText(st.Lost)+": `strandline verify` names them", p.red)
	}
	if st.Foreign > 0 {
		line("ignored", count(st.Foreign, "hook call")+" of other clients that read the same settings")
	}
	if st.Errors > 0 {
		styled("errors", fmt.Sprintf("%d in the last day: `strandline doctor` lists them", st.Errors), p.yellow)
	}
	return nil
}

// exchangedAt says when the archive was pushed to and pulled from a place.
func exchangedAt(e app.Exchanged, stamp func(time.Time) string) string {
	var parts []string
	if !e.Pushed.IsZero() {
		parts = append(parts, "pushed "+stamp(e.Pushed))
	}
	if !e.Pulled.IsZero() {
		parts = append(parts, "pulled "+stamp(e.Pulled))
	}
	return oneLine(e.Place) + ": " + strings.Join(parts, ", ")
}

// runningLine describes a running session: its window, zone, growth and forecast.
func runningLine(r app.RunningSession) string {
	about := ""
	if r.Estimated {
		about = "~"
	}
	parts := []string{fmt.Sprintf("%s%d%% of %s tokens", about, usage.Percent(r.Share), usage.FormatTokens(r.Window)), r.Zone}
	if r.Growth > 0 {
		parts = append(parts, "+"+usage.FormatTokens(r.Growth)+"/turn")
	}
	if r.Left != nil {
		parts = append(parts, "~"+count(*r.Left, "turn")+" left")
	}
	if r.Cycles > 0 {
		parts = append(parts, "told to save tokens "+count(r.Cycles, "time"))
	}
	return archive.ShortID(r.Session) + "  " + strings.Join(parts, " · ") + "  " + oneLine(r.Title)
}

// printMemory prints the archive's health and its parts.
func (a *commands) printMemory(st app.Status) {
	p, m, columns := a.paint(), st.Memory, a.columns(a.env.Stdout)
	if m.Health == nil {
		return
	}
	fmt.Fprintf(a.out, "%s %s %s\n", p.dim(fmt.Sprintf("%-11s", "memory")), bar(int(10*(*m.Health)+0.5), 10), p.bold(percent(*m.Health)))
	line := func(name string, share *float64, good bool, text string) {
		value := "   –"
		if share != nil {
			value = fmt.Sprintf("%4s", percent(*share))
		}
		style := plain
		if !good {
			style = p.yellow
		}
		hang(a.out, columns, p.dim(fmt.Sprintf("  %-9s", name))+" "+value+"  ", 18, text, style)
	}
	if st.Uncaptured > 0 {
		line("captured", m.Captured, false, app.UncapturedText(st.Uncaptured)+": run `strandline import`")
	} else {
		line("captured", m.Captured, true, "of the client's files on disk")
	}
	if st.Unindexed > 0 {
		line("indexed", m.Indexed, false, app.UnindexedText(st.Unindexed)+": run `strandline maintain`")
	} else {
		line("indexed", m.Indexed, m.Indexed == nil || *m.Indexed > 0.99, "of the captured bytes")
	}
	switch {
	case m.Embedded == nil: // no passage has a vector yet
	case *m.Embedded > 0.99:
		line("embedded", m.Embedded, true, "of the passages, for search by meaning")
	default:
		line("embedded", m.Embedded, true, "of the passages, for search by meaning: `strandline maintain` does the rest")
	}
	used := "of the restored places: none is measured yet"
	if m.Used != nil {
		used = "of the places that " + count(m.Measured, "compaction") + " restored"
	}
	line("used", m.Used, true, used)
}

// bar draws n cells, of which some are full.
func bar(full, n int) string { return strings.Repeat("█", full) + strings.Repeat("░", n-full) }
