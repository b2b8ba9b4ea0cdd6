package e2e

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var pictures = flag.String("pictures", "", "write the pictures of the page for docs/ into this folder")

// TestPictures writes the pictures of the page that the documents show.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("-pictures names no folder")
	}
	b, _, _ := startPage(t, 40)
	for _, p := range []struct {
		name, hash, ready string
		width, height     int
		scheme            string
	}{
		{"page.png", ledgerSession[:8], "document.querySelector('.chart canvas') && document.querySelector('#t0 .text table')", 1280, 860, "light"},
		{"page-dark.png", "", "document.querySelectorAll('.spark svg').length > 14", 1280, 860, "dark"},
		{"page-search.png", "search?q=rounding+half+even", "document.querySelector('.group')", 1280, 860, "light"},
		{"page-compaction.png", ledgerSession[:8] + "/compactions", "document.querySelector('.lists') && document.querySelector('.chart canvas')", 1280, 940, "light"},
		{"page-usage.png", "usage", "document.querySelectorAll('.plot canvas').length === 3", 1280, 900, "dark"},
		{"page-390.png", ledgerSession[:8] + "/2", "document.querySelector('#t2 .diff')", 390, 844, "light"},
	} {
		b.size(p.width, p.height, p.scheme)
		b.visit("files", "document.querySelector('#path')")
		b.visit(p.hash, p.ready)
		b.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")
		b.picture(filepath.Join(*pictures, p.name))
	}
}

// startPage imports a showcase, serves it and opens the page in a browser.
func startPage(t *testing.T, turns int) (b *chromium, transcripts string, run func(args ...string)) {
	t.Helper()
	browserPath(t)
	dir := t.TempDir()
	transcripts = filepath.Join(dir, "transcripts")
	if err := os.Mkdir(transcripts, 0o700); err != nil {
		t.Fatal(err)
	}
	showcase(t, transcripts, turns)
	env := append(os.Environ(), "HOME="+dir, "STRANDLINE_HOME="+filepath.Join(dir, "archive"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	run = func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program(t), args...)
		cmd.Env, cmd.Dir = env, dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	run("import", transcripts)
	serve := exec.CommandContext(t.Context(), program(t), "serve", "--listen", "127.0.0.1:0")
	serve.Env, serve.Dir, serve.Stderr = env, dir, os.Stderr
	serve.Cancel = func() error { return serve.Process.Signal(os.Interrupt) }
	out, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serve.Process.Kill()
		_ = serve.Wait() // killed
	})
	link := ""
	for lines := bufio.NewScanner(out); link == "" && lines.Scan(); {
		link = regexp.MustCompile(`http://\S+/login/\S+`).FindString(lines.Text())
	}
	if link == "" {
		t.Fatal("the server printed no link")
	}
	b = startChromium(t)
	b.size(1280, 860, "light")
	b.call("Page.navigate", map[string]any{"url": link})
	b.until("document.querySelector('.rows a')")
	return b, transcripts, run
}

// TestPageInABrowser clicks through every view of the page.
func TestPageInABrowser(t *testing.T) {
	t.Parallel()
	b, transcripts, run := startPage(t, longTurns)

	b.until("document.querySelectorAll('.spark svg').length > 3 && document.querySelector('.did .badge')")
	if got := b.text(".side"); !strings.Contains(got, "ledger") || !strings.Contains(got, "harbor") {
		t.Errorf("projects %q", got)
	}
	if got := b.text(`.rows [href="#/5a1c0de7"]`); !strings.Contains(got, "committed") || !strings.Contains(got, "1 compaction") || !strings.Contains(got, "+") {
		t.Errorf("the row of the session is %q", got)
	}
	if got := b.text(".now"); got != "" {
		t.Errorf("nothing works, but the page shows %q", got)
	}
	b.click(`.side a[title="/src/harbor"]`)
	b.until("document.querySelector('h1').innerText === 'harbor' && !document.querySelector('.rows [href=\"#/5a1c0de7\"]')")

	t.Run("session", func(t *testing.T) { b.t = t; testSession(b) })
	t.Run("search", func(t *testing.T) { b.t = t; testSearch(b) })
	t.Run("compaction", func(t *testing.T) { b.t = t; testCompaction(b) })
	t.Run("usage", func(t *testing.T) {
		b.t = t
		b.visit("usage", "document.querySelectorAll('.plot canvas').length === 3")
		if got := b.text(".legend"); !strings.Contains(got, "ledger") {
			t.Errorf("the legend is %q", got)
		}
	})
	t.Run("long session", func(t *testing.T) {
		b.t = t
		b.visit(longSession[:8], "document.querySelectorAll('.rail-list a').length > 5")
		b.press("G")
		b.until(fmt.Sprintf("document.querySelector('#t%d .text')", longTurns-1))
		if rows, _ := b.eval("document.querySelectorAll('.rail-list li').length + document.querySelectorAll('.turn').length").(float64); rows > 120 {
			t.Errorf("%v rows and turns are elements", rows)
		}
	})
	t.Run("live", func(t *testing.T) { b.t = t; testLive(b, transcripts, run) })
	t.Run("accessible", func(t *testing.T) { b.t = t; testAccessible(b) })
	if len(b.problems) > 0 {
		t.Errorf("the browser reports:\n%s", strings.Join(b.problems, "\n"))
	}
}

func testSession(b *chromium) {
	t := b.t
	b.visit(ledgerSession[:8], "document.querySelectorAll('.rail-list a').length === 3 && document.querySelector('#t0 .text table')")
	for what, condition := range map[string]string{
		"markdown":             "document.querySelector('#t0 .heading').innerText === 'What was wrong' && document.querySelector('#t0 .code pre').innerText.includes('q++')",
		"markup as text":       "!document.querySelector('[onclick]') && document.querySelector('#t0').innerText.includes('<b onclick')",
		"no script links":      "![...document.querySelectorAll('a')].some((a) => a.protocol === 'javascript:')",
		"a checklist":          "document.querySelectorAll('#t0 .todos li').length === 3",
		"a diff":               "document.querySelector('#t0 .diff .add') && document.querySelector('#t0 .edit .change')",
		"the curve":            "document.querySelector('.chart canvas')",
		"the resume command":   "document.querySelector('.actions .copy').title.includes('strandline resume 5a1c0de7')",
		"the compaction below": "document.querySelector('.compacted a')",
	} {
		t.Log(what)
		b.until(condition)
	}
	labels := b.eval(`import(document.querySelector("script[type=module]").src.replace("app.js", "charts.js")).then(({ axis }) =>
		axis(() => "", { values: (_, at) => at.map((i) => (i < 3 ? "turn 1" : "turn 2")) }).values(null, [1, 2, 3, 4]).join())`)
	if labels != "turn 1,,turn 2," {
		t.Errorf("an axis has the labels %q", labels)
	}
	b.click("#t0 .shell.failed summary")
	b.until("document.querySelector('#t0 .shell .ansi1')?.innerText === '--- FAIL'")
	b.eval("scrollTo(0, 0), 0")
	b.press("j")
	b.until("location.hash === '#/5a1c0de7/1' && document.querySelector('.rail [aria-current]').innerText.includes('report')")
	b.until("document.querySelector('#t1 .picture img')?.naturalWidth === 360")
	b.press("k")
	b.until("location.hash === '#/5a1c0de7' || location.hash === '#/5a1c0de7/0'")
	b.click(".rail-list li:nth-child(3) a")
	b.until("location.hash === '#/5a1c0de7/2' && document.querySelector('#t2 .edit')")
	b.visit(ledgerSession[:8]+"/0.4", "document.querySelector('.block.here .shell[open], .block.here')")
}

func testSearch(b *chromium) {
	t := b.t
	b.visit("", "document.querySelector('.rows a')")
	b.eval("document.activeElement.blur(), 0")
	b.press("/")
	b.until("document.activeElement.id === 'q'")
	b.press("RoundJournal")
	b.until("location.hash.startsWith('#/search') && document.querySelector('.group .rows mark')")
	if got := b.text(".group h2"); !strings.Contains(got, "The trial balance") {
		t.Errorf("the group is called %q", got)
	}
	b.eval("document.activeElement.blur(), 0")
	b.click(".group .rows a")
	b.until("document.querySelector('.hits')?.innerText.includes('1 of') || document.querySelector('.hits')?.innerText.includes(' of ')")
	b.until("CSS.highlights.get('hit')?.size > 0")
	before := b.text(".hits [aria-live]")
	b.press("n")
	b.until(fmt.Sprintf("document.querySelector('.hits [aria-live]').innerText !== %q && document.querySelector('.block.here')", before))
	b.press("p")
	b.until(fmt.Sprintf("document.querySelector('.hits [aria-live]').innerText === %q", before))
	b.visit("search?q=trial+balnace", "document.querySelector('.note')?.innerText.includes('balnace')")
}

func testCompaction(b *chromium) {
	b.visit("compactions", "document.querySelector('td a')")
	b.click("td a")
	b.until("document.querySelectorAll('.lists section').length === 3")
	b.until("document.querySelector('.list-good li') && document.querySelector('.list-blue li')")
	b.click(".list-good li a")
	b.until("document.querySelector('.turn .block')")
}

// testLive lets a session grow while it is shown.
func testLive(b *chromium, transcripts string, run func(args ...string)) {
	b.visit(ledgerSession[:8]+"/2", "document.querySelector('#t2 .edit')")
	file := filepath.Join(transcripts, ledgerSession+".jsonl")
	appendTurn(b.t, file, "Which branch is that?", "It is main.")
	run("import", file)
	b.until("document.querySelector('#t3')?.innerText.includes('It is main.') && document.querySelectorAll('.rail-list a').length === 4")
}

// testAccessible runs axe over the views in both schemes, and checks that nothing is
// wider than the window.
func testAccessible(b *chromium) {
	axe := axeScript()
	if axe == nil {
		b.t.Log("axe-core is not installed (scripts/install-axe.sh installs it); only the widths are checked")
	}
	views := map[string]string{
		"": "document.querySelector('.did .badge')", ledgerSession[:8]: "document.querySelector('#t0 .text table') && document.querySelector('.chart canvas')",
		"search?q=rounding": "document.querySelector('.group')", "search": "document.querySelector('table')", ledgerSession[:8] + "/compactions": "document.querySelector('.lists')",
		"compactions": "document.querySelector('td')", "usage": "document.querySelector('.plot canvas')", "files?path=rounding.go": "document.querySelector('.rows a')",
		"status": "document.querySelector('.facts')", ledgerSession[:8] + "/restore": "document.querySelector('.record')",
	}
	for _, look := range []struct {
		width  int
		scheme string
	}{{1600, "light"}, {360, "dark"}} {
		b.size(look.width, 900, look.scheme)
		for hash, ready := range views {
			b.visit("files", "document.querySelector('#path')")
			b.visit(hash, ready)
			if over, _ := b.eval("document.documentElement.scrollWidth - innerWidth").(float64); over > 0 {
				b.t.Errorf("#/%s at %d: %v pixels too wide", hash, look.width, over)
			}
			if b.eval("[...document.querySelectorAll('.tabs')].some((e) => ['auto', 'scroll'].includes(getComputedStyle(e).overflowY) && e.scrollHeight > e.clientHeight)") == true {
				b.t.Errorf("#/%s at %d: the tab bar scrolls", hash, look.width)
			}
			if open := b.eval("!!document.querySelector('.shelf[open]')"); open == true && look.width < 900 {
				b.t.Errorf("#/%s at %d: the list beside the page is open", hash, look.width)
			}
			if axe == nil {
				continue
			}
			if b.eval("!!globalThis.axe") != true {
				b.eval(string(axe) + ";0")
			}
			found, _ := b.eval(`axe.run(document, { resultTypes: ["violations"] }).then((r) => JSON.stringify(r.violations.filter((v) => ["serious", "critical"].includes(v.impact)).map((v) => [v.id, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " " + n.failureSummary)])))`).(string)
			if found != "[]" {
				b.t.Errorf("#/%s at %d %s: %s", hash, look.width, look.scheme, found)
			}
		}
	}
}

// axeScript returns the program of axe-core, nil if it is not installed.
func axeScript() []byte {
	cache := os.Getenv("STRANDLINE_CACHE")
	if cache == "" {
		cache = filepath.Join("..", ".cache")
	}
	found, err := filepath.Glob(filepath.Join(cache, "axe-core-*", "axe.min.js"))
	if err != nil || len(found) == 0 {
		return nil
	}
	data, err := os.ReadFile(found[len(found)-1])
	if err != nil {
		return nil
	}
	return data
}

// appendTurn adds a prompt and its reply to a transcript.
func appendTurn(t *testing.T, file, prompt, reply string) {
	t.Helper()
	rows := fmt.Sprintf(`{"type":"user","uuid":"5a1c0de7-0000-4000-8000-00000000aaaa","sessionId":%[1]q,"promptId":"p-live","cwd":"/src/ledger","timestamp":%[2]q,"message":{"role":"user","content":%[3]q},"origin":{"kind":"human"}}
{"type":"assistant","uuid":"5a1c0de7-0000-4000-8000-00000000bbbb","parentUuid":"5a1c0de7-0000-4000-8000-00000000aaaa","sessionId":%[1]q,"timestamp":%[2]q,"message":{"id":"msg_live","role":"assistant","model":"claude-opus-5","content":[{"type":"text","text":%[4]q}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":9,"cache_read_input_tokens":30000}}}
`, ledgerSession, time.Now().UTC().Format(time.RFC3339Nano), prompt, reply)
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(rows); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
