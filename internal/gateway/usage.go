package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
)

// usage is the usage in the API's responses, in tokens.
type usage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
}

// context returns the tokens of the request.
func (u usage) context() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// sent describes a request to the Messages endpoint.
type sent struct {
	session, model string
	whole, bytes   int64 // before and after pruning
}

type sentKey struct{}

// withSent adds a description to a request.
func withSent(r *http.Request, s sent) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), sentKey{}, s))
}

// meterResponse counts the usage of a response while the client reads it.
func (g *Gateway) meterResponse(res *http.Response) error {
	if s, ok := res.Request.Context().Value(sentKey{}).(sent); ok && res.StatusCode == http.StatusOK {
		res.Body = &meter{ReadCloser: res.Body, done: func(u usage) { g.count(s, u) }}
	}
	return nil
}

// meter reads the usage out of the bytes that pass through.
type meter struct {
	io.ReadCloser
	line  []byte // the last incomplete one
	usage usage
	done  func(usage)
}

// maxUsageLine is the largest line, in bytes, in which usage is looked for. A response
// that is not streamed is one line.
const maxUsageLine = 4 << 20

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	rest := p[:n]
	for {
		line, after, complete := bytes.Cut(rest, []byte("\n"))
		if len(m.line)+len(line) <= maxUsageLine {
			m.line = append(m.line, line...)
		}
		if !complete {
			break
		}
		m.read()
		rest = after
	}
	return n, err
}

// read reads a line: the data of a streamed event, or a whole response.
func (m *meter) read() {
	line := bytes.TrimPrefix(m.line, []byte("data:"))
	m.line = m.line[:0]
	if !bytes.Contains(line, []byte(`"usage"`)) {
		return
	}
	var event struct {
		Usage   usage `json:"usage"`
		Message struct {
			Usage usage `json:"usage"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &event) != nil {
		return
	}
	for _, u := range []usage{event.Message.Usage, event.Usage} { // counts of a stream are totals
		m.usage.Input, m.usage.Output = max(m.usage.Input, u.Input), max(m.usage.Output, u.Output)
		m.usage.CacheRead, m.usage.CacheWrite = max(m.usage.CacheRead, u.CacheRead), max(m.usage.CacheWrite, u.CacheWrite)
	}
}

// Close implements io.Closer.
func (m *meter) Close() error {
	if m.done != nil {
		m.read()
		m.done(m.usage)
		m.done = nil
	}
	return m.ReadCloser.Close()
}

// count adds a response's usage, and the compactions that pruning avoided: as often as the
// whole conversation, by the ratio of its bytes, would have passed the size at which the
// client compacts.
func (g *Gateway) count(s sent, u usage) {
	c := Counts{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
	if limit := g.limit(s.model); limit > 0 && s.bytes > 0 {
		now := u.context() * s.whole / s.bytes / limit
		g.mu.Lock()
		if before := g.avoided[s.session]; now > before && s.whole > s.bytes {
			c.Avoided = now - before
		}
		if g.avoided == nil || len(g.avoided) >= maxSessions {
			g.avoided = map[string]int64{}
		}
		g.avoided[s.session] = now
		g.mu.Unlock()
	}
	g.add(c)
	g.save()
}

func (g *Gateway) limit(model string) int64 {
	if g.opts.Limit == nil {
		return 0
	}
	return g.opts.Limit(model)
}

// add adds to the totals.
func (g *Gateway) add(c Counts) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts, g.unsaved = g.counts.Plus(c), g.unsaved.Plus(c)
}

// save saves the added amounts, off the path of requests.
func (g *Gateway) save() {
	g.mu.Lock()
	c := g.unsaved
	g.unsaved = Counts{}
	g.mu.Unlock()
	if g.opts.Save != nil && c != (Counts{}) {
		g.opts.Save(c)
	}
}
