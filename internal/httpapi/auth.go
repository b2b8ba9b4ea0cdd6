package httpapi

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"sync"

	"strandline/internal/archive"
)

const apiPath, loginPath = "/api/v1", "/login"

// contentPolicy allows the page only what this server serves: no inline scripts or
// styles, no other sites, no markup made from text.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// guarded wraps a handler: it sets the security headers, recovers panics, and
// checks the host, the origin and, for the API, the token.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		// With no-referrer a browser would send the origin of the login form as "null".
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		defer s.recoverPanic(w, r)
		switch {
		case !s.auth.isOwnHost(r.Host):
			s.refuse(w, http.StatusMisdirectedRequest, archive.CodeDenied, "this server does not accept that host name",
				"use the address that it printed, or start it with --host")
		case isCrossSite(r):
			s.refuse(w, http.StatusForbidden, archive.CodeDenied, "requests from other sites are refused", "")
		case strings.HasPrefix(r.URL.Path, apiPath+"/") && !s.auth.admits(r):
			h.Set("WWW-Authenticate", `Bearer realm="strandline"`)
			s.refuse(w, http.StatusUnauthorized, archive.CodeDenied, "the token is missing or wrong",
				"send it as Authorization: Bearer TOKEN; `strandline serve` prints the token's file")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// recoverPanic logs a panic and answers with an internal error.
func (s *Server) recoverPanic(w http.ResponseWriter, r *http.Request) {
	value := recover()
	if value == nil {
		return
	}
	if value == http.ErrAbortHandler { //nolint:errorlint // net/http compares the value itself
		panic(value)
	}
	s.opts.Log.Error("serve panicked", "path", r.URL.Path, "panic", value, "stack", string(debug.Stack()))
	s.refuse(w, http.StatusInternalServerError, archive.CodeInternal, internalError, doctorHint)
}

// acquireReader waits for one of the maxReaders slots.
func (s *Server) acquireReader(ctx context.Context) (release func(), err error) {
	select {
	case s.readers <- struct{}{}:
		return func() { <-s.readers }, nil
	case <-ctx.Done():
		return nil, &archive.Error{Code: archive.CodeBusy, Msg: "too many concurrent requests", Err: context.Cause(ctx), Hint: "try again in a moment"}
	}
}

// auth checks tokens, login links, cookies and host names.
type auth struct {
	token   [sha256.Size]byte
	network bool
	hosts   []string
	cookie  string // the value of every browser's cookie

	mu    sync.Mutex
	links map[[sha256.Size]byte]bool // hashes of unused login links
}

// maxLinks limits the unused login links. A new one replaces an older one.
const maxLinks = 8

func newAuth(o Options) *auth {
	return &auth{token: hash(o.Token), network: o.Network, hosts: o.Hosts, links: map[[sha256.Size]byte]bool{}, cookie: NewToken()}
}

func hash(s string) [sha256.Size]byte { return sha256.Sum256([]byte(s)) }

// NewToken returns 256 random bits as text.
func NewToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never returns an error
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// newLink returns the key of a new login link.
func (a *auth) newLink() string {
	key := NewToken()
	a.mu.Lock()
	defer a.mu.Unlock()
	for old := range a.links {
		if len(a.links) < maxLinks {
			break
		}
		delete(a.links, old)
	}
	a.links[hash(key)] = true
	return key
}

// useLink reports whether a key is that of an unused login link, and invalidates
// it.
func (a *auth) useLink(key string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	unused := a.links[hash(key)]
	delete(a.links, hash(key))
	return unused
}

// isToken compares a text with the token in constant time.
func (a *auth) isToken(token string) bool {
	sum := hash(token)
	return subtle.ConstantTimeCompare(sum[:], a.token[:]) == 1
}

// cookieName contains the port, because browsers send a host's cookies to all of
// its ports.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "80"
	}
	return "strandline_" + port
}

// admits reports whether a request has the token or the cookie.
func (a *auth) admits(r *http.Request) bool {
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return a.isToken(strings.TrimSpace(token))
	}
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return false
	}
	got, want := hash(c.Value), hash(a.cookie)
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// setCookie logs a browser in until the server ends.
func (a *auth) setCookie(w http.ResponseWriter, r *http.Request) {
	// Not Secure: the server uses plain HTTP, by default on this machine only.
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Value: a.cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
}

// isOwnHost reports whether a Host header is one of the server's. It prevents DNS
// rebinding: a page of another site whose name resolves to this machine.
func (a *auth) isOwnHost(host string) bool {
	for _, name := range a.hosts {
		if strings.EqualFold(host, name) {
			return true
		}
	}
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	if IsLoopback(name) {
		return true
	}
	_, err = netip.ParseAddr(name) // an address cannot be rebound
	return a.network && err == nil
}

// IsLoopback reports whether only this machine can reach a host.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// isCrossSite reports whether a browser marks a request as made by another site.
func isCrossSite(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host && origin != "https://"+r.Host {
		return true
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	// A link to the page is allowed: without the cookie it shows the login form.
	return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Method != http.MethodGet || strings.HasPrefix(r.URL.Path, apiPath)
}
