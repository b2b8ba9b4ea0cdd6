package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"strandline/internal/archive"
)

// Problem is an error as RFC 9457 shapes it, with the code and the hint that the
// command line has as well.
type Problem struct {
	Type   string       `json:"type"`
	Title  string       `json:"title"`
	Status int          `json:"status"`
	Detail string       `json:"detail,omitempty"`
	Code   archive.Code `json:"code"`
	Hint   string       `json:"hint,omitempty"`
}

// statusOf is the status of an error with a code.
func statusOf(code archive.Code) int {
	switch code {
	case archive.CodeInvalid:
		return http.StatusBadRequest
	case archive.CodeNotFound:
		return http.StatusNotFound
	case archive.CodeAmbiguous:
		return http.StatusConflict
	case archive.CodeBusy:
		return http.StatusServiceUnavailable
	case archive.CodeDenied:
		return http.StatusForbidden
	}
	return http.StatusInternalServerError
}

// fail answers with an error. What nobody worded for a user goes to the log.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		return // nobody is there any more
	}
	told, ok := errors.AsType[*archive.Error](err)
	if !ok && errors.Is(err, context.DeadlineExceeded) {
		told, ok = &archive.Error{Code: archive.CodeBusy, Msg: "the answer took too long", Hint: "ask for less"}, true
	}
	if !ok {
		s.opts.Log.Error("serve", "path", r.URL.Path, "error", err)
		told = &archive.Error{Code: archive.CodeInternal, Msg: "an internal fault", Hint: "`strandline doctor` shows what happened"}
	}
	code := archive.ErrorCode(told)
	if code == archive.CodeBusy {
		w.Header().Set("Retry-After", "1")
	}
	s.refuse(w, r, statusOf(code), code, told.Msg, archive.ErrorHint(told))
}

// refuse answers with a problem.
func (s *Server) refuse(w http.ResponseWriter, _ *http.Request, status int, code archive.Code, msg, hint string) {
	p := Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code,
		Detail: s.opts.Redact(msg), Hint: s.opts.Redact(hint),
	}
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // a struct of texts
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // who has gone needs no answer
}
