package redact_test

import (
	"strings"
	"testing"

	"strandline/internal/redact"
)

func TestCookies(t *testing.T) {
	id := fake("8f3kd92kfj", "d8s7f6g5h4j3k2l1")
	table(t, []example{
		{"Cookie: session=" + id + "; theme=dark", "Cookie: session=<cookie>; theme=dark"},
		{"cookie: theme=dark; JSESSIONID=" + strings.ToUpper(id), "cookie: theme=dark; JSESSIONID=<cookie>"},
		{"> Cookie: a=" + id + "; lang=de; b=" + id + "\r\n> Accept: */*", "> Cookie: a=<cookie>\r\n> Accept: */*"}, // from the first to the last
		{"Set-Cookie: connect.sid=s%3A" + id + "." + mixed + "; Path=/; HttpOnly", "Set-Cookie: connect.sid=<cookie>; Path=/; HttpOnly"},
		{"set-cookie: id=" + id + "; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Secure", "set-cookie: id=<cookie>; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Secure"},
		{`curl -H "Cookie: sid=` + id + `" https://x.y/z1`, `curl -H "Cookie: sid=<cookie>" https://x.y/z1`},
		{`curl -sb 'sid=` + id + `' x; curl -b "sid=` + id + `" x`, `curl -sb 'sid=` + id + `' x; curl -b "sid=<cookie>" x`}, // one flag at a time
		{`curl --cookie 'sid=` + id + `' https://x.y`, `curl --cookie 'sid=<cookie>' https://x.y`},
		{`{"Cookie": "sid=` + id + `"}`, `{"Cookie": "sid=<cookie>"}`},
		{`{\"cookie\":\"sid=` + id + `\"}`, `{\"cookie\":\"sid=<cookie>\"}`},
		{`req.Header.Set("Cookie", "sid=` + id + `")`, `req.Header.Set("Cookie", "sid=<cookie>")`},
		{`document.cookie = "sid=` + id + `"`, `document.cookie = "sid=<cookie>"`},
		{`requests.get(u, cookies={"lang": "en", "sid": "` + id + `"})`, `requests.get(u, cookies={"lang": "en", "sid": "<cookie>"})`},
		{"Cookie: sid=" + id + `\nAccept: text/html; charset=utf8`, `Cookie: sid=<cookie>\nAccept: text/html; charset=utf8`},
	})
	same(t, []string{
		"Cookie: theme=dark; lang=en-US", "Cookie: ", "cookie:", "cookies", "Set-Cookie: id=1; Max-Age=31536000; SameSite=Lax",
		"Cookie: session=${SESSION_ID_1234567890}", "Cookie: session=<your session id 12345678>", "cookie: sid=xxxxxxxxxxxxxxxxxxxxxx1",
		`c := &http.Cookie{Name: "session", Value: v, Expires: time.Now().Add(24 * time.Hour)}`, "cookie = readSessionCookie2(request1, response22)",
		"cookie: { maxAge: 1000*60*60*24*30, secure: true }", "cookie: session_id_of_the_user_2", "the cookie, 8f3kd92kfjd8s7f6g5h4j3k2l1, is set",
		"curl -b cookies_of_the_session_2.txt https://x.y", "cookie=https://example.org/a1b2c3d4e5f6g7h8",
	})
}

// Text after a placeholder is matched by the next pass, for any number of
// placeholders.
func TestCookiesAroundPlaceholders(t *testing.T) {
	r := redact.New([]byte("test"))
	id := fake("8f3kd92kfj", "d8s7f6g5h4j3k2l1")
	once := r.String("Cookie: a=" + id)
	text := strings.ReplaceAll(once, "Cookie: a=", "Cookie: z=1; a=") + "; b=" + id + "2; c=" + id + "3"
	if got := shown(r.String(text)); got != "Cookie: z=1; a=<cookie>; b=<cookie>" {
		t.Errorf("%q", got)
	}
}
