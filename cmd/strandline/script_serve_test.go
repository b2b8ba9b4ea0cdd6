package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// serving is a script's server.
type serving struct {
	cmd     *exec.Cmd
	stdin   io.Closer
	browser *http.Client
	errs    *bytes.Buffer
}

// serve ARGS... starts `strandline serve` on a free port and sets URL, ADDR, LINK
// and TOKENFILE from its output.
func cmdServe(ts *testscript.TestScript, _ bool, args []string) {
	args = append([]string{"serve", "--json", "--until-eof"}, args...)
	path := ""
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		name := filepath.Join(dir, "strandline")
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		if _, err := os.Stat(name); err == nil {
			path = name
			break
		}
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{
		"HOME", "STRANDLINE_HOME", "CLAUDE_CONFIG_DIR", "CLAUDE_PROJECT_DIR", "STRANDLINE_LIFECYCLE_AUTO", "TZ", "PATH", "GOCOVERDIR", "SYSTEMROOT", "TMPDIR",
	} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	s := theServing(ts)
	*s = serving{cmd: cmd, errs: &bytes.Buffer{}, browser: &http.Client{Timeout: time.Minute}}
	cmd.Stderr = s.errs
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() { // unless the script has ended it
		in.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	s.stdin = in
	s.browser.Jar, err = cookiejar.New(nil)
	ts.Check(err)
	var started struct {
		URL, Link string
		TokenFile string `json:"token_file"`
	}
	if err := json.NewDecoder(out).Decode(&started); err != nil {
		ts.Fatalf("no output from the server: %v\n%s", err, s.errs)
	}
	ts.Setenv("URL", started.URL)
	ts.Setenv("ADDR", strings.TrimPrefix(started.URL, "http://"))
	ts.Setenv("LINK", started.Link)
	ts.Setenv("TOKENFILE", started.TokenFile)
}

// theServing returns a script's server.
func theServing(ts *testscript.TestScript) *serving {
	s, ok := ts.Value(servingKey{}).(*serving)
	if !ok {
		ts.Fatalf("the script has no server")
	}
	return s
}

type servingKey struct{}

// unserve eof|interrupt ends the server and fails if it prints an error.
func cmdUnserve(ts *testscript.TestScript, _ bool, args []string) {
	s := theServing(ts)
	if len(args) == 1 && args[0] == "interrupt" {
		ts.Check(s.cmd.Process.Signal(os.Interrupt))
	} else {
		ts.Check(s.stdin.Close())
	}
	if err := s.cmd.Wait(); err != nil || s.errs.Len() > 0 {
		ts.Fatalf("the server ended with %v\n%s", err, s.errs)
	}
}

// ask STATUS PATH [BODY-FILE] sends a request with the token, `! ask` without it.
// For a full URL it acts as a browser with cookies. Stdout is the response with its
// headers.
func cmdAsk(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: ask STATUS PATH [BODY-FILE]")
	}
	s := theServing(ts)
	method, url, body := http.MethodGet, args[1], io.Reader(nil)
	if len(args) == 3 {
		method, body = http.MethodPost, strings.NewReader(ts.ReadFile(args[2]))
	}
	client := s.browser
	whole := strings.HasPrefix(url, "http://")
	if !whole {
		url = ts.Getenv("URL") + url
	}
	r, err := http.NewRequest(method, url, body)
	ts.Check(err)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if !neg && !whole {
		client = &http.Client{Timeout: time.Minute}
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(ts.ReadFile(ts.Getenv("TOKENFILE"))))
	} else if neg {
		client = &http.Client{Timeout: time.Minute}
	}
	answer, err := client.Do(r)
	ts.Check(err)
	defer answer.Body.Close()
	var out bytes.Buffer
	ts.Check(answer.Header.Write(&out))
	out.WriteString("\n")
	_, err = io.Copy(&out, answer.Body)
	ts.Check(err)
	_, err = ts.Stdout().Write(out.Bytes())
	ts.Check(err)
	if got := answer.Status[:3]; got != args[0] {
		ts.Fatalf("%s %s: %s, want %s\n%s", method, url, answer.Status, args[0], out.String())
	}
}
