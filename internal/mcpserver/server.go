// Package mcpserver is the archive's face for models: a server of the Model
// Context Protocol (https://modelcontextprotocol.io) on stdin and stdout. What
// it gives out is redacted, fenced as a record of the past, and small unless
// more is asked for.
package mcpserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/task"
)

// Index is what the tools read of a store.
type Index interface {
	recall.SearchStore
	recall.Vectors // passages that share no word with a query
	app.Places
	task.Source
	task.Histories
	Projects(ctx context.Context) ([]archive.ProjectSummary, error)
	Totals(ctx context.Context) (archive.Totals, error)
	Close() error
}

// Options are what a server works with.
type Options struct {
	Version string
	Now     func() time.Time
	// Log takes what goes wrong; stdout and stderr belong to the client.
	Log *slog.Logger
	// Open opens the index. Each call opens its own, so that a server that
	// lives as long as its client keeps nobody from rebuilding the index.
	Open func(ctx context.Context) (Index, error)
	// Embedder judges what texts mean; it is asked by several calls at once.
	Embedder recall.Embedder
	// Decay is the confidence that a place loses in an hour.
	Decay float64
	// Logs reads what the index holds only in part.
	Logs app.Reader
	// Project is where the client works; searches are limited to it unless
	// they ask for more.
	Project archive.Project
	// Recalled notes that places were given to the model.
	Recalled func(ctx context.Context, refs []archive.Ref) error
	// SaveSegment takes a summary that the model wrote and reports what became of
	// it. The error says why one was refused.
	SaveSegment func(ctx context.Context, d Draft) (report string, err error)
}

// Server answers one client.
type Server struct {
	opts Options
	mcp  *mcp.Server
}

// name is what the server calls itself.
const name = "strandline"

// New returns a server with all tools.
func New(o Options) *Server {
	s := &Server{opts: o}
	s.mcp = mcp.NewServer(
		&mcp.Implementation{Name: name, Title: "Strandline", Version: o.Version},
		&mcp.ServerOptions{
			Instructions: Instructions,
			// No logging capability: nothing here has a place in the client's log.
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		})
	s.addTools()
	return s
}

// Run serves until in ends or ctx does. Whoever started the server closes its
// stdin when he goes, so nothing is left behind.
func (s *Server) Run(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	w := &locked{WriteCloser: out}
	r := &lines{Closer: in, in: bufio.NewReader(in), out: w}
	return s.serve(ctx, &mcp.IOTransport{Reader: r, Writer: w})
}

// serve is Run over any transport.
func (s *Server) serve(ctx context.Context, t mcp.Transport) error {
	err := s.mcp.Run(ctx, drained{t})
	if err != nil && ctx.Err() == nil && !errors.Is(err, io.EOF) && !errors.Is(err, mcp.ErrConnectionClosed) {
		return fmt.Errorf("serve MCP: %w", err)
	}
	return nil
}
