package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// drainWait is how long an ended input waits for answers that are still due.
const drainWait = 10 * time.Second

// drained is a transport that answers what was asked before its input ended:
// whoever writes all requests at once and closes the pipe gets every answer.
type drained struct{ mcp.Transport }

// Connect implements mcp.Transport.
func (t drained) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainedConn{Connection: c, due: map[jsonrpc.ID]bool{}, idle: make(chan struct{}, 1)}, nil
}

type drainedConn struct {
	mcp.Connection
	mu   sync.Mutex
	due  map[jsonrpc.ID]bool // requests without an answer
	idle chan struct{}       // holds a token when the last of them was answered
}

// Read returns the next message; an error only when nothing is due any more.
func (c *drainedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if err != nil {
		c.drain(ctx)
		return msg, err
	}
	if req, ok := msg.(*jsonrpc.Request); ok && req.ID.IsValid() {
		c.mu.Lock()
		c.due[req.ID] = true
		c.mu.Unlock()
	}
	return msg, nil
}

// Write sends a message.
func (c *drainedConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if res, ok := msg.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.due, res.ID)
		if len(c.due) == 0 {
			select {
			case c.idle <- struct{}{}:
			default:
			}
		}
		c.mu.Unlock()
	}
	return err
}

// drain waits until every request is answered.
func (c *drainedConn) drain(ctx context.Context) {
	deadline := time.NewTimer(drainWait)
	defer deadline.Stop()
	for {
		c.mu.Lock()
		left := len(c.due)
		c.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-c.idle:
		case <-ctx.Done():
			return
		case <-deadline.C:
			return
		}
	}
}
