package httpapi

import (
	"embed"
	"html"
	"net/http"
	"path"
	"strings"

	"strandline/internal/archive"
)

// static holds the page: plain HTML, CSS and ES modules, without a build step and
// without other sites.
//
// The folder vendor holds the libraries of the page, unchanged but for an export, and
// their licences.
//
//go:embed static
var static embed.FS

// servePage adds the page and the login. The page's files hold nothing of the
// archive, so only the page itself needs a login.
func (s *Server) servePage(m *http.ServeMux) {
	notFound := func(w http.ResponseWriter, _ *http.Request) {
		s.refuse(w, http.StatusNotFound, archive.CodeNotFound, "unknown path", "")
	}
	file := func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		data, err := static.ReadFile("static/" + name)
		if err != nil || path.Ext(name) == ".html" {
			notFound(w, r)
			return
		}
		writeStatic(w, http.StatusOK, name, data)
	}
	m.HandleFunc("GET /{name}", file)
	m.HandleFunc("GET /vendor/{name}", file)
	m.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		if !s.auth.admits(r) {
			askToken(w, http.StatusUnauthorized, "")
			return
		}
		writeStatic(w, http.StatusOK, "index.html", nil)
	})
	m.HandleFunc("GET "+loginPath+"/{key}", s.openLink)
	m.HandleFunc("POST "+loginPath, s.login)
	m.HandleFunc("/", notFound)
}

func readStatic(name string) []byte {
	b, err := static.ReadFile("static/" + name)
	if err != nil {
		panic(err) // embedded files cannot be missing
	}
	return b
}

// mediaTypes are the types of the page's files. Package mime would also use the
// system's table.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".txt":  "text/plain; charset=utf-8",
}

// writeStatic sends a file of the page, or data of the file's type.
func writeStatic(w http.ResponseWriter, status int, name string, data []byte) {
	if data == nil {
		data = readStatic(name)
	}
	w.Header().Set("Content-Type", mediaTypes[path.Ext(name)])
	w.WriteHeader(status)
	_, _ = w.Write(data) // the client may have disconnected
}

// askToken shows the login form with a note.
func askToken(w http.ResponseWriter, status int, note string) {
	writeStatic(w, status, "token.html", tokenForm(note))
}

func tokenForm(note string) []byte {
	return []byte(strings.ReplaceAll(string(readStatic("token.html")), "{{note}}", html.EscapeString(note)))
}

// openLink logs a browser in by a login link. Prefetching and HEAD requests, which
// chat programs and link checkers send, do not use up the link.
func (s *Server) openLink(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || r.Header.Get("Sec-Purpose") != "" || r.Header.Get("Purpose") != "" {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if !s.auth.useLink(r.PathValue("key")) {
		askToken(w, http.StatusForbidden, "This link was already used or belongs to another server.")
		return
	}
	s.welcome(w, r)
}

// maxLogin is the maximal size of the login form in bytes.
const maxLogin = 4 << 10

// login logs a browser in by the token.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
	if err := r.ParseForm(); err != nil || !s.auth.isToken(r.PostForm.Get("token")) {
		askToken(w, http.StatusForbidden, "Wrong token.")
		return
	}
	s.welcome(w, r)
}

// welcome sets the cookie and leads to the page. It is not an HTTP redirect: after
// one from another site the browser would not send a SameSite=Strict cookie.
func (s *Server) welcome(w http.ResponseWriter, r *http.Request) {
	s.auth.setCookie(w, r)
	writeStatic(w, http.StatusOK, "welcome.html", nil)
}
