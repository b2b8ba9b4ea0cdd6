package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
	"strandline/internal/transcript"
	"strandline/internal/usage"
)

// handlesOf returns the handles of those of a session's calls, its sub-agents'
// among them, whose results the archive holds.
func (a *commands) handlesOf(ctx context.Context, r app.Workspace, session string, ids []string) (handles map[string]string, err error) {
	err = a.known(ctx, r, func(x app.Archive) error {
		handles, _, err = callPlaces(ctx, x.Index, session, ids)
		return err
	})
	return handles, err
}

// known lets run read the index, if there is one.
func (a *commands) known(ctx context.Context, r app.Workspace, run func(app.Archive) error) error {
	if _, err := os.Stat(r.Config.Paths.Index()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return a.app.WithIndex(ctx, r, app.ReadOnly, run)
}

// callPlaces finds calls by the client's ids, in a session and then in its
// sub-agents until all are found. whose is the session of the last one found, ""
// for none.
func callPlaces(ctx context.Context, s *app.Index, session string, ids []string) (handles map[string]string, whose string, err error) {
	wanted := make(map[string]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	handles = map[string]string{}
	look := func(session string) error {
		calls, err := s.Calls(ctx, archive.CallSpan{Span: archive.Span{Session: session}})
		if err != nil {
			return err
		}
		for i := range calls {
			c := &calls[i]
			if !wanted[c.ToolID] || c.LineResult < 0 {
				continue
			}
			handles[c.ToolID] = archive.Ref{Session: c.Session, Turn: c.Turn, Step: c.Step}.Handle()
			whose = session
		}
		return nil
	}
	if err := look(session); err != nil {
		if archive.ErrorCode(err) == archive.CodeNotFound {
			return handles, "", nil
		}
		return nil, "", err
	}
	if len(handles) == len(wanted) {
		return handles, whose, nil
	}
	agents, err := s.Sessions(ctx, archive.SessionFilter{Parent: session, Agents: true})
	if err != nil {
		return nil, "", err
	}
	for i := range agents {
		if len(handles) == len(wanted) {
			break
		}
		if err := look(agents[i].ID); err != nil {
			return nil, "", err
		}
	}
	return handles, whose, nil
}

// recordOf makes what stands for a conversation that the client wants a summary
// of.
func (a *commands) recordOf(ctx context.Context, r app.Workspace, c Summarised) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, compactDeadline)
	defer cancel()
	req := compact.ReplaceRequest{
		Messages: c.Messages, Budget: compact.Budget(usage.ModelWindow(c.Model), 0, c.Messages),
		Instructions: c.Instructions, Redact: r.Redact,
	}
	if len(c.Messages) == 0 {
		return "", archive.Invalid("there is no conversation to summarise", "")
	}
	var out compact.Replacement
	err := a.known(ctx, r, func(x app.Archive) error {
		_, whose, err := callPlaces(ctx, x.Index, c.Session, callIDs(c.Messages))
		if err != nil {
			return err
		}
		if whose == "" { // no call is left in it, or none is indexed yet
			whose = capture.PendingCompactions{Dir: r.Config.Paths.Underway()}.Subject(c.Session, a.app.Now())
		}
		req.Session = whose
		out, err = compact.Replace(ctx, x.Index, req)
		return err
	})
	if err != nil {
		// The archive is an aid; the messages alone give an answer, too.
		r.Logger().Error("a compaction does without the archive", "error", err.Error())
	}
	if err != nil || out.Text == "" {
		req.Session = ""
		if out, err = compact.Replace(ctx, nil, req); err != nil {
			return "", err
		}
	}
	if req.Session != "" {
		err = a.noteReplaced(ctx, r, req, out, "session.compact/gateway")
	}
	return out.Summary(req), err
}

// callIDs lists the calls of a conversation.
func callIDs(ms []transcript.Message) (ids []string) {
	for i := range ms {
		for j := range ms[i].Uses {
			ids = append(ids, ms[i].Uses[j].ID)
		}
	}
	return ids
}
