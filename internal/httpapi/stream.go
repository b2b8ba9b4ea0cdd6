package httpapi

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
)

const (
	eventsInterval    = time.Second // between two polls
	keepAliveInterval = 15 * time.Second
	eventsTimeout     = time.Hour // the client then reconnects
	maxStreams        = 16
)

// grown is the data of a "turns" event.
type grown struct {
	Session app.Session `json:"session"`
	// FromTurn is the first new or changed turn.
	FromTurn int `json:"from_turn"`
}

// events streams events until the client disconnects, the server ends or
// eventsTimeout has passed.
func (s *Server) events(w http.ResponseWriter, c *call) error {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		return &archive.Error{Code: archive.CodeBusy, Msg: fmt.Sprintf("%d event streams are open already", maxStreams), Hint: "close a page that shows the archive"}
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), eventsTimeout)
	defer cancel()
	p := poller{s: s, session: c.query.Get("session"), seen: map[string]app.Session{}}
	if err := p.poll(ctx, func(grown) error { return nil }); err != nil {
		return err
	}
	out := s.slowWriter(w)
	w.Header().Set("Content-Type", "text/event-stream")
	// A failed write ends the stream; the client reconnects.
	if out.send("retry: 2000\n\n") != nil {
		return nil
	}
	tick, keepAlive := time.NewTicker(s.interval), time.NewTicker(keepAliveInterval)
	defer tick.Stop()
	defer keepAlive.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-s.ending:
			return nil
		case <-keepAlive.C:
			err = out.send(": keep-alive\n\n")
		case <-tick.C:
			err = p.poll(ctx, func(g grown) error {
				data, err := json.Marshal(redacted(g, s.opts.Redact))
				if err != nil {
					return err
				}
				return out.send("event: turns\ndata: " + string(data) + "\n\n")
			})
		}
		if err != nil {
			return nil
		}
	}
}

// poller finds sessions that have grown.
type poller struct {
	s       *Server
	session string
	stamp   string // of the archive at the last poll
	seen    map[string]app.Session
}

// poll calls send for each session that has grown since the last poll. If nothing
// was written to the archive, it only reads the stamp.
func (p *poller) poll(ctx context.Context, send func(grown) error) error {
	stamp := p.s.opts.Archive.Stamp()
	if stamp == p.stamp {
		return nil
	}
	release, err := p.s.acquireReader(ctx)
	if err != nil {
		return err
	}
	list, err := p.s.opts.Archive.Recent(ctx, p.session)
	release()
	if err != nil {
		return err
	}
	p.stamp = stamp
	for _, x := range list {
		before, known := p.seen[x.ID]
		p.seen[x.ID] = x
		if known && before.Turns == x.Turns && before.Steps == x.Steps && before.Bytes == x.Bytes {
			continue
		}
		if err := send(grown{Session: x, FromTurn: max(before.Turns-1, 0)}); err != nil {
			return err
		}
	}
	return nil
}

// slowWriter extends the write timeout with each write.
type slowWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	now     func() time.Time
}

func (s *Server) slowWriter(w http.ResponseWriter) slowWriter {
	return slowWriter{w, http.NewResponseController(w), s.opts.Now}
}

// Write implements http.ResponseWriter.
func (w slowWriter) Write(b []byte) (int, error) {
	_ = w.control.SetWriteDeadline(w.now().Add(writeTimeout)) // fails only in tests without a connection
	return w.ResponseWriter.Write(b)
}

// send writes and flushes a text.
func (w slowWriter) send(text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	return w.control.Flush()
}

// export sends a transcript. Its hash is the ETag, so that a client can resume a
// download.
func (s *Server) export(w http.ResponseWriter, c *call) error {
	if !s.opts.Exact {
		return &archive.Error{Code: archive.CodeDenied, Msg: "the export of transcripts is disabled: they are not redacted",
			Hint: "start the server with --exact, or use `strandline export`"}
	}
	release, err := s.acquireReader(c.Context())
	if err != nil {
		return err
	}
	generation := c.number("generation", 0)
	t, err := s.opts.Archive.Transcript(c.Context(), c.PathValue("session"), generation)
	release()
	if err != nil {
		return err
	}
	defer t.Bytes.Close()
	sum, err := s.hash(c.Context(), generation, t)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/x-ndjson")
	h.Set("ETag", `"`+sum+`"`)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": t.Session + ".jsonl"}))
	http.ServeContent(s.slowWriter(w), c.Request, "", time.Time{}, io.NewSectionReader(t.Bytes, 0, t.Size))
	return nil
}

// hashKey identifies the bytes of a transcript: one that has grown has another size.
type hashKey struct {
	session    string
	generation int
	size       int64
}

// maxHashes limits the cached hashes.
const maxHashes = 256

// hash returns the SHA-256 of a transcript. It caches hashes: hashing 100 MB takes 0.3 s.
func (s *Server) hash(ctx context.Context, generation int, t app.Transcript) (string, error) {
	key := hashKey{t.Session, generation, t.Size}
	s.hashing.Lock()
	sum, ok := s.hashes[key]
	s.hashing.Unlock()
	if ok {
		return sum, nil
	}
	h, in := sha256.New(), io.NewSectionReader(t.Bytes, 0, t.Size)
	for buf := make([]byte, 1<<20); ; {
		n, err := in.Read(buf)
		h.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		if err := cmp.Or(err, context.Cause(ctx)); err != nil {
			return "", fmt.Errorf("hash transcript: %w", err)
		}
	}
	sum = hex.EncodeToString(h.Sum(nil))
	s.hashing.Lock()
	defer s.hashing.Unlock()
	if len(s.hashes) >= maxHashes {
		clear(s.hashes)
	}
	s.hashes[key] = sum
	return sum, nil
}
