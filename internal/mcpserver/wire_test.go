package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"strandline/internal/app"
	"strandline/internal/text"
)

var update = flag.Bool("update", false, "rewrite the responses in testdata")

type pipe struct {
	io.Reader
	io.Writer
}

func (pipe) Close() error { return nil }

// exchange sends an input to a server and returns its output.
func exchange(t *testing.T, s *Server, input string) string {
	t.Helper()
	var out strings.Builder
	if err := s.Run(t.Context(), pipe{Reader: strings.NewReader(input)}, pipe{Writer: &out}); err != nil {
		t.Fatalf("the server returned %v", err)
	}
	return out.String()
}

// Each file holds the input and output of a client that writes all messages and
// closes the pipe. Responses may come in any order, so they are sorted by id.
func TestDialogues(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	w := newFixture(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := sortResponses(exchange(t, w.server(), string(a.Files[0].Data)))
			if *update {
				a.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if want := string(a.Files[1].Data); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// sortResponses sorts responses by id and shortens the parts that other tests
// check.
func sortResponses(out string) string {
	byID := map[string]string{}
	var ids []string
	for line := range strings.Lines(out) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Result map[string]any  `json:"result"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			return fmt.Sprintf("not JSON: %q", line)
		}
		for _, long := range []string{"tools", "instructions", "structuredContent"} {
			if m.Result[long] != nil {
				m.Result[long] = "…"
			}
		}
		if m.Result != nil {
			short, err := json.Marshal(map[string]any{"id": m.ID, "result": m.Result})
			if err != nil {
				return err.Error()
			}
			line = string(short) + "\n"
		}
		id := fmt.Sprintf("%5s", m.ID)
		ids = append(ids, id)
		byID[id] += line
	}
	var b strings.Builder
	done := map[string]bool{}
	for _, id := range sorted(ids) {
		if !done[id] {
			b.WriteString(byID[id])
		}
		done[id] = true
	}
	return b.String()
}

func sorted(list []string) []string {
	for i := range list {
		for j := i; j > 0 && list[j] < list[j-1]; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
	return list
}

// blockingArchive blocks the first call of Status until it is cancelled.
type blockingArchive struct {
	Archive
	once               sync.Once
	entered, cancelled chan struct{}
}

func (a *blockingArchive) Status(ctx context.Context) (st app.Status, err error) {
	a.once.Do(func() {
		close(a.entered)
		<-ctx.Done()
		close(a.cancelled)
		err = context.Cause(ctx)
	})
	if err != nil {
		return st, err
	}
	return a.Archive.Status(ctx)
}

// A cancelled request does not block other requests or the end of the server.
func TestCancelledRequest(t *testing.T) {
	w := newFixture(t)
	s := w.server()
	blocking := &blockingArchive{Archive: s.opts.Archive, entered: make(chan struct{}), cancelled: make(chan struct{})}
	s.opts.Archive = blocking
	in, theirs := io.Pipe()
	ours, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.Run(t.Context(), in, out); out.Close() }()
	responses := bufio.NewScanner(ours)
	send := func(line string) {
		if _, err := io.WriteString(theirs, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	next := func(id string) {
		for responses.Scan() {
			if strings.Contains(responses.Text(), `"id":`+id+`,`) {
				return
			}
		}
		t.Fatalf("no response to %s", id)
	}
	send(hello)
	next("1")
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"status","arguments":{}}}`)
	<-blocking.entered
	send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"changed my mind"}}`)
	<-blocking.cancelled
	send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"status","arguments":{}}}`)
	next("3")
	theirs.Close()
	go func() { _, _ = io.Copy(io.Discard, ours) }() // discard the rest
	if err := <-done; err != nil {
		t.Errorf("the server returned %v", err)
	}
}

// countingArchive counts the calls of Status.
type countingArchive struct {
	Archive
	calls atomic.Int64
}

func (a *countingArchive) Status(context.Context) (app.Status, error) {
	a.calls.Add(1)
	return app.Status{}, nil
}

// A client that reads no responses gets no more work done than maxPending requests.
func TestUnreadResponsesAreBounded(t *testing.T) {
	s := newFixture(t).server()
	synctest.Test(t, func(t *testing.T) {
		counting := &countingArchive{Archive: s.opts.Archive}
		s.opts.Archive = counting
		in, theirs := io.Pipe()
		ours, out := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- s.Run(t.Context(), in, out); out.Close() }()
		const requests = 10 * maxPending
		var sent atomic.Int64 // requests that the server took from the pipe
		go func() {
			_, _ = io.WriteString(theirs, hello+"\n"+`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
			for i := range requests {
				_, _ = fmt.Fprintf(theirs, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"status","arguments":{}}}`+"\n", i+2)
				sent.Add(1)
			}
			theirs.Close()
		}()
		_, _ = ours.Read(make([]byte, 1)) // the first response has begun
		synctest.Wait()
		if n := counting.calls.Load(); n > maxPending {
			t.Errorf("%d requests were handled while nothing was read", n)
		}
		// The reader's buffer and the SDK's decoder hold a few more lines.
		if n := sent.Load(); n > 7*maxPending {
			t.Errorf("%d requests were read from a client that reads nothing", n)
		}
		go func() { _, _ = io.Copy(io.Discard, ours) }()
		if err := <-done; err != nil {
			t.Errorf("the server returned %v", err)
		}
		if n := counting.calls.Load(); n != requests {
			t.Errorf("%d of %d requests were handled", n, requests)
		}
	})
}

// stuckArchive blocks all calls of Status until they are cancelled.
type stuckArchive struct {
	Archive
	calls, cancelled atomic.Int64
}

func (a *stuckArchive) Status(ctx context.Context) (app.Status, error) {
	a.calls.Add(1)
	<-ctx.Done()
	a.cancelled.Add(1)
	return app.Status{}, context.Cause(ctx)
}

// Cancellations are read while as many requests as possible are handled; each makes room
// for the next request.
func TestCancelWhileFull(t *testing.T) {
	w := newFixture(t)
	s := w.server()
	synctest.Test(t, func(t *testing.T) {
		stuck := &stuckArchive{Archive: s.opts.Archive}
		s.opts.Archive = stuck
		in, theirs := io.Pipe()
		ours, out := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- s.Run(t.Context(), in, out); out.Close() }()
		go func() { _, _ = io.Copy(io.Discard, ours) }()
		send := func(format string, args ...any) {
			if _, err := fmt.Fprintf(theirs, format+"\n", args...); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		send(hello)
		send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		for i := range maxPending {
			send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"status","arguments":{}}}`, i+2)
		}
		for i := range maxPending {
			send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i+2)
		}
		if calls, cancelled := stuck.calls.Load(), stuck.cancelled.Load(); calls != maxPending || cancelled != maxPending {
			t.Errorf("%d of %d calls were cancelled, want %d", cancelled, calls, maxPending)
		}
		theirs.Close()
		if err := <-done; err != nil {
			t.Errorf("the server returned %v", err)
		}
	})
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func TestLineTooLong(t *testing.T) {
	w := newFixture(t)
	huge := `{"jsonrpc":"2.0","id":2,"method":"ping","params":{"x":"` + strings.Repeat("a", maxLine) + `"}}`
	out := exchange(t, w.server(), hello+"\n"+huge+"\n"+`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	if !strings.Contains(out, `"code":-32700`) || !strings.Contains(out, `"id":3,`) || strings.Contains(out, `"id":2,`) {
		t.Errorf("responses: %s", out)
	}
}

func TestPagesHoldTheWholeText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.StringOf(rapid.RuneFrom([]rune("ab \n\nüé😀漢"))).Draw(t, "text")
		units := rapid.IntRange(2, 60).Draw(t, "units")
		pages := paginate(body, units)
		if strings.Join(pages, "") != body || len(pages) == 0 {
			t.Fatalf("%q became %q", body, pages)
		}
		for _, p := range pages {
			if text.Units(p) > units || !utf8.ValidString(p) {
				t.Fatalf("page %q has %d units, want at most %d", p, text.Units(p), units)
			}
		}
	})
}

func FuzzLines(f *testing.F) {
	for _, seed := range []string{hello, "", "\n\n", "x\n" + hello + "\n", `{"jsonrpc":"2.0","id":null,"method":"m"}`, "{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\r\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		var errs strings.Builder
		got, err := io.ReadAll(&lines{in: bufio.NewReader(strings.NewReader(input)), out: &errs})
		if err != nil {
			t.Fatal(err)
		}
		bad := strings.Count(errs.String(), "\n")
		for line := range strings.Lines(string(got)) {
			if !isMessage([]byte(line)) {
				t.Errorf("forwarded %q", line)
			}
			bad++
		}
		want := 0
		for line := range strings.SplitSeq(input, "\n") {
			if strings.Trim(line, " \t\r\n\v\f\u0085\u00a0") != "" {
				want++
			}
		}
		if bad != want {
			t.Errorf("%d lines answered or forwarded, want %d", bad, want)
		}
	})
}
