package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/recall"
)

// fake is an archive that keeps the transcripts in memory and finds texts that
// contain the query.
type fake struct {
	files  map[string][]byte // by session
	hits   []recall.Hit
	block  string
	fail   string // the step that fails
	closed bool
}

func (f *fake) failing(step string) error {
	if f.fail == step {
		return errors.New(step + " is broken")
	}
	return nil
}

func (f *fake) open(clientDir string) Archive {
	paths, _ := filepath.Glob(filepath.Join(clientDir, "projects", "*", "*.jsonl"))
	for _, path := range paths {
		id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		f.files[id], _ = os.ReadFile(path)
	}
	return f
}

func (f *fake) Import(_ context.Context, o app.ImportOptions) (r app.ImportReport, err error) {
	for id, data := range f.files {
		r.Bytes += int64(len(data))
		for n, text := range texts(data) {
			f.hits = append(f.hits, recall.Hit{Ref: archive.Ref{Session: id, Turn: n / 10, Step: n % 10}, Kind: archive.KindReply, Text: text})
		}
	}
	for n := range len(f.files) {
		o.Progress(capture.Progress{Bytes: int64(n + 1), TotalBytes: int64(len(f.files))})
	}
	return r, f.failing("import")
}

func (f *fake) Status(context.Context) (app.Status, error) {
	return app.Status{Sessions: len(f.files), Agents: 1, Turns: 9, Passages: len(f.hits)}, f.failing("status")
}

func (f *fake) Restore(context.Context, app.ContextQuery) (app.Context, error) {
	return app.Context{Text: f.block}, f.failing("restore")
}

func (f *fake) Search(_ context.Context, q app.SearchQuery) (r recall.Result, err error) {
	for _, h := range f.hits {
		if strings.Contains(strings.ToLower(h.Text), strings.ToLower(q.Text)) || strings.Contains(q.Text, "port") && strings.Contains(h.Text, "18443") {
			r.Hits = append(r.Hits, h)
		}
	}
	r.Hits = r.Hits[:min(q.Limit, len(r.Hits))]
	return r, f.failing("search")
}

func (f *fake) Export(_ context.Context, e app.Export, w io.Writer) (int64, error) {
	if f.fail == "bytes" {
		f.files[e.Session] = f.files[e.Session][1:]
	}
	if _, err := w.Write(f.files[e.Session]); err != nil {
		return 0, err
	}
	return 0, f.failing("export")
}

func (f *fake) Close() error {
	f.closed = true
	return f.failing("close")
}

// texts returns the prompts and replies of a transcript.
func texts(transcript []byte) []string {
	var all []string
	for line := range strings.Lines(string(transcript)) {
		var row struct {
			Message struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
		}
		if json.Unmarshal([]byte(line), &row) != nil {
			continue
		}
		var text string
		if json.Unmarshal(row.Message.Content, &text) == nil {
			all = append(all, text)
			continue
		}
		var blocks []struct{ Text string }
		if json.Unmarshal(row.Message.Content, &blocks) == nil {
			for _, b := range blocks {
				if b.Text != "" {
					all = append(all, b.Text)
				}
			}
		}
	}
	return all
}

// run runs the demo over a fake archive. The clock advances 3 ms per call.
func run(t *testing.T, f *fake, change func(*Env)) (string, error) {
	t.Helper()
	f.files = map[string][]byte{}
	if f.block == "" {
		f.block = "=== a record of this session\n## Facts\n" + strings.Repeat("- the mock gateway listens on 18443 [7f3a12cd/1.3]\n", 30)
	}
	var out bytes.Buffer
	now := time.Unix(1_700_000_000, 0)
	env := Env{
		Out:  &out,
		Dir:  t.TempDir(),
		Now:  func() time.Time { now = now.Add(3 * time.Millisecond); return now },
		Open: func(_, clientDir string) Archive { return f.open(clientDir) },
	}
	if change != nil {
		change(&env)
	}
	err := Run(t.Context(), env)
	return out.String(), err
}

func TestRun(t *testing.T) {
	f := &fake{}
	out, err := run(t, f, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Log("\n" + out)
	for _, want := range []string{
		"1  Import", "100 %", "2 sessions", "1 sub-agent",
		"2  What the compaction lost", "68,417 tokens",
		"3  What Strandline restores", "│ - the mock gateway listens on 18443", "lines more",
		"4  Search:", "5  A month later", "make install && strandline init",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in the output", want)
		}
	}
	row := regexp.MustCompile(`the mock gateway's port +18443 +no +yes +[0-9a-f]{8}/\d+`)
	if !row.MatchString(out) {
		t.Error("the port is not shown as missing in the summary, restored and found in the archive")
	}
	sums := regexp.MustCompile(`sha256 of the .* ([0-9a-f]{64})`).FindAllStringSubmatch(out, -1)
	if len(sums) != 2 || sums[0][1] != sums[1][1] {
		t.Errorf("the checksums are not shown as equal: %q", sums)
	}
	if strings.Contains(out, "\x1b") || strings.Contains(out, "\r") {
		t.Error("escape sequences without Color and Live")
	}
	if !f.closed {
		t.Error("the archive was not closed")
	}
}

func TestOutline(t *testing.T) {
	block := "=== record\nnote\n## One\n- a\n- b\n- c\n- d\n## Two\n- e\n=== end\n"
	want := []string{"=== record", "note", "## One", "- a", "- b", "  … 2 lines more", "## Two", "- e", "=== end"}
	if got := outline(block, 2); !slices.Equal(got, want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
	if got := outline("", 2); len(got) > 0 {
		t.Errorf("the outline of nothing is %q", got)
	}
}

func TestRunFitsTheTerminal(t *testing.T) {
	out, err := run(t, &fake{block: strings.Repeat("a very long line of a block ", 20)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if utf8.RuneCountInString(line) > columns && !strings.Contains(line, "sha256") {
			t.Errorf("%d columns: %q", utf8.RuneCountInString(line), line)
		}
	}
}

func TestRunColor(t *testing.T) {
	plain, err := run(t, &fake{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	painted, err := run(t, &fake{}, func(e *Env) { e.Color = true })
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(painted, "\x1b[1m") {
		t.Error("no colors with Color")
	}
	if got := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(painted, ""); got != plain {
		t.Error("the output differs with colors")
	}
}

func TestRunLive(t *testing.T) {
	out, err := run(t, &fake{}, func(e *Env) { e.Live = true })
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "\r   [") || !strings.Contains(out, "50 %\r") {
		t.Error("the bar does not move")
	}
}

// A demo that does not show what it claims fails.
func TestRunFails(t *testing.T) {
	for _, step := range []string{"import", "status", "restore", "search", "export", "close"} {
		t.Run(step, func(t *testing.T) {
			if _, err := run(t, &fake{fail: step}, nil); err == nil || !strings.Contains(err.Error(), step+" is broken") {
				t.Errorf("got %v", err)
			}
		})
	}
	for name, c := range map[string]struct {
		fake *fake
		want string
	}{
		"other bytes":       {&fake{fail: "bytes"}, "bytes differ"},
		"too long":          {&fake{block: strings.Repeat("x", 9501)}, "9501 characters"},
		"a restored secret": {&fake{block: "key " + secret}, "restored context contains a secret"},
		"a secret in the index": {
			&fake{hits: []recall.Hit{{Text: "port " + secret}}}, "index contains a secret",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := run(t, c.fake, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestRunOutputError(t *testing.T) {
	_, err := run(t, &fake{}, func(e *Env) { e.Out = brokenPipe{} })
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, fmt.Errorf("write: %w", io.ErrClosedPipe) }

func TestRunStaysInItsFolder(t *testing.T) {
	var home, client, dir string
	f := &fake{}
	_, err := run(t, f, func(e *Env) {
		dir = e.Dir
		e.Open = func(h, c string) Archive {
			home, client = h, c
			return f.open(c)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{home, client} {
		if rel, err := filepath.Rel(dir, path); err != nil || strings.HasPrefix(rel, "..") {
			t.Errorf("%s is not below %s", path, dir)
		}
	}
}
