package web

import (
	"regexp"
	"strings"
	"testing"
)

// Archived text never becomes markup or a script: the page has no way to make it
// so, and its policy forbids what it has not.
func TestThePageOnlyWritesText(t *testing.T) {
	for _, name := range names() {
		text := string(read(name))
		for _, word := range []string{
			"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "setTimeout(\"", "DOMParser", "createContextualFragment", "srcdoc", "javascript:",
		} {
			if strings.Contains(text, word) {
				t.Errorf("%s holds %s", name, word)
			}
		}
		if strings.HasSuffix(name, ".html") && regexp.MustCompile(`<script>|<script[^>]*>[^<]|<style|\son[a-z]+=|\sstyle=`).MatchString(text) {
			t.Errorf("%s holds a script or a style, which the policy forbids", name)
		}
		if regexp.MustCompile(`https?://`).MatchString(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", "")) {
			t.Errorf("%s names another site", name)
		}
	}
}

// Whatever a file asks for is there.
func TestThePageIsWhole(t *testing.T) {
	there := map[string]bool{}
	for _, f := range Files() {
		there[f.Path] = true
		if len(f.Data) == 0 || strings.HasPrefix(f.Type, "application/octet") {
			t.Errorf("%s: %d bytes of %s", f.Path, len(f.Data), f.Type)
		}
	}
	asks := regexp.MustCompile(`(?:from "\.|src="|href=")(/[a-z]+\.[a-z]+)"`)
	for _, name := range names() {
		for _, m := range asks.FindAllStringSubmatch(string(read(name)), -1) {
			if !there[m[1]] {
				t.Errorf("%s asks for %s", name, m[1])
			}
		}
	}
	if !there["/"] || !there["/app.js"] || there["/token.html"] {
		t.Errorf("%v", there)
	}
}

// All of it is small enough to be read, and to load at once.
func TestThePageIsSmall(t *testing.T) {
	total := 0
	for _, f := range Files() {
		total += len(f.Data)
	}
	if total > 64<<10 {
		t.Errorf("%d bytes", total)
	}
}

func TestTheFormShowsItsNoteAsText(t *testing.T) {
	text := string(Token("<b>no</b>").Data)
	if strings.Contains(text, "<b>") || !strings.Contains(text, "&lt;b&gt;no") {
		t.Error(text)
	}
}
