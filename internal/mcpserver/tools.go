package mcpserver

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"strandline/internal/archive"
)

// addTools registers the tools.
func (s *Server) addTools() {
	add(s, eager("search", "Search past sessions",
		"Search past sessions of this project, and this session before a compaction: prompts, replies, commands with their outcome, file changes, outputs. "+
			`Words match parts of identifiers and paths; use "quotes" for a phrase; filters in the query: file:PATH kind:KIND since:7d session:HANDLE. Returns short excerpts with handles.`), s.search)
	add(s, eager("recall", "Recall a turn or a step",
		"Return the full text of a turn (7f3a12cd/12) or a step of it (7f3a12cd/12.3), or the outline of a session (7f3a12cd). Long texts are split into pages."), s.recall)
	add(s, deferred("timeline", "Outline of a session",
		"List a session's turns with their prompts, its tasks with their state, and its compactions. Default: the latest session of this project."), s.timeline)
	add(s, deferred("files", "History of a file",
		"List every change of a file and every command that named it, across sessions, newest first, with handles."), s.files)
	add(s, deferred("sessions", "List sessions",
		"List archived sessions, newest first: handle, project, time, number of turns, first prompt."), s.sessions)
	add(s, deferred("status", "Archive status",
		"Return the number of archived sessions, turns, passages and compactions, and their time range."), s.status)
	s.addSegmentSave()
}

// eager returns a tool that clients load at once even if they defer others. A
// model that does not see search and recall does not use the archive.
func eager(name, title, description string) *mcp.Tool {
	t := deferred(name, title, description)
	t.Meta = mcp.Meta{"anthropic/alwaysLoad": true}
	return t
}

// deferred returns a tool that a client may load on demand.
func deferred(name, title, description string) *mcp.Tool {
	openWorld := false
	return &mcp.Tool{
		Name: name, Title: title, Description: description,
		Annotations: &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &openWorld},
	}
}

// result is a tool's structured result, with its text form.
type result interface{ text() string }

// add registers a tool that reads the index.
func add[In any, Out result](s *Server, t *mcp.Tool, do func(ctx context.Context, idx Index, in In) (Out, error)) {
	register(s, t, func(ctx context.Context, in In) (out Out, err error) {
		idx, err := s.opts.Open(ctx)
		if err != nil {
			return out, err
		}
		out, err = do(ctx, idx, in)
		return out, errors.Join(err, idx.Close())
	})
}

// register registers a tool. Its errors are returned to the model.
func register[In any, Out result](s *Server, t *mcp.Tool, do func(ctx context.Context, in In) (Out, error)) {
	mcp.AddTool(s.mcp, t, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (res *mcp.CallToolResult, out Out, err error) {
		defer func() {
			if r := recover(); r != nil {
				s.opts.Log.Error("mcp tool panicked", "tool", t.Name, "panic", r, "stack", string(debug.Stack()))
				err = errors.New("internal error; `strandline doctor` shows the details")
			}
		}()
		if out, err = do(ctx, in); err != nil {
			return nil, out, s.toolError(t.Name, err)
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: out.text()}}}, out, nil
	})
}

// toolError returns an error's message and hint for the model.
func (s *Server) toolError(tool string, err error) error {
	e, ok := errors.AsType[*archive.Error](err)
	if !ok {
		s.opts.Log.Error("mcp tool", "tool", tool, "error", err)
		return err
	}
	if hint := archive.ErrorHint(err); hint != "" {
		return errors.New(e.Msg + "; " + hint)
	}
	return errors.New(e.Msg)
}
