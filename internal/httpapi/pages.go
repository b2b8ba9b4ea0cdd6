package httpapi

import (
	"net/http"

	"strandline/internal/archive"
	"strandline/internal/httpapi/web"
)

// servePage adds the page and the way into it. Its files hold nothing of the
// archive, so they are for everybody.
func (s *Server) servePage(m *http.ServeMux) {
	for _, f := range web.Files() {
		m.HandleFunc("GET "+f.Path+end(f.Path), func(w http.ResponseWriter, r *http.Request) {
			if f.Path == "/" && !s.gate.admits(r) {
				s.askToken(w, http.StatusUnauthorized, "")
				return
			}
			s.file(w, http.StatusOK, f)
		})
	}
	m.HandleFunc("GET "+loginPath+"/{key}", s.openLink)
	m.HandleFunc("POST "+loginPath, s.login)
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, http.StatusNotFound, archive.CodeNotFound, "there is nothing at this path", "")
	})
}

// end makes a pattern match its own path only.
func end(path string) string {
	if path == "/" {
		return "{$}"
	}
	return ""
}

func (s *Server) file(w http.ResponseWriter, status int, f web.File) {
	w.Header().Set("Content-Type", f.Type)
	w.WriteHeader(status)
	_, _ = w.Write(f.Data) // who has gone needs no answer
}

// askToken shows the form that takes the token.
func (s *Server) askToken(w http.ResponseWriter, status int, note string) {
	s.file(w, status, web.Token(note))
}

// openLink lets a browser in. A browser that only looks ahead is told to come
// again, so that it does not use the link up.
func (s *Server) openLink(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Sec-Purpose") != "" || r.Header.Get("Purpose") != "" {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if !s.gate.open(r.PathValue("key")) {
		s.askToken(w, http.StatusForbidden, "That link was used before, or is another server's.")
		return
	}
	s.gate.admit(w, r)
	// Not a redirect: to a browser that came from elsewhere the page would be part of
	// that visit, and a strict cookie is not sent then.
	s.file(w, http.StatusOK, web.Welcome())
}

// maxLogin is the most bytes of the form.
const maxLogin = 4 << 10

// login lets a browser in whose user knows the token.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
	if err := r.ParseForm(); err != nil || !s.gate.knows(r.PostForm.Get("token")) {
		s.askToken(w, http.StatusForbidden, "That is not this server's token.")
		return
	}
	s.gate.admit(w, r)
	s.file(w, http.StatusOK, web.Welcome())
}
