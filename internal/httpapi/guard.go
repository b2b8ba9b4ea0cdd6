package httpapi

import (
	"context"
	"net/http"
	"runtime/debug"
	"strings"

	"strandline/internal/archive"
)

// Where things are.
const (
	apiPath   = "/api/v1"
	loginPath = "/login"
)

// policy lets a page use what this server serves and nothing else: no script or
// style that stands in a page, no other site, no text that becomes markup.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// guarded puts before a handler what every request has to pass.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		// With no-referrer a browser would say "null" as the origin of our own form.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		defer s.survive(w, r)
		switch {
		case !s.gate.isOurs(r.Host):
			s.refuse(w, r, http.StatusMisdirectedRequest, archive.CodeDenied, "this server is not called by that name",
				"call it by the address that it printed, or start it with --host")
		case foreign(r):
			s.refuse(w, r, http.StatusForbidden, archive.CodeDenied, "pages of other sites get nothing from here", "")
		case strings.HasPrefix(r.URL.Path, apiPath+"/") && !s.gate.admits(r):
			h.Set("WWW-Authenticate", `Bearer realm="strandline"`)
			s.refuse(w, r, http.StatusUnauthorized, archive.CodeDenied, "the token is missing or is another server's",
				"send it as Authorization: Bearer; it stands in the file that `strandline serve` names")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// survive turns a panic into an answer and a line in the log.
func (s *Server) survive(w http.ResponseWriter, r *http.Request) {
	fault := recover()
	if fault == nil {
		return
	}
	if fault == http.ErrAbortHandler { //nolint:errorlint // the value itself is the signal
		panic(fault)
	}
	s.opts.Log.Error("serve panicked", "path", r.URL.Path, "panic", fault, "stack", string(debug.Stack()))
	s.refuse(w, r, http.StatusInternalServerError, archive.CodeInternal, "an internal fault", "`strandline doctor` shows what happened")
}

// enter waits for room among those who read the index.
func (s *Server) enter(ctx context.Context) (leave func(), err error) {
	select {
	case s.readers <- struct{}{}:
		return func() { <-s.readers }, nil
	case <-ctx.Done():
		return nil, &archive.Error{Code: archive.CodeBusy, Msg: "too many requests are being answered", Err: context.Cause(ctx), Hint: "try again in a moment"}
	}
}
