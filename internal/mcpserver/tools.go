package mcpserver

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"strandline/internal/archive"
)

// addTools registers every tool.
func (s *Server) addTools() {
	add(s, front("search", "Search past sessions",
		"Find what was said and done in past sessions of this project, or in this one before a compaction: prompts, replies, commands with their outcome, file changes, outputs. "+
			`Words may be parts of identifiers and paths; "quoted words" stand together; filters in the query: file:PATH kind:KIND since:7d session:HANDLE. Returns short excerpts with handles.`), s.search)
	add(s, front("recall", "Recall a turn or a step",
		"Give the text of a handle whole, as it was said and done: a turn (7f3a12cd/12), a step of it (7f3a12cd/12.3), or a session's outline (7f3a12cd). Long texts come in pages."), s.recall)
	add(s, back("timeline", "Outline of a session",
		"List the course of a session: its turns with their prompts, the tasks that began in each and how far they got, and where its context was compacted. Without a session: the last one of this project."), s.timeline)
	add(s, back("files", "History of a file",
		"List every change of a file and every command that named it, across sessions, newest first, with handles."), s.files)
	add(s, back("sessions", "List sessions",
		"List the sessions that are kept, newest first: handle, project, time, number of turns, first prompt."), s.sessions)
	add(s, back("status", "State of the archive",
		"Say how much is kept: sessions, turns, passages, compactions, and since when."), s.status)
	s.addSegmentSave()
}

// front is a tool that clients which defer tools load at once: without these
// two in sight a model does not think of looking anything up.
func front(name, title, description string) *mcp.Tool {
	t := back(name, title, description)
	t.Meta = mcp.Meta{"anthropic/alwaysLoad": true}
	return t
}

// back is a tool that a client may load when it is asked for.
func back(name, title, description string) *mcp.Tool {
	closed := false
	return &mcp.Tool{
		Name: name, Title: title, Description: description,
		Annotations: &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed},
	}
}

// spoken is what a tool gives to a client that reads no structure.
type spoken interface{ text() string }

// add registers a tool that reads the index.
func add[In any, Out spoken](s *Server, t *mcp.Tool, do func(ctx context.Context, idx Index, in In) (Out, error)) {
	register(s, t, func(ctx context.Context, in In) (out Out, err error) {
		idx, err := s.opts.Open(ctx)
		if err != nil {
			return out, err
		}
		out, err = do(ctx, idx, in)
		return out, errors.Join(err, idx.Close())
	})
}

// register registers a tool. Its errors are told to the model, with what to do.
func register[In any, Out spoken](s *Server, t *mcp.Tool, do func(ctx context.Context, in In) (Out, error)) {
	mcp.AddTool(s.mcp, t, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (res *mcp.CallToolResult, out Out, err error) {
		defer func() {
			if r := recover(); r != nil {
				s.opts.Log.Error("mcp tool panicked", "tool", t.Name, "panic", r, "stack", string(debug.Stack()))
				err = errors.New("an internal fault; `strandline doctor` shows it")
			}
		}()
		if out, err = do(ctx, in); err != nil {
			return nil, out, s.told(t.Name, err)
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: out.text()}}}, out, nil
	})
}

// told is an error as the model reads it: one sentence and what to do.
func (s *Server) told(tool string, err error) error {
	told, ok := errors.AsType[*archive.Error](err)
	if !ok {
		s.opts.Log.Error("mcp tool", "tool", tool, "error", err)
		return err
	}
	if hint := archive.ErrorHint(err); hint != "" {
		return errors.New(told.Msg + "; " + hint)
	}
	return errors.New(told.Msg)
}
