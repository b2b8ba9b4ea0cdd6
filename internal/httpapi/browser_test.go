package httpapi

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
)

// A real browser shows archived markup as text. Needs STRANDLINE_BROWSER, the path
// of a Chromium.
func TestBrowserShowsArchivedMarkupAsText(t *testing.T) {
	browser := os.Getenv("STRANDLINE_BROWSER")
	if browser == "" {
		t.Skip("STRANDLINE_BROWSER is not set")
	}
	w := newFixture(t)
	w.archive.sessions = []app.Session{{
		ID: sessionA, Handle: "7f3a12cd", Project: "/home/dev/shop",
		Session: archive.Session{Turns: 3, Title: `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`},
	}}
	for range maxStreams { // a stream never ends, and the browser waits for all responses
		w.server.streams <- struct{}{}
	}
	url, _ := w.listen()
	// Remaining browser processes may still write into the profile; t.TempDir would
	// fail the test then.
	profile, err := os.MkdirTemp("", "strandline-browser-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(profile) })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+profile,
		"--virtual-time-budget=8000", "--dump-dom", w.server.Link(url)).Output()
	if err != nil {
		t.Fatal(err)
	}
	page := string(out)
	if !strings.Contains(page, `href="#/7f3a12cd"`) || !strings.Contains(page, "&lt;img src=x") {
		t.Errorf("the session is not shown:\n%s", page)
	}
	if strings.Contains(page, "<img") || strings.Contains(page, "<title>owned") {
		t.Errorf("archived markup became markup:\n%s", page)
	}
}
