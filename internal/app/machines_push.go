package app

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/sessionlog"
)

// ArchivePush writes what this archive has and a place lacks: pieces of logs, and entries
// of the journal. Sessions that were deleted for good are deleted there. It can be
// interrupted and repeated, and several machines may push at once.
func (a *App) ArchivePush(ctx context.Context, o ExchangeOptions) (ExchangeReport, error) {
	return a.withPlace(ctx, o, func(x *exchange) error {
		if x.known.lost && !o.Again {
			return archive.NotFound("the packs in "+x.out.Place+" are gone", "is its disk mounted? --again pushes everything")
		}
		groups, err := x.outgoing(ctx)
		if err != nil {
			return err
		}
		for i, name := range slices.Sorted(maps.Keys(groups)) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := x.pushGroup(ctx, name, groups[name]); err != nil {
				return err
			}
			if o.Progress != nil {
				o.Progress(i+1, len(groups))
			}
		}
		return x.done(func(e *Exchanged, now time.Time) { e.Pushed = now })
	})
}

// outgoing is what this archive has of a session.
type outgoing struct {
	session string
	logs    []sessionlog.Entry
	facts   []archive.JournalEntry
	gone    bool // the session is deleted for good
}

// outgoing lists the sessions of this archive by the folder of their packs.
func (x *exchange) outgoing(ctx context.Context) (map[string]*outgoing, error) {
	groups := map[string]*outgoing{}
	of := func(session string) *outgoing {
		name := x.Capture.Layout.Name(session)
		if session == "" {
			name = journalGroup
		}
		if groups[name] == nil {
			groups[name] = &outgoing{session: session}
		}
		return groups[name]
	}
	for e, err := range x.Capture.Layout.Walk(ctx) {
		if err != nil {
			return nil, err
		}
		session := x.Capture.SessionOf(e)
		if !archive.ValidID(session) { // the file has another name
			h, _, _ := sessionlog.ReadHeader(e.Path) // verify reports a damaged one
			session = h.Session
		}
		if archive.ValidID(session) {
			of(session).logs = append(of(session).logs, e)
		}
	}
	facts, err := journalEntries(ctx, x.Journal)
	if err != nil {
		return nil, err
	}
	for _, f := range facts {
		if f.Kind == archive.JournalMerge { // names folders of this machine
			continue
		}
		g := of(factSession(f))
		g.facts = append(g.facts, f)
	}
	forgotten, err := x.Capture.Forgotten().List()
	for session := range forgotten {
		of(session).gone = true
	}
	return groups, err
}

// factSession returns the session with which a fact is exchanged: "" for those that stay
// when the session is deleted.
func factSession(f archive.JournalEntry) string {
	session := archive.Owner(f.Session)
	if f.Kind == archive.JournalForget || f.Kind == archive.JournalForgetPart || session == archive.NoteSession || !archive.ValidID(session) {
		return ""
	}
	return session
}

// pushGroup pushes a session, and deletes packs there that must not be there any more.
func (x *exchange) pushGroup(ctx context.Context, name string, g *outgoing) error {
	salts, done, err := x.salts(g.session)
	if err != nil {
		return err
	}
	if g.gone {
		return x.removePacks(ctx, name, g.session, func(knownPack) bool { return true })
	}
	if !done {
		x.fail(g.session, "a deletion is not finished: run strandline maintain")
		return nil
	}
	had := len(x.inGroup(name)) > 0
	if err := x.learn(ctx, name); err != nil {
		return err
	}
	stale := func(p knownPack) bool { return outdated(salts, p.Forgot) }
	out := &packing{x: x, group: name, pack: capture.Pack{Session: g.session, Forgot: salts}}
	if err := out.add(ctx, g, x.known.reach(x.inGroup(name), stale), stale); err != nil {
		return err
	}
	switch {
	case out.bytes == 0 && len(g.logs) > 0:
		x.out.Unchanged++
	case out.bytes > 0:
		x.out.Sessions++
		if x.out.Bytes += out.bytes; !had {
			x.out.New++
		}
	}
	return x.removePacks(ctx, name, "", stale)
}

func (x *exchange) fail(what, why string) {
	x.out.Failed = append(x.out.Failed, archive.ShortID(what)+": "+why)
}

// inGroup lists the packs of a session in the place, oldest first.
func (x *exchange) inGroup(group string) (names []string) {
	at, _ := slices.BinarySearch(x.names, group+"/")
	for _, name := range x.names[at:] {
		if !strings.HasPrefix(name, group+"/") {
			break
		}
		if _, ok := x.packs[name]; ok {
			names = append(names, name)
		}
	}
	return names
}

// learn reads the heads of a session's packs that this archive neither wrote nor read.
// Encrypted ones need the secret keys; without, their content is pushed again.
func (x *exchange) learn(ctx context.Context, group string) error {
	for _, name := range x.inGroup(group) {
		if _, ok := x.known.packs[name]; ok || strings.HasSuffix(name, sealedExt) && x.keys == nil {
			continue
		}
		p, err := x.read(ctx, name)
		switch archive.ErrorCode(err) {
		case "":
			if err := x.known.addPack(packKnown(name, p, false)); err != nil {
				return err
			}
		case archive.CodeCorrupt, archive.CodeInvalid, archive.CodeNotFound: // a pull reports it
		default:
			return err
		}
	}
	return nil
}

// removePacks deletes packs of a session that this archive wrote or has read, or all of
// them if the session is deleted for good.
func (x *exchange) removePacks(ctx context.Context, group, gone string, drop func(knownPack) bool) error {
	removed := false
	for _, name := range x.inGroup(group) {
		p := x.known.packs[name]
		if gone == "" && (!p.Applied || !drop(p)) {
			continue
		}
		if removed = true; x.DryRun {
			continue
		}
		if err := x.place.Remove(ctx, name); err != nil {
			return err
		}
		delete(x.packs, name)
		delete(x.known.packs, name)
	}
	if removed && gone != "" {
		x.out.Deleted = append(x.out.Deleted, gone)
	}
	return nil
}

// packing collects packs of a session and writes them.
type packing struct {
	x     *exchange
	group string
	pack  capture.Pack
	size  int   // bytes of the texts and facts in pack
	bytes int64 // of all texts
}

// add packs what the place lacks of a session.
func (k *packing) add(ctx context.Context, g *outgoing, reach map[string]map[int64][]string, stale func(knownPack) bool) error {
	for _, e := range g.logs {
		if err := k.addLog(ctx, e, reach[logKey(e.Client, e.Session, e.Rel)]); err != nil {
			if archive.ErrorCode(err) != archive.CodeCorrupt {
				return err
			}
			k.x.fail(g.session, ErrorText(err))
		}
	}
	known := map[string]bool{}
	for _, name := range k.x.inGroup(k.group) {
		if p := k.x.known.packs[name]; !stale(p) {
			for _, id := range p.Facts {
				known[id] = true
			}
		}
	}
	for _, f := range g.facts {
		if known[f.ID] {
			continue
		}
		known[f.ID] = true
		k.pack.Facts = append(k.pack.Facts, f)
		k.x.out.Facts++
		if err := k.grew(ctx, len(f.Data)+200); err != nil {
			return err
		}
	}
	return k.flush(ctx)
}

// addLog packs the bytes of a log after the longest start of it that the place has.
func (k *packing) addLog(ctx context.Context, e sessionlog.Entry, reach map[int64][]string) error {
	info, err := os.Stat(e.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(k.x.Capture.Layout.Root, e.Path)
	if err != nil {
		return err
	}
	was := k.x.known.logs[rel]
	if was.Size == info.Size() && was.Time == info.ModTime().UnixNano() && slices.Contains(reach[was.Raw], was.Sum) {
		return nil
	}
	r, err := sessionlog.OpenReader(e.Path)
	if archive.ErrorCode(err) == archive.CodeNotFound {
		return nil // without bytes
	}
	if err != nil {
		return err
	}
	defer r.Close()
	if r.Header().Session == "" {
		return r.Damage()
	}
	raw := r.Position().Raw
	sums, err := capture.Sums(ctx, r, slices.Sorted(maps.Keys(reach)))
	if err != nil {
		return err
	}
	from, before := int64(0), ""
	for to, sum := range sums {
		if to > from && slices.Contains(reach[to], sum) {
			from, before = to, sum
		}
	}
	if from < raw {
		k.bytes += raw - from
		if k.x.DryRun {
			return nil
		}
		err = capture.CutParts(ctx, r, e, from, before, func(p capture.Part, text []byte) error {
			k.pack.Parts, k.pack.Texts = append(k.pack.Parts, p), append(k.pack.Texts, text)
			return k.grew(ctx, len(text)+1000)
		})
		if err != nil {
			return err
		}
	}
	return k.x.known.addLog(knownLog{Path: rel, Size: info.Size(), Time: info.ModTime().UnixNano(), Raw: raw, Sum: sums[raw]})
}

// grew counts bytes and writes the pack if it is large.
func (k *packing) grew(ctx context.Context, n int) error {
	if k.size += n; k.size < capture.PackText {
		return nil
	}
	return k.flush(ctx)
}

// flush writes the pack unless it is empty.
func (k *packing) flush(ctx context.Context) error {
	pack, x := k.pack, k.x
	if len(pack.Parts)+len(pack.Facts) == 0 || x.DryRun {
		return nil
	}
	for i := range pack.Facts {
		pack.Facts[i].Time = pack.Facts[i].Time.UTC()
	}
	data, err := pack.Encode()
	if err == nil && len(x.Recipients) > 0 {
		data, err = x.app.Cipher.Encrypt(data, x.Recipients)
	}
	if err != nil {
		return err
	}
	at := x.app.Now()
	if !at.After(x.last) {
		at = x.last.Add(time.Millisecond)
	}
	x.last = at.Truncate(time.Millisecond)
	name := newPackName(k.group, at, data, len(x.Recipients) > 0)
	if err := x.place.Write(ctx, name, data); err != nil {
		return err
	}
	x.packs[name] = int64(len(data))
	i, _ := slices.BinarySearch(x.names, name)
	x.names = slices.Insert(x.names, i, name)
	x.out.Packs++
	x.out.Stored += int64(len(data))
	k.pack.Parts, k.pack.Texts, k.pack.Facts, k.size = nil, nil, nil, 0
	return x.known.addPack(packKnown(name, pack, true))
}
