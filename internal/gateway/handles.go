package gateway

import (
	"context"
	"sync"
)

// Handles returns the handles of archived tool results by the ids of their calls.
// Calls that the archive does not hold are missing from the map.
type Handles func(ctx context.Context, session string, ids []string) (map[string]string, error)

// handleCache caches looked-up handles. It is safe for concurrent use.
type handleCache struct {
	find Handles

	mu       sync.Mutex
	sessions map[string]map[string]*result // by session and call id
}

// result is the cached state of a call's result.
type result struct {
	handle  string // "" if it was not found
	lookups int
}

const (
	// maxSessions bounds the cache. It is cleared when full.
	maxSessions = 64
	// maxLookups limits the lookups of a call. The archive lags some seconds behind
	// the client; a result missing after this many requests is never archived.
	maxLookups = 8
)

// lookup returns the handles of the calls that the archive holds. final reports
// that the other calls will not get one.
func (s *handleCache) lookup(ctx context.Context, session string, ids []string) (found map[string]string, final bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.sessions[session]
	if known == nil {
		if s.sessions == nil || len(s.sessions) >= maxSessions {
			s.sessions = map[string]map[string]*result{}
		}
		known = map[string]*result{}
		s.sessions[session] = known
	}
	var missing []string
	for _, id := range ids {
		if known[id] == nil {
			known[id] = new(result)
		}
		if p := known[id]; p.handle == "" && p.lookups < maxLookups {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		fresh, err := s.find(ctx, session, missing)
		if err != nil {
			return nil, false, err
		}
		for _, id := range missing {
			known[id].handle = fresh[id]
			known[id].lookups++
		}
	}
	found, final = make(map[string]string, len(ids)), true
	for _, id := range ids {
		switch p := known[id]; {
		case p.handle != "":
			found[id] = p.handle
		case p.lookups < maxLookups:
			final = false
		}
	}
	return found, final, nil
}
