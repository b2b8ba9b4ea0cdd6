package gateway

import (
	"context"
	"sync"
)

// Handles looks up where the archive keeps what calls of tools returned. The map
// holds those that it has.
type Handles func(ctx context.Context, session string, ids []string) (map[string]string, error)

// shelf remembers what was looked up. It is safe for concurrent use.
type shelf struct {
	ask Handles

	mu       sync.Mutex
	sessions map[string]map[string]*place // by session and call
}

// place is what is known of a call.
type place struct {
	handle string // "" if it was not found
	asked  int    // times
}

const (
	// maxSessions bounds what is remembered. Beyond it everything is asked again.
	maxSessions = 64
	// maxAsked is how often a call is asked for in vain: the archive is some
	// seconds behind the client, and what it does not hold after that many requests
	// it does not get.
	maxAsked = 8
)

// find returns the handles of the calls that the archive knows. settled reports
// that the others will never have one.
func (s *shelf) find(ctx context.Context, session string, ids []string) (found map[string]string, settled bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.sessions[session]
	if known == nil {
		if s.sessions == nil || len(s.sessions) >= maxSessions {
			s.sessions = map[string]map[string]*place{}
		}
		known = map[string]*place{}
		s.sessions[session] = known
	}
	var missing []string
	for _, id := range ids {
		if known[id] == nil {
			known[id] = new(place)
		}
		if p := known[id]; p.handle == "" && p.asked < maxAsked {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		fresh, err := s.ask(ctx, session, missing)
		if err != nil {
			return nil, false, err
		}
		for _, id := range missing {
			known[id].handle = fresh[id]
			known[id].asked++
		}
	}
	found, settled = make(map[string]string, len(ids)), true
	for _, id := range ids {
		switch p := known[id]; {
		case p.handle != "":
			found[id] = p.handle
		case p.asked < maxAsked:
			settled = false
		}
	}
	return found, settled, nil
}
