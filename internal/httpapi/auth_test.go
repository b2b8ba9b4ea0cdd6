package httpapi

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestAccess(t *testing.T) {
	const path = "/api/v1/sessions"
	for _, c := range []struct {
		name   string
		change []func(*http.Request)
		status int
	}{
		{"token", nil, 200},
		{"lower-case scheme", []func(*http.Request){header("Authorization", "bearer "+testToken)}, 200},
		{"no token", []func(*http.Request){header("Authorization", "")}, 401},
		{"wrong token", []func(*http.Request){header("Authorization", "Bearer "+testToken+"x")}, 401},
		{"part of the token", []func(*http.Request){header("Authorization", "Bearer "+testToken[:10])}, 401},
		{"empty token", []func(*http.Request){header("Authorization", "Bearer ")}, 401},
		{"wrong scheme", []func(*http.Request){header("Authorization", "Basic "+testToken)}, 401},
		{"forged cookie", []func(*http.Request){header("Authorization", ""), header("Cookie", "strandline_7373="+testToken)}, 401},
		{"localhost", []func(*http.Request){host("localhost:7373")}, 200},
		{"IPv6", []func(*http.Request){host("[::1]:7373")}, 200},
		{"foreign host", []func(*http.Request){host("evil.example:7373")}, 421},
		{"host with an address as prefix", []func(*http.Request){host("127.0.0.1.evil.example")}, 421},
		{"host with localhost as suffix", []func(*http.Request){host("evil-localhost")}, 421},
		{"no host", []func(*http.Request){host("")}, 421},
		{"address of another machine", []func(*http.Request){host("192.168.1.5:7373")}, 421},
		{"own page", []func(*http.Request){header("Origin", home), header("Sec-Fetch-Site", "same-origin")}, 200},
		{"typed into the address bar", []func(*http.Request){header("Sec-Fetch-Site", "none"), header("Sec-Fetch-Mode", "navigate")}, 200},
		{"page of another site", []func(*http.Request){header("Origin", "https://evil.example")}, 403},
		{"page of another port", []func(*http.Request){header("Origin", "http://127.0.0.1:8080")}, 403},
		{"sandboxed page", []func(*http.Request){header("Origin", "null")}, 403},
		{"script of another site", []func(*http.Request){header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "no-cors")}, 403},
		{"link on another site", []func(*http.Request){header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "navigate")}, 403},
		{"same-site subdomain", []func(*http.Request){header("Sec-Fetch-Site", "same-site")}, 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			out := w.get(path, c.change...)
			if out.Code != c.status {
				t.Fatalf("%d, want %d: %s", out.Code, c.status, out.Body)
			}
			if c.status != 200 {
				problem(t, out)
				if w.archive.request != nil {
					t.Error("the archive was read")
				}
			}
		})
	}
}

func TestNetworkServerAcceptsAddressesAndHosts(t *testing.T) {
	w := newFixture(t, func(o *Options) { o.Network, o.Hosts = true, []string{"archive.lan:7373"} })
	for name, status := range map[string]int{
		"192.168.1.5:7373": 200, "[fe80::1]:7373": 200, "archive.lan:7373": 200, "Archive.LAN:7373": 200,
		"archive.lan": 421, "evil.example:7373": 421,
	} {
		if out := w.get("/api/v1/sessions", host(name)); out.Code != status {
			t.Errorf("%s: %d, want %d", name, out.Code, status)
		}
	}
}

// Every response forbids caching, type sniffing and foreign scripts.
func TestSecurityHeaders(t *testing.T) {
	w := newFixture(t)
	for _, path := range []string{"/", "/app.js", "/style.css", "/login/none", "/nowhere", "/api/v1/sessions", "/api/v1/nowhere", "/api/v1/search"} {
		for _, change := range [][]func(*http.Request){nil, {host("evil.example")}, {header("Authorization", "")}} {
			h := w.get(path, change...).Header()
			for name, want := range map[string]string{
				"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "X-Frame-Options": "DENY",
				"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			} {
				if h.Get(name) != want {
					t.Errorf("%s: %s is %q", path, name, h.Get(name))
				}
			}
			csp := h.Get("Content-Security-Policy")
			if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || !strings.Contains(csp, "frame-ancestors 'none'") {
				t.Errorf("%s: %s", path, csp)
			}
			for name := range h {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s: %s allows other sites", path, name)
				}
			}
		}
	}
}

func TestLinkWorksOnce(t *testing.T) {
	w := newFixture(t)
	link := strings.TrimPrefix(w.server.Link(home), home)
	noToken := header("Authorization", "")
	if out := w.get(link, noToken, header("Sec-Purpose", "prefetch")); out.Code != http.StatusServiceUnavailable || len(out.Result().Cookies()) != 0 {
		t.Fatalf("prefetch got %d", out.Code)
	}
	if out := w.request(http.MethodHead, link, "", noToken); out.Code != http.StatusServiceUnavailable || len(out.Result().Cookies()) != 0 {
		t.Fatalf("HEAD got %d", out.Code)
	}
	out := w.get(link, noToken)
	cookies := out.Result().Cookies()
	if out.Code != 200 || len(cookies) != 1 {
		t.Fatalf("%d, %v", out.Code, cookies)
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Name != "strandline_7373" || strings.Contains(c.Value, testToken) {
		t.Errorf("%+v", c)
	}
	in := header("Cookie", c.Name+"="+c.Value)
	if out := w.get("/api/v1/sessions", noToken, in); out.Code != 200 {
		t.Errorf("with the cookie: %d", out.Code)
	}
	if out := w.get("/", noToken, in); out.Code != 200 || !strings.Contains(out.Body.String(), "/app.js") {
		t.Errorf("the page: %d", out.Code)
	}
	if out := w.get(link, noToken); out.Code != http.StatusForbidden || len(out.Result().Cookies()) != 0 {
		t.Errorf("second use: %d", out.Code)
	}
	if out := w.get("/api/v1/sessions", noToken, in, host("localhost:8080")); out.Code != 401 {
		t.Errorf("another server's cookie: %d", out.Code)
	}
}

func TestOldLinksAreReplaced(t *testing.T) {
	w := newFixture(t)
	for range 3 * maxLinks {
		w.server.Link(home)
	}
	if n := len(w.server.auth.links); n != maxLinks {
		t.Errorf("%d links are kept", n)
	}
	if out := w.get(strings.TrimPrefix(w.server.Link(home), home), header("Authorization", "")); out.Code != 200 {
		t.Errorf("newest link: %d", out.Code)
	}
}

func TestLoginForm(t *testing.T) {
	noToken, form := header("Authorization", ""), header("Content-Type", "application/x-www-form-urlencoded")
	for _, c := range []struct {
		name, token string
		status      int
		change      []func(*http.Request)
	}{
		{"the token", testToken, 200, nil},
		{"wrong token", "no-token", 403, nil},
		{"no token", "", 403, nil},
		{"too long", strings.Repeat("x", maxLogin+1), 403, nil},
		{"from another site", testToken, 403, []func(*http.Request){header("Origin", "https://evil.example")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			change := append([]func(*http.Request){noToken, form}, c.change...)
			out := w.request(http.MethodPost, "/login", url.Values{"token": {c.token}}.Encode(), change...)
			if ok := len(out.Result().Cookies()) == 1; out.Code != c.status || ok != (c.status == 200) {
				t.Errorf("%d, cookie set: %v", out.Code, ok)
			}
			if strings.Contains(out.Body.String(), testToken) {
				t.Error("the response holds the token")
			}
		})
	}
}

func TestPageNeedsALogin(t *testing.T) {
	w := newFixture(t)
	out := w.get("/", header("Authorization", ""))
	if out.Code != 401 || !strings.Contains(out.Body.String(), `type="password"`) {
		t.Errorf("%d %s", out.Code, out.Body)
	}
}

func TestPathTraversal(t *testing.T) {
	w := newFixture(t)
	for _, path := range []string{
		"/../../etc/passwd", "/static/app.js", "/..%2f..%2fetc%2fpasswd", "/token.html", "/welcome.html", "/index.html", "/app.js/", "/.git/config",
		"/api/v1/sessions/..%2f..%2f..%2fetc%2fpasswd", "/api/v1/sessions/%2e%2e", "/api/v1/sessions/a%00b", "/api/v1/sessions/7f3a12cd/turns/..%2f1",
		"/api/v1/sessions/7f3a12cd/turns/-1", "/api/v1/sessions/7f3a12cd/turns/1.2.3", "/api/v1/sessions/7f3a12cd/turns/99999999999999999999",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, home+path, nil)
		r.Header.Set("Authorization", "Bearer "+testToken)
		out := httptest.NewRecorder()
		w.archive.err = nil
		w.server.ServeHTTP(out, r)
		if out.Code == 200 && w.archive.request == nil {
			t.Errorf("%s: %d %s", path, out.Code, out.Body)
		}
		if strings.Contains(out.Body.String(), "root:") {
			t.Errorf("%s leaked a file", path)
		}
	}
}
