package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
)

// route is one operation of the API. Both the mux and the OpenAPI document are
// made from it.
type route struct {
	method, path string // path is below apiPath, with {wildcards}
	id           string // operationId
	summary      string
	params       []param      // of the query
	body         reflect.Type // of the request; nil means none
	answer       reflect.Type // of the response; nil means not JSON, see media
	media        string       // media type of a response that is not JSON
	status       int          // of a success; 0 means 200
	serve        func(w http.ResponseWriter, c *call) error
}

// call is a request with its parsed query.
type call struct {
	*http.Request
	query url.Values
	now   func() time.Time
}

// get completes a GET route whose response is do's result.
func get[T any](s *Server, r route, do func(ctx context.Context, c *call) (T, error)) route {
	r.method, r.answer = http.MethodGet, reflect.TypeFor[T]()
	r.serve = func(w http.ResponseWriter, c *call) error {
		return respond(s, w, c, http.StatusOK, func() (T, error) { return do(c.Context(), c) })
	}
	return r
}

// post completes a POST route whose response is do's result for the body.
func post[In, Out any](s *Server, r route, do func(ctx context.Context, in In) (Out, error)) route {
	r.method, r.body, r.answer, r.status = http.MethodPost, reflect.TypeFor[In](), reflect.TypeFor[Out](), http.StatusCreated
	r.serve = func(w http.ResponseWriter, c *call) error {
		in, err := body[In](w, c)
		if err != nil {
			return err
		}
		return respond(s, w, c, r.status, func() (Out, error) { return do(c.Context(), in) })
	}
	return r
}

// respond writes do's result as redacted JSON.
func respond[T any](s *Server, w http.ResponseWriter, c *call, status int, do func() (T, error)) error {
	release, err := s.acquireReader(c.Context())
	if err != nil {
		return err
	}
	defer release()
	v, err := do()
	if err != nil {
		return err
	}
	data, err := json.Marshal(redacted(v, s.opts.Redact))
	if err != nil {
		return err
	}
	writeJSON(w, "application/json", status, data)
	return nil
}

func writeJSON(w http.ResponseWriter, media string, status int, data []byte) {
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // the client may have disconnected
}

// maxBody is the maximal size of a request's body in bytes.
const maxBody = 1 << 20

// body decodes a request's body: one JSON value without unknown fields.
func body[In any](w http.ResponseWriter, c *call) (in In, err error) {
	media, _, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return in, archive.Invalid("the content type is not JSON", "send Content-Type: application/json")
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, c.Body, maxBody))
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return in, archive.Invalid(fmt.Sprintf("the body is larger than %d bytes", tooLarge.Limit), "send less")
	}
	if err != nil {
		return in, fmt.Errorf("read body: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return in, &archive.Error{Code: archive.CodeInvalid, Msg: "invalid body: " + archive.Clip(err.Error(), 200), Err: err, Hint: "see its schema in " + apiPath + "/openapi.json"}
	}
	if d.More() {
		return in, archive.Invalid("the body holds more than one value", "send one")
	}
	return in, nil
}

// mux returns the handler of all routes and the page.
func (s *Server) mux() *http.ServeMux {
	m := http.NewServeMux()
	for _, r := range s.routes {
		m.Handle(r.method+" "+apiPath+r.path, s.handle(r))
	}
	m.HandleFunc(apiPath+"/", func(w http.ResponseWriter, r *http.Request) { s.unknown(w, r, m) })
	s.servePage(m)
	return m
}

// unknown answers a request that matches no route, or one with another method.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request, m *http.ServeMux) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		probe := r.Clone(r.Context())
		probe.Method = method
		if _, pattern := m.Handler(probe); strings.HasPrefix(pattern, method+" ") {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		s.refuse(w, http.StatusMethodNotAllowed, archive.CodeInvalid, "method "+r.Method+" is not allowed here", "use "+strings.Join(allowed, " or "))
		return
	}
	s.refuse(w, http.StatusNotFound, archive.CodeNotFound, "unknown path", apiPath+"/openapi.json lists all paths")
}

// handle returns the handler of a route.
func (s *Server) handle(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := r.Context(), func() {}
		if rt.media == "" { // streams have their own limits
			ctx, cancel = context.WithTimeout(ctx, handlerTimeout)
		}
		defer cancel()
		query, err := rt.parse(r.URL.RawQuery)
		if err == nil {
			err = rt.serve(w, &call{Request: r.WithContext(ctx), query: query, now: s.opts.Now})
		}
		if err != nil {
			s.fail(w, r, err)
		}
	})
}

// parse parses and checks a query. Unknown parameters are refused: a misspelled
// filter must not return everything.
func (rt route) parse(raw string) (url.Values, error) {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return nil, &archive.Error{Code: archive.CodeInvalid, Msg: "the query cannot be parsed", Err: err, Hint: "percent-encode it"}
	}
	for name, values := range query {
		at := slices.IndexFunc(rt.params, func(p param) bool { return p.name == name })
		if at < 0 {
			return nil, archive.Invalid("unknown parameter "+quoted(name), "known parameters: "+rt.names())
		}
		if err := rt.params[at].check(values); err != nil {
			return nil, err
		}
	}
	for _, p := range rt.params {
		if p.required && query.Get(p.name) == "" {
			return nil, archive.Invalid("the parameter "+p.name+" is missing", p.desc)
		}
	}
	return query, nil
}

func (rt route) names() string {
	var names []string
	for _, p := range rt.params {
		names = append(names, p.name)
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

// Problem is an error response in the format of RFC 9457, with the code and hint
// that the command line prints.
type Problem struct {
	Type   string       `json:"type"`
	Title  string       `json:"title"`
	Status int          `json:"status"`
	Detail string       `json:"detail,omitempty"`
	Code   archive.Code `json:"code"`
	Hint   string       `json:"hint,omitempty"`
}

// statuses maps error codes to HTTP statuses. Others are 500.
var statuses = map[archive.Code]int{
	archive.CodeInvalid:   http.StatusBadRequest,
	archive.CodeNotFound:  http.StatusNotFound,
	archive.CodeAmbiguous: http.StatusConflict,
	archive.CodeBusy:      http.StatusServiceUnavailable,
	archive.CodeDenied:    http.StatusForbidden,
}

const (
	internalError = "internal error"
	doctorHint    = "`strandline doctor` shows the details"
)

// fail answers with an error. An error that is not an *archive.Error is logged and
// answered without details.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		return // the client disconnected
	}
	e, ok := errors.AsType[*archive.Error](err)
	switch {
	case ok:
	case errors.Is(err, context.DeadlineExceeded):
		e = &archive.Error{Code: archive.CodeBusy, Msg: "the request timed out", Hint: "request less"}
	default:
		s.opts.Log.Error("serve", "path", r.URL.Path, "error", err)
		e = &archive.Error{Code: archive.CodeInternal, Msg: internalError, Hint: doctorHint}
	}
	code := archive.ErrorCode(e)
	if code == archive.CodeBusy {
		w.Header().Set("Retry-After", "1")
	}
	s.refuse(w, cmp.Or(statuses[code], http.StatusInternalServerError), code, e.Msg, archive.ErrorHint(e))
}

// refuse writes a problem.
func (s *Server) refuse(w http.ResponseWriter, status int, code archive.Code, msg, hint string) {
	data, err := json.Marshal(Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code,
		Detail: s.opts.Redact(msg), Hint: s.opts.Redact(hint),
	})
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	writeJSON(w, "application/problem+json", status, data)
}
