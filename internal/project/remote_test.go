package project

import (
	"strings"
	"testing"
)

func TestNormalizeRemote(t *testing.T) {
	for _, tc := range []struct{ url, want string }{
		{"https://example.com/team/app.git", "example.com/team/app"},
		{"https://example.com/team/app", "example.com/team/app"},
		{"https://example.com/team/app/", "example.com/team/app"},
		{"https://Example.COM/Team/App.git", "example.com/Team/App"},
		{"http://example.com:8080/app.git", "example.com/app"},
		{"https://ann@example.com/app.git", "example.com/app"},
		{"https://ann:s3cret@example.com/app.git", "example.com/app"},
		{"https://x-access-token:tok@example.com:443/a/b.git", "example.com/a/b"},
		{"https://example.com/app.git?token=s3cret#x", "example.com/app"},
		{"https://example.com//team//app.git", "example.com/team/app"},
		{"https://example.com/@scope/app.git", "example.com/@scope/app"},
		{"ssh://git@example.com/team/app.git", "example.com/team/app"},
		{"ssh://git@example.com:2222/team/app.git", "example.com/team/app"},
		{"ssh://git@[::1]:22/app.git", "[::1]/app"},
		{"git+ssh://git@example.com/app", "example.com/app"},
		{"git://example.com/app.git", "example.com/app"},
		{"git@example.com:team/app.git", "example.com/team/app"},
		{"git@example.com:/team/app.git", "example.com/team/app"},
		{"git@EXAMPLE.com:team/app", "example.com/team/app"},
		{"example.com:team/app.git", "example.com/team/app"},
		{"git@[::1]:app.git", "[::1]/app"},
		{"git@ssh.example.com:v3/org/project/app", "ssh.example.com/v3/org/project/app"},
		{"/srv/git/app.git", "/srv/git/app"},
		{"file:///srv/git/app.git", "/srv/git/app"},
		{"file:///C:/git/app.git", "C:/git/app"},
		{`C:\git\app.git`, "C:/git/app"},

		// What is no address, or might hide a password, says nothing.
		{"", ""},
		{"../app.git", ""},
		{"app", ""},
		{"./a:b", ""},
		{"https://", ""},
		{"https://example.com", ""},
		{"https://example.com/", ""},
		{"https:///app", ""},
		{"ext::sh -c 'echo s3cret'", ""},
		{"codecommit::eu-west-1://app", ""},
		{"https://ann:s3/cret@example.com/app", ""},
		{"https://ann:s@3/cret@example.com/app", ""},
		{"ann:s3cret@example.com:app", ""},
		{"https://example.com/a\nb", ""},
		{"https://example.com/" + strings.Repeat("a", 600), ""},
	} {
		if got := normalizeRemote(tc.url); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.url, got, tc.want)
		}
	}
}

func FuzzNormalizeRemote(f *testing.F) {
	for _, seed := range []string{"https://a:b@c:1/d.git", "git@h:p", "[::1]:x", `C:\a`, "::", "://", "a@b@c:d@e"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, url string) {
		got := normalizeRemote(url)
		if strings.ContainsAny(got, "\n\r\t") || len(got) > 2*maxRemote {
			t.Errorf("%q gives %q", url, got)
		}
	})
}

// TestPasswordsAreRemoved puts a password into every part of an address.
func TestPasswordsAreRemoved(t *testing.T) {
	for _, form := range []string{
		"https://%@h/p", "https://u:%@h/p", "https://u:%@h:1/p", "https://u:%/x@h/p", "ssh://u:%@h/p",
		"u:%@h:p", "u:%@h/p", "https://h/p?t=%", "https://h/p#%", "ext::%",
	} {
		for _, secret := range []string{"s3cret", "s3cret:x", "s3cret@x", "x@s3cret", "x/s3cret", "x:s3cret/y"} {
			url := strings.ReplaceAll(form, "%", secret)
			if got := normalizeRemote(url); strings.Contains(got, "s3cret") {
				t.Errorf("%s gives %s", url, got)
			}
		}
	}
}
