package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
	"strandline/internal/snapshot"
	"strandline/internal/text"
	"strandline/internal/view"
)

// SaveSnapshot keeps a snapshot in the journal, from where the index has it.
func (s *Served) SaveSnapshot(ctx context.Context, d view.SnapshotDraft) (view.Snapshot, error) {
	if err := snapshot.Check(d.SnapshotFact); err != nil {
		return view.Snapshot{}, err
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails: the program ends first
	out := view.Snapshot{ID: hex.EncodeToString(random[:]), Time: s.a.env.Now().UTC(), SnapshotFact: d.SnapshotFact}
	err := s.a.withIndex(ctx, s.r, StoreWrite, func(x indexed) error {
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
		out.SnapshotFact, out.LeftOut = snapshot.Bound(out.SnapshotFact)
		err = x.journal.RecordAll(ctx, capture.Fact{Kind: archive.JournalSnapshot, Session: out.Session, Data: out.SnapshotFact, ID: out.ID})
		return errors.Join(err, x.journal.Sync(ctx, x.store))
	})
	out.Handle = archive.ShortID(out.Session)
	return out, err
}

// sessionToldOf is the id of a session that a program names: one that is kept, or
// one of which nothing is kept yet.
func sessionToldOf(ctx context.Context, x indexed, typed string) (id string, kept bool, err error) {
	_, id, err = session(ctx, x.store, typed)
	if archive.ErrorCode(err) == archive.CodeNotFound && archive.ValidID(typed) {
		return typed, false, nil
	}
	return id, err == nil, err
}

// Snapshots lists those of a session, or all if none is named, newest first.
func (s *Served) Snapshots(ctx context.Context, typed string) ([]view.SnapshotLine, error) {
	return read(ctx, s, func(x indexed) ([]view.SnapshotLine, error) {
		list, err := snapshotsOf(ctx, x, typed)
		if err != nil {
			return nil, err
		}
		out := make([]view.SnapshotLine, 0, len(list))
		for _, one := range list {
			out = append(out, one.Line())
		}
		return out, nil
	})
}

// Snapshot is one of them.
func (s *Served) Snapshot(ctx context.Context, ask view.SnapshotsAsk) (view.Snapshot, error) {
	return read(ctx, s, func(x indexed) (view.Snapshot, error) { return findSnapshot(ctx, x, ask) })
}

// SnapshotBrief is what an agent of a role needs of a snapshot; a budget of 0 is
// the usual one.
func (s *Served) SnapshotBrief(ctx context.Context, ask view.SnapshotsAsk, role string, budget int) (view.SnapshotBrief, error) {
	return read(ctx, s, func(x indexed) (out view.SnapshotBrief, err error) {
		one, err := findSnapshot(ctx, x, ask)
		if err != nil {
			return out, err
		}
		kind := snapshot.General
		if role != "" {
			shape, err := compact.ParseRole(role)
			if err != nil {
				return out, err
			}
			if shape == compact.RoleAuto {
				shape = compact.RoleOf(one.AgentType)
			}
			kind = snapshot.Kind(shape)
		}
		if budget == 0 {
			budget = snapshot.Budget
		}
		one.EachText(s.a.env.Redact(x.cfg)) // before anything is cut
		title := "snapshot " + one.ID + " of session " + one.Handle + ", " + one.Time.Format("2006-01-02 15:04") + " UTC"
		body := snapshot.Brief(one.SnapshotFact, kind, title, budget)
		return view.SnapshotBrief{ID: one.ID, Session: one.Session, Role: kind, Chars: text.Units(body), Text: body}, nil
	})
}

// latest stands for the newest snapshot of a session.
const latest = "latest"

func findSnapshot(ctx context.Context, x indexed, ask view.SnapshotsAsk) (view.Snapshot, error) {
	list, err := snapshotsOf(ctx, x, ask.Session)
	if err != nil {
		return view.Snapshot{}, err
	}
	at := slices.IndexFunc(list, func(s view.Snapshot) bool { return ask.ID == latest || s.ID == ask.ID })
	if at < 0 {
		return view.Snapshot{}, archive.NotFound("there is no such snapshot", "GET /api/v1/snapshots lists those that are kept")
	}
	return list[at], nil
}

// snapshotsOf reads those of a session or all, newest first.
func snapshotsOf(ctx context.Context, x indexed, typed string) ([]view.Snapshot, error) {
	id := ""
	if typed != "" {
		var err error
		if id, _, err = sessionToldOf(ctx, x, typed); err != nil {
			return nil, err
		}
	}
	facts, err := x.store.Facts(ctx, id, archive.JournalSnapshot)
	if err != nil {
		return nil, err
	}
	var out []view.Snapshot
	for _, e := range slices.Backward(facts) {
		one := view.Snapshot{ID: e.ID, Session: e.Session, Handle: archive.ShortID(e.Session), Time: e.Time}
		if json.Unmarshal(e.Data, &one.SnapshotFact) == nil { // what has another shape is no snapshot of ours
			out = append(out, one)
		}
	}
	return out, nil
}
