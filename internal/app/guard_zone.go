package app

import (
	"context"
	"fmt"
	"os"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/state"
	"strandline/internal/text"
	"strandline/internal/usage"
)

// zoneSizes returns the sizes of a transcript, in bytes, that count as zones where the
// client reports no usage.
func zoneSizes() []int64 { return []int64{500 << 10, 750 << 10, 1024 << 10} }

// crossed is the highest zone of a session with a snapshot, in state/guard.
type crossed struct {
	Level int `json:"level"`
}

// checkZone takes a snapshot and reports when a session enters a higher zone than before
// its last compaction.
func (g *guard) checkZone(ctx context.Context, work capture.PendingWork) error {
	level, line := g.zone(work)
	marks := state.Store{Dir: g.w.Config.Paths.GuardZones()}
	var before crossed
	_ = marks.ReadJSON(work.Session, &before) // a missing or damaged one is that of a new session
	if level == before.Level {
		return nil
	}
	if err := marks.WriteJSON(work.Session, crossed{level}); err != nil || level < before.Level {
		return err
	}
	draft := SnapshotDraft{Session: work.Session, Fill: true, SnapshotFact: archive.SnapshotFact{
		Trigger: archive.TriggerProactive, AgentID: archive.GuardAgent, Summary: line,
	}}
	snapshot, err := g.app.SaveSnapshot(ctx, draft)
	if err != nil {
		return err
	}
	g.log.Warn("alert", "session", work.Session, "zone", level, "snapshot", snapshot.ID, "text", line)
	g.notice(fmt.Sprintf("%s  %s; snapshot %s", archive.ShortID(work.Session), line, snapshot.ID))
	return nil
}

// zone returns a session's zone, 0 for none, and its description.
func (g *guard) zone(work capture.PendingWork) (level int, line string) {
	if m := g.app.runner(g.w).Monitor; m != nil {
		m.Client = g.w.Capture.ClientOf(work.Client)
		if s := m.Latest(work.Session, work.Transcript); s.Counted {
			level = map[usage.Zone]int{usage.Warning: 1, usage.Optimize: 2}[usage.Zone(s.Zone)]
			return level, strings.TrimPrefix(usage.Summary(s), usage.ReportPrefix+" ")
		}
	}
	info, err := os.Stat(work.Transcript)
	if err != nil {
		return 0, ""
	}
	for _, size := range zoneSizes() {
		if info.Size() >= size {
			level++
		}
	}
	return level, text.Size(info.Size()) + " of transcript, usage unknown"
}

// Calls records the hooks of sessions.
func (w Workspace) Calls() capture.HookCalls {
	return capture.HookCalls{Dir: w.Config.Paths.HookCalls()}
}
