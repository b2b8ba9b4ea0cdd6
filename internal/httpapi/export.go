package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
)

func (s *Server) exportRoute() route {
	return route{
		method: http.MethodGet, path: "/sessions/{session}/transcript", id: "exportTranscript", media: "application/x-ndjson",
		summary: "The exact bytes of a session's transcript, secrets included, with Range and If-Range; only of a server that was started with --exact",
		params:  []param{{name: "generation", kind: isNumber, least: 0, most: 1 << 20, says: "an earlier generation of a transcript that was rewritten; 0: the latest"}},
		serve:   s.export,
	}
}

// export sends a transcript's bytes. Their hash is the ETag, so that a part that
// is fetched later is known to be one of the same bytes.
func (s *Server) export(w http.ResponseWriter, c *call) error {
	if !s.opts.Exact {
		return &archive.Error{Code: archive.CodeDenied, Msg: "transcripts do not leave as they are: nothing in them is redacted",
			Hint: "start the server with --exact, or use `strandline export`"}
	}
	leave, err := s.enter(c.Context())
	if err != nil {
		return err
	}
	t, err := s.opts.Archive.Transcript(c.Context(), c.PathValue("session"), c.number("generation", 0))
	leave()
	if err != nil {
		return err
	}
	defer t.Bytes.Close()
	sum, err := s.sums.of(c.Context(), c.number("generation", 0), t)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/x-ndjson")
	h.Set("ETag", `"`+sum+`"`)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": t.Session + ".jsonl"}))
	http.ServeContent(&patient{ResponseWriter: w, control: http.NewResponseController(w), now: s.opts.Now}, c.Request, "", time.Time{}, io.NewSectionReader(t.Bytes, 0, t.Size))
	return nil
}

// patient moves the deadline of an answer as long as somebody takes it.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
	now     func() time.Time
}

// Write implements http.ResponseWriter.
func (p *patient) Write(b []byte) (int, error) {
	_ = p.control.SetWriteDeadline(p.now().Add(writeWait)) // a recorder has none
	return p.ResponseWriter.Write(b)
}

// sums remembers hashes of transcripts, which take a third of a second for each
// 100 MB. One of a transcript that has grown since is another one.
type sums struct {
	take chan map[sumKey]string
}

type sumKey struct {
	session    string
	generation int
	size       int64
}

// maxSums is how many hashes are remembered.
const maxSums = 256

func newSums() *sums {
	s := &sums{take: make(chan map[sumKey]string, 1)}
	s.take <- map[sumKey]string{}
	return s
}

func (s *sums) of(ctx context.Context, generation int, t app.Transcript) (string, error) {
	key := sumKey{t.Session, generation, t.Size}
	known := <-s.take
	sum, ok := known[key]
	s.take <- known
	if ok {
		return sum, nil
	}
	h := sha256.New()
	in := io.NewSectionReader(t.Bytes, 0, t.Size)
	for buf := make([]byte, 1<<20); ; {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		n, err := in.Read(buf)
		h.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("hash transcript: %w", err)
		}
	}
	sum = hex.EncodeToString(h.Sum(nil))
	known = <-s.take
	if len(known) >= maxSums {
		clear(known)
	}
	known[key] = sum
	s.take <- known
	return sum, nil
}
