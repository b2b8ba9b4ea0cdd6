package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine limits a message, in bytes.
const maxLine = 8 << 20

// parseError is the response to an invalid message
// (https://www.jsonrpc.org/specification#error_object).
const parseError = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: each line has to be one JSON-RPC message"}}` + "\n"

// lines reads the valid messages of an input, one a line, and answers invalid
// ones with parseError. The SDK would end the connection instead.
type lines struct {
	io.Closer
	in   *bufio.Reader
	out  io.Writer
	rest []byte // unread part of the current line
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, long, err := readLine(l.in)
		if long || len(bytes.TrimSpace(line)) > 0 {
			if !long && isMessage(line) {
				l.rest = append(line, '\n')
				break
			}
			if _, werr := io.WriteString(l.out, parseError); werr != nil {
				return 0, werr
			}
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// readLine reads a line without its line break. A line of more than maxLine bytes
// is discarded and reported as long.
func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			line, long = nil, true
		}
		if !long {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), long, err
		}
	}
}

// isMessage reports whether a line is a request, a notification or a response.
func isMessage(line []byte) bool {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  *string         `json:"method"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(line, &m); err != nil || m.Version != "2.0" {
		return false
	}
	if len(m.ID) > 0 && m.ID[0] != '"' && (m.ID[0] < '0' || m.ID[0] > '9') && m.ID[0] != '-' {
		return false // neither a string nor a number
	}
	return m.Method != nil || len(m.ID) > 0 && (m.Result != nil || m.Error != nil)
}

// locked serializes writes.
type locked struct {
	mu sync.Mutex
	io.WriteCloser
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.WriteCloser.Write(p)
}

// drainTimeout limits the wait for pending responses after the end of the input.
const drainTimeout = 10 * time.Second

// drained is a transport that answers all requests that were sent before the end
// of the input, so that a client may write all requests at once and close the
// pipe.
type drained struct{ mcp.Transport }

// Connect implements mcp.Transport.
func (t drained) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainedConn{Connection: c, slots: make(chan struct{}, maxPending)}, nil
}

// maxPending limits the requests without a response. The next one is not handled before
// a response is read, so that a client that reads none costs little memory. Cancellations
// of the pending ones are read until then: they take no slot.
const maxPending = 16

type drainedConn struct {
	mcp.Connection
	slots   chan struct{}  // one is taken for each request without a response
	ids     sync.Map       // of the requests without a response
	pending sync.WaitGroup // their number
}

// Read returns the next message. It returns an error only after all pending
// requests are answered.
func (c *drainedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if err != nil {
		c.drain(ctx)
	} else if req, ok := msg.(*jsonrpc.Request); ok && req.ID.IsValid() {
		if _, known := c.ids.LoadOrStore(req.ID, true); !known { // a repeated ID gets one response
			c.pending.Add(1)
			select {
			case c.slots <- struct{}{}:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
	}
	return msg, err
}

// Write sends a message.
func (c *drainedConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if res, ok := msg.(*jsonrpc.Response); ok {
		if _, known := c.ids.LoadAndDelete(res.ID); known {
			defer func() {
				<-c.slots
				c.pending.Done()
			}()
		}
	}
	return c.Connection.Write(ctx, msg)
}

// drain waits until every request is answered.
func (c *drainedConn) drain(ctx context.Context) {
	answered := make(chan struct{})
	go func() {
		c.pending.Wait()
		close(answered)
	}()
	select {
	case <-answered:
	case <-ctx.Done():
	case <-time.After(drainTimeout):
	}
}
