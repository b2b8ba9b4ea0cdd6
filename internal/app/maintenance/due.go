package maintenance

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"strandline/internal/archive"
)

// Past is what deciding on old sessions needs of a store.
type Past interface {
	Sessions(ctx context.Context, f archive.SessionFilter) ([]archive.Session, error)
	Accesses(ctx context.Context, session string) ([]archive.Access, error)
}

// Due lists the sessions that retention.delete gives up: those that were left alone
// for Age and of which, sub-agents' runs included, nothing was ever given to the
// model; and while the archive takes more than MaxBytes, the oldest others of that
// kind, none younger than a day. It is empty unless Delete is set.
func (f Forget) Due(ctx context.Context, idx Past, r Retention, now time.Time) ([]string, error) {
	if !r.Delete {
		return nil, nil
	}
	old, err := unused(ctx, idx, now.Add(-leastAge))
	if err != nil || len(old) == 0 {
		return nil, err
	}
	var over int64
	if r.MaxBytes > 0 {
		index, logs := r.Sizes()
		over = index + logs - r.MaxBytes
	}
	var due, rest []string
	for _, s := range old {
		if r.Age > 0 && now.Sub(s.last) >= r.Age {
			due = append(due, s.id)
		} else {
			rest = append(rest, s.id)
		}
	}
	if over <= 0 {
		return due, nil
	}
	logs, err := f.logs(ctx, append(slices.Clone(due), rest...))
	if err != nil {
		return nil, err
	}
	size := func(session string) (n int64) {
		for _, e := range logs[session] {
			if info, err := os.Stat(e.Path); err == nil {
				n += info.Size()
			}
		}
		return n
	}
	for _, s := range due {
		over -= size(s)
	}
	for _, s := range rest {
		if over <= 0 {
			break
		}
		over -= size(s)
		due = append(due, s)
	}
	return due, nil
}

// resting is a session that was left alone.
type resting struct {
	id   string
	last time.Time
}

// unused lists the sessions of which nothing was given to the model and whose last
// row, sub-agents' included, is older than a time: the oldest first. A session
// without a date is of no age.
func unused(ctx context.Context, idx Past, before time.Time) ([]resting, error) {
	list, err := idx.Sessions(ctx, archive.SessionFilter{Agents: true})
	if err != nil {
		return nil, fmt.Errorf("look for old sessions: %w", err)
	}
	last := map[string]time.Time{}
	for _, s := range list {
		id := archive.Owner(s.ID)
		if s.Last.After(last[id]) {
			last[id] = s.Last
		}
	}
	kept := map[string]bool{}
	for _, s := range list {
		id := archive.Owner(s.ID)
		if kept[id] = kept[id] || last[id].IsZero() || !last[id].Before(before); kept[id] {
			continue
		}
		used, err := idx.Accesses(ctx, s.ID)
		if err != nil {
			return nil, fmt.Errorf("look for old sessions: %w", err)
		}
		kept[id] = len(used) > 0
	}
	var out []resting
	for id, at := range last {
		if !kept[id] {
			out = append(out, resting{id, at})
		}
	}
	slices.SortFunc(out, func(a, b resting) int { return cmp.Or(a.last.Compare(b.last), cmp.Compare(a.id, b.id)) })
	return out, nil
}
