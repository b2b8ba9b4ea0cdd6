package httpapi

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"strandline/internal/app"
)

// A real browser opens the link and sees what is archived as text: run with
// STRANDLINE_BROWSER set to a Chromium.
func TestARealBrowserShowsArchivedMarkupAsText(t *testing.T) {
	browser := os.Getenv("STRANDLINE_BROWSER")
	if browser == "" {
		t.Skip("STRANDLINE_BROWSER names no browser")
	}
	w := newWorld(t)
	w.archive.sessions = []app.Session{{
		Session: sessionA, Handle: "7f3a12cd", Project: "/home/dev/shop", Turns: 3,
		Title: `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`,
	}}
	for range maxStreams { // the browser waits for all that it fetches, and a stream never ends
		w.server.streams <- struct{}{}
	}
	url, _ := w.listen()
	// Processes that the browser leaves behind may still write into it for a moment,
	// which is no fault of the test: t.TempDir would make it one.
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
