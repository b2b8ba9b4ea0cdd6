package httpapi

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"syscall"
)

// gate decides who gets in.
type gate struct {
	token   [sha256.Size]byte
	network bool
	hosts   []string

	mu     sync.Mutex
	links  map[[sha256.Size]byte]bool // that let somebody in once
	cookie [sha256.Size]byte          // of every browser that was let in
	value  string                     // what the cookie holds
}

// maxLinks is how many links wait to be opened; an older one is given up for a
// newer.
const maxLinks = 8

func newGate(o Options) *gate {
	g := &gate{token: sha256.Sum256([]byte(o.Token)), network: o.Network, hosts: o.Hosts, links: map[[sha256.Size]byte]bool{}, value: NewToken()}
	g.cookie = sha256.Sum256([]byte(g.value))
	return g
}

// NewToken returns 256 random bits as text.
func NewToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails: the program ends first
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// newLink returns the secret of a link that lets one browser in.
func (g *gate) newLink() string {
	key := NewToken()
	g.mu.Lock()
	defer g.mu.Unlock()
	for old := range g.links {
		if len(g.links) < maxLinks {
			break
		}
		delete(g.links, old)
	}
	g.links[sha256.Sum256([]byte(key))] = true
	return key
}

// open reports whether a link's secret lets somebody in, which it does once.
func (g *gate) open(key string) bool {
	sum := sha256.Sum256([]byte(key))
	g.mu.Lock()
	defer g.mu.Unlock()
	known := g.links[sum]
	delete(g.links, sum)
	return known
}

// knows reports whether a text is the token. How long that takes tells nothing.
func (g *gate) knows(token string) bool {
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1
}

// cookieName is the cookie of a server; browsers give cookies of one host to
// servers on all of its ports, so the port is part of the name.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "80"
	}
	return "strandline_" + port
}

// admits reports whether a request bears the token or a cookie that was given for
// a link.
func (g *gate) admits(r *http.Request) bool {
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return g.knows(strings.TrimSpace(token))
	}
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return false
	}
	sum := sha256.Sum256([]byte(c.Value))
	return subtle.ConstantTimeCompare(sum[:], g.cookie[:]) == 1
}

// admit lets a browser in from now on, until the server ends.
func (g *gate) admit(w http.ResponseWriter, r *http.Request) {
	// Without Secure: the server speaks plain HTTP, and to this machine unless told
	// otherwise.
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Value: g.value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
}

// isOurs reports whether a request calls the server by a name that is its own. A
// page of another site can make its name lead here, and is found out by it.
func (g *gate) isOurs(host string) bool {
	for _, name := range g.hosts {
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
	_, err = netip.ParseAddr(name) // an address leads where it says
	return g.network && err == nil
}

// IsLoopback reports whether a host is this machine only.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// foreign reports whether a browser says that a page of another site made the
// request.
func foreign(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host && origin != "https://"+r.Host {
		return true
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	// Following a link to the page is no harm: it shows nothing to who has no cookie.
	return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Method != http.MethodGet || strings.HasPrefix(r.URL.Path, apiPath)
}

// inUse reports whether an address is taken; Windows has a number of its own for
// that.
func inUse(err error) bool {
	const windows = syscall.Errno(10048)
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, windows)
}
