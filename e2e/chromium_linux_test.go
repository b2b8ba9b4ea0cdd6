package e2e

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// chromium is a headless browser with one tab, driven over a pipe by the DevTools
// protocol. Failures of a command end the test.
type chromium struct {
	t        *testing.T
	to       io.Writer
	from     *bufio.Reader
	session  string
	messages int
	problems []string // exceptions and violations of the content policy in the page
}

// browserPath returns the path of a Chromium, or skips the test.
func browserPath(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("STRANDLINE_BROWSER"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	t.Skip("no Chromium is installed (STRANDLINE_BROWSER names one)")
	return ""
}

func startChromium(t *testing.T) *chromium {
	t.Helper()
	path := browserPath(t)
	// Remaining processes may still write into the profile; t.TempDir would fail then.
	profile, err := os.MkdirTemp("", "strandline-browser-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(profile) })
	in, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", "--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{in, out} // the browser reads from 3 and writes to 4
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = in.Close(), out.Close() // the browser has copies
	b := &chromium{t: t, to: to, from: bufio.NewReaderSize(from, 1<<20)}
	t.Cleanup(func() {
		b.session = ""
		_, _ = fmt.Fprintf(to, "{\"id\":0,\"method\":\"Browser.close\"}\x00")
		_ = cmd.Wait() // its exit status says nothing
		_, _ = to.Close(), from.Close()
	})
	target := b.call("Target.createTarget", map[string]any{"url": "about:blank"})
	b.session, _ = b.call("Target.attachToTarget", map[string]any{"targetId": target["targetId"], "flatten": true})["sessionId"].(string)
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(domain+".enable", nil)
	}
	return b
}

// call sends a command and returns its result.
func (b *chromium) call(method string, params map[string]any) map[string]any {
	b.t.Helper()
	b.messages++
	message := map[string]any{"id": b.messages, "method": method, "params": params}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	data, err := json.Marshal(message)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(data, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		line, err := b.from.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("%s: the browser ended: %v", method, err)
		}
		var answer struct {
			ID     int             `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
			Result map[string]any  `json:"result"`
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(bytes.TrimSuffix(line, []byte{0}), &answer); err != nil {
			b.t.Fatal(err)
		}
		switch {
		case answer.Method == "Runtime.exceptionThrown", answer.Method == "Log.entryAdded" && bytes.Contains(answer.Params, []byte(`"level":"error"`)):
			b.problems = append(b.problems, string(answer.Params))
		case answer.ID == b.messages && answer.Error != nil && strings.Contains(answer.Error.Message, "navigated"):
			return map[string]any{"result": map[string]any{"value": navigated}}
		case answer.ID == b.messages && answer.Error != nil:
			b.t.Fatalf("%s: %s", method, answer.Error.Message)
		case answer.ID == b.messages:
			return answer.Result
		}
	}
}

// navigated is the value of an expression whose page was left meanwhile.
const navigated = "the page was left"

// eval evaluates an expression and returns its value. A promise is awaited.
func (b *chromium) eval(script string) any {
	b.t.Helper()
	out := b.call("Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": true})
	if failed, ok := out["exceptionDetails"]; ok {
		b.t.Fatalf("%s: %v", script, failed)
	}
	value, _ := out["result"].(map[string]any)
	return value["value"]
}

// pagePatience is how long until waits, in milliseconds.
const pagePatience = 30_000

// until waits until a condition holds in the page.
func (b *chromium) until(condition string) {
	b.t.Helper()
	script := fmt.Sprintf(`new Promise((done) => { const end = Date.now() + %d; const look = () => { let ok = false; try { ok = %s; } catch {} if (ok || Date.now() > end) done(!!ok); else setTimeout(look, 15); }; look(); })`, pagePatience, condition)
	done := b.eval(script)
	for done == navigated {
		done = b.eval(script)
	}
	if done != true {
		b.picture(os.TempDir() + "/strandline-page-failure.png")
		b.t.Fatalf("it never holds at %v: %s\n%v", b.eval("location.hash"), condition, b.problems)
	}
}

// visit opens an address below #/ and waits for the view.
func (b *chromium) visit(hash, condition string) {
	b.t.Helper()
	b.eval(fmt.Sprintf("location.hash = %q, 0", "#/"+hash))
	b.until(condition)
}

// click clicks on the middle of the element that a selector finds.
func (b *chromium) click(selector string) {
	b.t.Helper()
	b.until(fmt.Sprintf("document.querySelector(%q)", selector))
	at, _ := b.eval(fmt.Sprintf("(() => { const e = document.querySelector(%q); e.scrollIntoView({ block: 'center' }); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()", selector)).([]any)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1})
	}
}

// press types a text into the focused element, key by key.
func (b *chromium) press(text string) {
	b.t.Helper()
	for _, r := range text {
		for _, kind := range []string{"keyDown", "keyUp"} {
			b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": string(r), "text": string(r)})
		}
	}
}

// size sets the size of the window and the colour scheme.
func (b *chromium) size(width, height int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false})
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}}})
}

// picture writes a screenshot to a file.
func (b *chromium) picture(file string) {
	b.t.Helper()
	data, _ := b.call("Page.captureScreenshot", map[string]any{"format": "png"})["data"].(string)
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, raw, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// text returns the visible text of the element that a selector finds.
func (b *chromium) text(selector string) string {
	b.t.Helper()
	s, _ := b.eval(fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector)).(string)
	return strings.TrimSpace(s)
}
