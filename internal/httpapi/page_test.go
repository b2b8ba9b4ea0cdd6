package httpapi

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// The page uses no API that turns text into markup or script.
func TestPageOnlyWritesText(t *testing.T) {
	for _, name := range staticNames() {
		text := string(readStatic(name))
		for _, word := range []string{
			"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "setTimeout(\"", "DOMParser", "createContextualFragment", "srcdoc", "javascript:",
		} {
			if strings.Contains(text, word) {
				t.Errorf("%s holds %s", name, word)
			}
		}
		if strings.HasSuffix(name, ".html") && regexp.MustCompile(`<script>|<script[^>]*>[^<]|<style|\son[a-z]+=|\sstyle=`).MatchString(text) {
			t.Errorf("%s holds an inline script or style", name)
		}
		if !isVendored(name) && regexp.MustCompile(`https?://`).MatchString(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", "")) {
			t.Errorf("%s names another site", name)
		}
	}
}

// Every referenced file exists.
func TestPageIsComplete(t *testing.T) {
	w := newFixture(t)
	served := map[string]bool{}
	for _, name := range staticNames() {
		out := w.get("/" + name)
		served["/"+name] = out.Code == 200 && out.Body.Len() > 0 && out.Header().Get("Content-Type") != ""
	}
	refs := regexp.MustCompile(`(?:from "\.|import\("\.|src="|href=")(/[a-z/]+\.[a-z]+)"`)
	for _, name := range staticNames() {
		for _, m := range refs.FindAllStringSubmatch(string(readStatic(name)), -1) {
			if !served[m[1]] {
				t.Errorf("%s refers to %s", name, m[1])
			}
		}
	}
	if w.get("/").Code != 200 || !served["/app.js"] || served["/token.html"] {
		t.Errorf("%v", served)
	}
}

func TestPageIsSmall(t *testing.T) {
	own, vendored := 0, 0
	for _, name := range staticNames() {
		if isVendored(name) {
			vendored += len(readStatic(name))
		} else {
			own += len(readStatic(name))
		}
	}
	if own > 120<<10 || vendored > 128<<10 {
		t.Errorf("%d bytes of its own, %d of libraries", own, vendored)
	}
}

func TestLoginFormEscapesItsNote(t *testing.T) {
	text := string(tokenForm("<b>no</b>"))
	if strings.Contains(text, "<b>") || !strings.Contains(text, "&lt;b&gt;no") {
		t.Error(text)
	}
}

func isVendored(name string) bool { return strings.HasPrefix(name, "vendor/") }

// staticNames lists the page's files.
func staticNames() (names []string) {
	err := fs.WalkDir(static, "static", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, strings.TrimPrefix(path, "static/"))
		}
		return err
	})
	if err != nil {
		panic(err) // embedded files cannot be missing
	}
	return names
}
