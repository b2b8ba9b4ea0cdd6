package app

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
)

// ArchivePull brings in what a place has and this archive lacks, and indexes it. It can be
// interrupted and repeated. Sessions that another machine deleted for good are deleted
// here as well. A damaged pack is reported and left out.
func (a *App) ArchivePull(ctx context.Context, o ExchangeOptions) (ExchangeReport, error) {
	return a.withPlace(ctx, o, func(x *exchange) error {
		if len(x.packs) == 0 {
			return archive.NotFound("there are no packs in "+x.out.Place, "push from the other machine first: strandline archive push")
		}
		if o.DryRun {
			return x.countNew()
		}
		p := pulling{exchange: x, before: map[string]bool{}, changed: map[string]bool{}, projects: map[string]bool{}}
		if err := p.packsOf(ctx); err != nil {
			return err
		}
		if err := p.forget(ctx); err != nil {
			return err
		}
		if err := x.Capture.Manifest().Update(ctx, nil, nil); err != nil {
			return err
		}
		// What an interrupted pull brought in is indexed as well.
		err := a.withIndex(ctx, x.Workspace, ReadWrite, func(ar Archive) error {
			r, err := a.runner(x.Workspace).Index(ctx, ar.Index)
			if err != nil {
				return err
			}
			x.out.Failed = append(x.out.Failed, fileErrors(r.Failed)...)
			_, err = a.mergeMoved(ctx, ar, p.projects)
			return err
		})
		if err != nil {
			return err
		}
		return x.done(func(e *Exchanged, now time.Time) { e.Pulled = now })
	})
}

// countNew counts the packs that this archive has not read.
func (x *exchange) countNew() error {
	groups := map[string]bool{}
	for name, size := range x.packs {
		group, _, _ := packName(name)
		_, known := groups[group]
		if !x.known.packs[name].Applied {
			x.out.Packs++
			x.out.Stored += size
			groups[group] = true
		} else if !known {
			groups[group] = false
		}
	}
	for group, isNew := range groups {
		switch {
		case group == journalGroup:
		case !isNew:
			x.out.Unchanged++
		default:
			if x.out.Sessions++; !x.Capture.HasLog(group) {
				x.out.New++
			}
		}
	}
	return nil
}

// pulling is a pull.
type pulling struct {
	*exchange
	ids      map[string]bool // of the journal's entries
	before   map[string]bool // sessions in the packs: whether they had logs before
	changed  map[string]bool // sessions with new bytes
	projects map[string]bool // keys of their projects
	deleted  []string        // sessions to erase
	parts    []string        // sessions with parts to erase
}

// packsOf reads the new packs of all sessions. Deletions come first: the folder of the
// journal's other facts is the first one by name.
func (p *pulling) packsOf(ctx context.Context) error {
	entries, err := p.Journal.All(ctx)
	if err != nil {
		return err
	}
	p.ids = map[string]bool{}
	for _, e := range entries {
		p.ids[e.ID] = true
	}
	groups := map[string]bool{}
	for name := range p.packs {
		group, _, _ := packName(name)
		groups[group] = true
	}
	names := slices.Sorted(maps.Keys(groups))
	if i := slices.Index(names, journalGroup); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, journalGroup)
	}
	for i, group := range names {
		if err := p.packsIn(ctx, group); err != nil {
			return err
		}
		if group == journalGroup {
			err = p.noteDeletions(ctx)
		}
		if err != nil {
			return err
		}
		if p.Progress != nil {
			p.Progress(i+1, len(names))
		}
	}
	p.out.Sessions = len(p.changed)
	for session := range p.changed {
		if !p.before[session] {
			p.out.New++
		}
	}
	return nil
}

// noteDeletions marks the sessions and parts that are deleted for good, so that they are
// not merged.
func (p *pulling) noteDeletions(ctx context.Context) (err error) {
	if p.deleted, err = p.OpenForgets(ctx); err == nil {
		p.parts, err = p.OpenParts(ctx)
	}
	return err
}

// packsIn reads the new packs of a session, oldest first. One that continues another, of a
// machine whose clock is slow, waits for it.
func (p *pulling) packsIn(ctx context.Context, group string) error {
	forgotten := p.Capture.Forgotten().Has(group)
	var waiting []string
	for _, name := range p.inGroup(group) {
		if !p.known.packs[name].Applied && !forgotten {
			waiting = append(waiting, name)
		}
	}
	if len(waiting) == 0 && group != journalGroup && !forgotten {
		p.out.Unchanged++
	}
	for len(waiting) > 0 {
		var early []string
		for _, name := range waiting {
			if err := ctx.Err(); err != nil {
				return err
			}
			ok, err := p.apply(ctx, name)
			switch archive.ErrorCode(err) {
			case "":
				if !ok {
					early = append(early, name)
				}
			case archive.CodeCorrupt:
				p.out.Failed = append(p.out.Failed, name+": "+ErrorText(err))
			case archive.CodeNotFound: // deleted meanwhile
			default:
				return err
			}
		}
		if len(early) == len(waiting) {
			for _, name := range early {
				p.out.Failed = append(p.out.Failed, name+": an earlier pack is missing; push again from the machine that wrote it")
			}
			return nil
		}
		waiting = early
	}
	return nil
}

// apply brings in a pack. It returns false if a part continues one that is missing.
func (p *pulling) apply(ctx context.Context, name string) (ok bool, err error) {
	pack, err := p.read(ctx, name)
	if err != nil {
		return false, err
	}
	salts, _, err := p.salts(pack.Session)
	if err != nil {
		return false, err
	}
	if outdated(salts, pack.Forgot) {
		p.out.Outdated++ // the machine that wrote it replaces it
		return true, nil
	}
	ok = true
	for i, part := range pack.Parts {
		merged, err := p.merge(ctx, part, pack.Texts[i])
		if err != nil {
			return false, err
		}
		ok = ok && !merged.Early
	}
	if !ok {
		return false, nil
	}
	if err := p.addFacts(ctx, pack); err != nil {
		return false, err
	}
	p.out.Packs++
	p.out.Stored += p.packs[name]
	return true, p.known.addPack(packKnown(name, pack, true))
}

// merge brings in a piece of a log.
func (p *pulling) merge(ctx context.Context, part capture.Part, text []byte) (capture.Merged, error) {
	session := part.Header.Session
	if _, known := p.before[session]; !known {
		p.before[session] = p.Capture.HasLog(session)
	}
	m, err := p.Capture.Merge(ctx, part, text)
	if err == nil && m.Added > 0 {
		p.changed[session], p.projects[part.Header.Project.Key] = true, true
		p.out.Bytes += m.Added
	}
	if m.Diverged {
		p.out.Diverged++
	}
	return m, err
}

// addFacts adds the entries of a pack that the journal lacks.
func (p *pulling) addFacts(ctx context.Context, pack capture.Pack) error {
	var fresh []archive.JournalEntry
	for _, f := range pack.Facts {
		if f.ID != "" && !f.Time.IsZero() && !p.ids[f.ID] && f.Kind != archive.JournalMerge && factSession(f) == pack.Session {
			fresh = append(fresh, f)
			p.ids[f.ID] = true
		}
	}
	p.out.Facts += len(fresh)
	return p.Journal.Log.Append(ctx, fresh...)
}

// forget erases what other machines deleted for good. Only what this archive has costs
// another index.
func (p *pulling) forget(ctx context.Context) error {
	has, err := p.present(ctx, slices.Concat(p.deleted, p.parts))
	if err != nil {
		return err
	}
	is := func(session string) bool { return has[session] }
	not := func(session string) bool { return !has[session] }
	err = errors.Join(p.EndForget(archive.Select(p.deleted, not)), p.EndParts(archive.Select(p.parts, not)))
	if err != nil || len(has) == 0 {
		return err
	}
	lock, err := p.Lock("maintain", "maintenance run")
	if err != nil {
		return err
	}
	defer lock.Release() // also released when the process ends
	p.out.Deleted = archive.Select(p.deleted, is)
	_, err = p.app.erase(ctx, p.Workspace, p.out.Deleted, archive.Select(p.parts, is), nil)
	return err
}

// present reports which sessions have logs or facts here.
func (p *pulling) present(ctx context.Context, sessions []string) (map[string]bool, error) {
	has := map[string]bool{}
	if len(sessions) == 0 {
		return has, nil
	}
	logs, err := p.logs(ctx, sessions)
	for session := range logs {
		has[session] = true
	}
	if err != nil {
		return nil, err
	}
	facts, err := journalEntries(ctx, p.Journal)
	for _, f := range facts {
		if session := factSession(f); slices.Contains(sessions, session) {
			has[session] = true
		}
	}
	return has, err
}
