package index

import (
	"maps"
	"math"

	"strandline/internal/archive"
)

// Scope is the set of passages that a query covers, as far as their IDs show.
type Scope struct {
	// Sessions limits the search unless it is nil. True means all passages of a
	// session, false only those in Shared.
	Sessions map[int64]bool
	Shared   map[SharedPlace]bool
	Lo, Hi   int64 // bounds of the IDs, set by Bound
	Size     int   // the approximate number of passages
	kinds    map[int64]bool
	agents   bool
}

// SharedPlace is a place in another session that rows were copied from.
type SharedPlace struct {
	Session    int64
	Turn, Step int
}

// NewScope returns the scope of a query among size passages, without its sessions and
// projects.
func NewScope(q *archive.Query, size int) *Scope {
	x := &Scope{agents: q.Agents || len(q.Sessions) > 0, Hi: math.MaxInt64, Size: size}
	if len(q.Kinds) > 0 {
		x.kinds = map[int64]bool{}
		for _, k := range q.Kinds {
			x.kinds[KindCode(storedKind(k))] = true
		}
	}
	if len(q.Sessions) > 0 {
		x.Sessions, x.Shared, x.Size = map[int64]bool{}, map[SharedPlace]bool{}, 0
	}
	return x
}

// Narrow limits the scope to sessions.
func (x *Scope) Narrow(of map[int64]bool) {
	if x.Sessions == nil {
		x.Sessions = of
		return
	}
	maps.DeleteFunc(x.Sessions, func(no int64, _ bool) bool { return !of[no] })
}

// Bound sets Lo and Hi to the range of the sessions.
func (x *Scope) Bound() {
	if len(x.Sessions) == 0 {
		return
	}
	first, last := int64(math.MaxInt64), int64(0)
	for no := range x.Sessions {
		first, last = min(first, no), max(last, no)
	}
	x.Lo, _ = SessionRange(first)
	_, x.Hi = SessionRange(last)
}

// Empty reports whether the scope covers no session.
func (x *Scope) Empty() bool { return x.Sessions != nil && len(x.Sessions) == 0 }

// Everything reports whether the scope covers all passages.
func (x *Scope) Everything() bool { return x.Sessions == nil && x.kinds == nil && x.agents }

// keep removes candidates outside the scope and multiplies the scores of the others by
// KindWeight. It reuses the memory of c.
func (x *Scope) keep(c []Candidate) []Candidate {
	admits := x.Test()
	kept := c[:0]
	for _, candidate := range c {
		if admits(candidate.ID) {
			candidate.Score *= float32(kindWeights[ID(candidate.ID).KindCode()])
			kept = append(kept, candidate)
		}
	}
	return kept
}

// Test returns a test of IDs that is fast enough for a million calls.
func (x *Scope) Test() func(int64) bool {
	var kinds [1 << KindBits]bool
	for code := range kinds {
		kinds[code] = x.kinds == nil || x.kinds[int64(code)]
	}
	all := x.Sessions == nil
	var in []bool // by session number, unless all
	first := ID(x.Lo).Session()
	if !all {
		if len(x.Sessions) == 0 {
			return func(int64) bool { return false }
		}
		in = make([]bool, ID(x.Hi).Session()-first+1)
		for no := range x.Sessions {
			in[no-first] = true
		}
	}
	return func(passage int64) bool {
		id := ID(passage)
		if !kinds[id.KindCode()] || id.Agent() && !x.agents {
			return false
		}
		at := id.Session() - first
		return all || at >= 0 && at < int64(len(in)) && in[at]
	}
}

// Admits reports whether a passage passes the filters that need its row.
func (x *Scope) Admits(q *archive.Query, p *archive.Passage, id ID) bool {
	if !x.holds(p, id.Session()) || !p.Of(q.Kinds) || !q.Since.IsZero() && p.Time.Before(q.Since) || !q.Until.IsZero() && !p.Time.Before(q.Until) {
		return false
	}
	// A shared passage has the lines of its owner. BeforeLine was applied to it when
	// Shared was filled.
	own := x.Sessions == nil || x.Sessions[id.Session()]
	return q.BeforeLine <= 0 || !own || p.LineFrom >= 0 && p.LineTo <= q.BeforeLine
}

// holds reports whether a passage of the scope's sessions is in the scope.
func (x *Scope) holds(p *archive.Passage, session int64) bool {
	return x.Sessions == nil || x.Sessions[session] || x.Shared == nil || x.Shared[SharedPlace{session, p.Turn, p.Step}]
}
