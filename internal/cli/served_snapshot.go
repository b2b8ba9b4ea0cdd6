package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
	"strandline/internal/text"
)

// SaveSnapshot keeps a snapshot in the journal, from where the index has it.
func (s *Served) SaveSnapshot(ctx context.Context, d app.SnapshotDraft) (app.Snapshot, error) {
	if err := app.Check(d.SnapshotFact); err != nil {
		return app.Snapshot{}, err
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails: the program ends first
	out := app.Snapshot{ID: hex.EncodeToString(random[:]), Time: s.a.app.Now().UTC(), SnapshotFact: d.SnapshotFact}
	err := s.a.app.WithIndex(ctx, s.r, app.ReadWrite, func(x app.Archive) error {
		id, kept, err := sessionToldOf(ctx, x, d.Session)
		if err != nil {
			return err
		}
		out.Session = id
		if d.Fill && kept {
			if err := fillSnapshot(ctx, x, out.Session, &out.SnapshotFact); err != nil {
				return err
			}
		}
		out.SnapshotFact, out.LeftOut = app.Bound(out.SnapshotFact)
		err = x.Journal.RecordAll(ctx, capture.Fact{Kind: archive.JournalSnapshot, Session: out.Session, Data: out.SnapshotFact, ID: out.ID})
		return errors.Join(err, x.Journal.Sync(ctx, x.Index))
	})
	out.Handle = archive.ShortID(out.Session)
	return out, err
}

// sessionToldOf is the id of a session that a program names: one that is kept, or
// one of which nothing is kept yet.
func sessionToldOf(ctx context.Context, x app.Archive, typed string) (id string, kept bool, err error) {
	_, id, err = app.ResolveSession(ctx, x.Index, typed)
	if archive.ErrorCode(err) == archive.CodeNotFound && archive.ValidID(typed) {
		return typed, false, nil
	}
	return id, err == nil, err
}

// Snapshots lists those of a session, or all if none is named, newest first.
func (s *Served) Snapshots(ctx context.Context, typed string) ([]app.SnapshotLine, error) {
	return read(ctx, s, func(x app.Archive) ([]app.SnapshotLine, error) {
		list, err := snapshotsOf(ctx, x, typed)
		if err != nil {
			return nil, err
		}
		out := make([]app.SnapshotLine, 0, len(list))
		for _, one := range list {
			out = append(out, one.Line())
		}
		return out, nil
	})
}

// Snapshot is one of them.
func (s *Served) Snapshot(ctx context.Context, ask app.SnapshotsAsk) (app.Snapshot, error) {
	return read(ctx, s, func(x app.Archive) (app.Snapshot, error) { return findSnapshot(ctx, x, ask) })
}

// SnapshotBrief is what an agent of a role needs of a snapshot; a budget of 0 is
// the usual one.
func (s *Served) SnapshotBrief(ctx context.Context, ask app.SnapshotsAsk, role string, budget int) (app.SnapshotBrief, error) {
	return read(ctx, s, func(x app.Archive) (out app.SnapshotBrief, err error) {
		one, err := findSnapshot(ctx, x, ask)
		if err != nil {
			return out, err
		}
		kind := app.General
		if role != "" {
			shape, err := compact.ParseRole(role)
			if err != nil {
				return out, err
			}
			if shape == compact.RoleAuto {
				shape = compact.RoleOf(one.AgentType)
			}
			kind = app.Kind(shape)
		}
		if budget == 0 {
			budget = app.Budget
		}
		one.EachText(x.Redact) // before anything is cut
		title := "snapshot " + one.ID + " of session " + one.Handle + ", " + one.Time.Format("2006-01-02 15:04") + " UTC"
		body := app.Brief(one.SnapshotFact, kind, title, budget)
		return app.SnapshotBrief{ID: one.ID, Session: one.Session, Role: kind, Chars: text.Units(body), Text: body}, nil
	})
}

// latest stands for the newest snapshot of a session.
const latest = "latest"

func findSnapshot(ctx context.Context, x app.Archive, ask app.SnapshotsAsk) (app.Snapshot, error) {
	list, err := snapshotsOf(ctx, x, ask.Session)
	if err != nil {
		return app.Snapshot{}, err
	}
	at := slices.IndexFunc(list, func(s app.Snapshot) bool { return ask.ID == latest || s.ID == ask.ID })
	if at < 0 {
		return app.Snapshot{}, archive.NotFound("there is no such snapshot", "GET /api/v1/snapshots lists those that are kept")
	}
	return list[at], nil
}

// snapshotsOf reads those of a session or all, newest first.
func snapshotsOf(ctx context.Context, x app.Archive, typed string) ([]app.Snapshot, error) {
	id := ""
	if typed != "" {
		var err error
		if id, _, err = sessionToldOf(ctx, x, typed); err != nil {
			return nil, err
		}
	}
	facts, err := x.Index.Facts(ctx, id, archive.JournalSnapshot)
	if err != nil {
		return nil, err
	}
	var out []app.Snapshot
	for _, e := range slices.Backward(facts) {
		one := app.Snapshot{ID: e.ID, Session: e.Session, Handle: archive.ShortID(e.Session), Time: e.Time}
		if json.Unmarshal(e.Data, &one.SnapshotFact) == nil { // what has another shape is no snapshot of ours
			out = append(out, one)
		}
	}
	return out, nil
}
