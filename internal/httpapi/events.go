package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
)

// The bounds of a stream of events.
const (
	eventsEvery = time.Second
	beatEvery   = 15 * time.Second
	eventsLast  = time.Hour // then the client connects again by itself
	maxStreams  = 16
)

func (s *Server) eventsRoute() route {
	return route{
		method: http.MethodGet, path: "/events", id: "streamEvents", media: "text/event-stream",
		summary: "Server-sent events: `turns` whenever a session has grown, with the session as the list of sessions shows it",
		params:  []param{{name: "session", kind: isHandle, says: "only of this session"}},
		serve:   s.events,
	}
}

// grown says that a session has new turns or steps.
type grown struct {
	Session app.Session `json:"session"`
	// FromTurn is the first turn that is new or has changed.
	FromTurn int `json:"from_turn"`
}

// events tells a client what becomes new until it goes, the server ends or an hour
// is over.
func (s *Server) events(w http.ResponseWriter, c *call) error {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		return &archive.Error{Code: archive.CodeBusy, Msg: fmt.Sprintf("%d clients listen already", maxStreams), Hint: "close a page that shows the archive"}
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), eventsLast)
	defer cancel()
	f := follower{s: s, session: c.text("session"), seen: map[string]app.Session{}}
	if err := f.look(ctx, func(grown) error { return nil }); err != nil {
		return err
	}
	out := stream{w: w, control: http.NewResponseController(w), now: s.opts.Now}
	w.Header().Set("Content-Type", "text/event-stream")
	if err := out.send("retry: 2000\n\n"); err != nil {
		return nil // who has gone needs no answer
	}
	tick, beat := time.NewTicker(s.every), time.NewTicker(beatEvery)
	defer tick.Stop()
	defer beat.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-s.ending:
			return nil
		case <-beat.C:
			err = out.send(": here\n\n")
		case <-tick.C:
			err = f.look(ctx, func(g grown) error {
				data, err := json.Marshal(redacted(g, s.opts.Redact))
				if err != nil {
					return err
				}
				return out.send("event: turns\ndata: " + string(data) + "\n\n")
			})
		}
		if err != nil {
			return nil // the stream ends, and its client connects again
		}
	}
}

// stream writes events.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	now     func() time.Time
}

func (s stream) send(text string) error {
	_ = s.control.SetWriteDeadline(s.now().Add(writeWait)) // a recorder has none
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.control.Flush()
}

// follower knows what a client was told.
type follower struct {
	s       *Server
	session string
	stamp   string // of the archive, as it was looked at last
	seen    map[string]app.Session
}

// look tells of the sessions that have grown since the last look. While nobody
// writes to the archive that costs a look at two files.
func (f *follower) look(ctx context.Context, tell func(grown) error) error {
	stamp := f.s.opts.Archive.Stamp()
	if stamp == f.stamp {
		return nil
	}
	leave, err := f.s.enter(ctx)
	if err != nil {
		return err
	}
	list, err := f.s.opts.Archive.Recent(ctx, f.session)
	leave()
	if err != nil {
		return err
	}
	f.stamp = stamp
	for _, x := range list {
		before, known := f.seen[x.Session]
		f.seen[x.Session] = x
		if known && before.Turns == x.Turns && before.Steps == x.Steps && before.Bytes == x.Bytes {
			continue
		}
		if err := tell(grown{Session: x, FromTurn: max(before.Turns-1, 0)}); err != nil {
			return err
		}
	}
	return nil
}
