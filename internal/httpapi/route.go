package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// route is one thing that the API answers. The mux and the OpenAPI document are
// both made of it, so what is documented is what is served.
type route struct {
	method, path string // path is below apiPath, with {wildcards}
	id           string // for programs that are made from the document
	summary      string
	params       []param      // of the query
	body         reflect.Type // nil: none
	answer       reflect.Type // nil: not JSON, see media
	media        string       // of an answer that is not JSON
	status       int          // of a success, 0: 200
	serve        func(w http.ResponseWriter, c *call) error
}

// call is a request that fits a route.
type call struct {
	*http.Request
	query map[string][]string // by parameters that the route has
	now   func() clock
}

// reads makes a route's function of one that gives a value.
func reads[T any](s *Server, r route, do func(ctx context.Context, c *call) (T, error)) route {
	r.method, r.answer = http.MethodGet, reflect.TypeFor[T]()
	r.serve = func(w http.ResponseWriter, c *call) error {
		leave, err := s.enter(c.Context())
		if err != nil {
			return err
		}
		defer leave()
		v, err := do(c.Context(), c)
		if err != nil {
			return err
		}
		return s.write(w, http.StatusOK, v)
	}
	return r
}

// mux answers every route, the page and nothing else.
func (s *Server) mux() *http.ServeMux {
	m := http.NewServeMux()
	for _, r := range s.routes {
		m.Handle(r.method+" "+apiPath+r.path, s.answer(r))
	}
	m.HandleFunc(apiPath+"/", func(w http.ResponseWriter, r *http.Request) {
		s.unknown(w, r, m)
	})
	s.servePage(m)
	return m
}

// unknown answers what is no route, or is one with another method.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request, m *http.ServeMux) {
	var other []string
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		probe := r.Clone(r.Context())
		probe.Method = method
		if _, pattern := m.Handler(probe); strings.HasPrefix(pattern, method+" ") {
			other = append(other, method)
		}
	}
	if len(other) > 0 {
		w.Header().Set("Allow", strings.Join(other, ", "))
		s.refuse(w, r, http.StatusMethodNotAllowed, archive.CodeInvalid, r.Method+" is not understood here", "use "+strings.Join(other, " or "))
		return
	}
	s.refuse(w, r, http.StatusNotFound, archive.CodeNotFound, "there is nothing at this path", apiPath+"/openapi.json lists what there is")
}

// answer is the handler of a route.
func (s *Server) answer(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := r.Context(), func() {}
		if rt.media == "" { // what streams bounds itself
			ctx, cancel = context.WithTimeout(ctx, answerWithin)
		}
		defer cancel()
		query, err := rt.read(r.URL.RawQuery)
		if err == nil {
			err = rt.serve(w, &call{Request: r.WithContext(ctx), query: query, now: s.clock})
		}
		if err != nil {
			s.fail(w, r, err)
		}
	})
}

// read takes a query apart. What the route has no parameter for is refused: a
// misspelled filter must not look like one that lets everything through.
func (rt route) read(raw string) (map[string][]string, error) {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return nil, &archive.Error{Code: archive.CodeInvalid, Msg: "the query cannot be read", Err: err, Hint: "escape it as a URL wants it"}
	}
	for name, values := range query {
		at := slices.IndexFunc(rt.params, func(p param) bool { return p.name == name })
		if at < 0 {
			return nil, archive.Invalid("there is no parameter "+quoted(name), "there are: "+rt.names())
		}
		if err := rt.params[at].check(values); err != nil {
			return nil, err
		}
	}
	for _, p := range rt.params {
		if p.required && query.Get(p.name) == "" {
			return nil, archive.Invalid("the parameter "+p.name+" is missing", p.says)
		}
	}
	return query, nil
}

func (rt route) names() string {
	var names []string
	for _, p := range rt.params {
		names = append(names, p.name)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// write answers with a value as JSON, with every text in it redacted.
func (s *Server) write(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(redacted(v, s.opts.Redact))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // who has gone needs no answer
	return nil
}
