package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
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

// fakeDemo is an archive that keeps the transcripts in memory and finds texts that
// contain the query.
type fakeDemo struct {
	files  map[string][]byte // by session
	hits   []recall.Hit
	block  string
	fail   string // the step that fails
	closed bool
}

func (f *fakeDemo) failing(step string) error {
	if f.fail == step {
		return errors.New(step + " is broken")
	}
	return nil
}

func (f *fakeDemo) open(clientDir string) demoArchive {
	paths, _ := filepath.Glob(filepath.Join(clientDir, "projects", "*", "*.jsonl"))
	for _, path := range paths {
		id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		f.files[id], _ = os.ReadFile(path)
	}
	return f
}

func (f *fakeDemo) Import(_ context.Context, o app.ImportOptions) (r app.ImportReport, err error) {
	for _, id := range slices.Sorted(maps.Keys(f.files)) {
		data := f.files[id]
		r.Bytes += int64(len(data))
		for n, text := range demoTexts(data) {
			f.hits = append(f.hits, recall.Hit{Ref: archive.Ref{Session: id, Turn: n / 10, Step: n % 10}, Kind: archive.KindReply, Text: text})
		}
	}
	for n := range len(f.files) {
		o.Progress(capture.Progress{Bytes: int64(n + 1), TotalBytes: int64(len(f.files))})
	}
	return r, f.failing("import")
}

func (f *fakeDemo) Status(context.Context) (app.Status, error) {
	return app.Status{Sessions: len(f.files), Agents: 1, Turns: 9, Passages: len(f.hits)}, f.failing("status")
}

func (f *fakeDemo) Restore(context.Context, app.ContextQuery) (app.Context, error) {
	return app.Context{Text: f.block}, f.failing("restore")
}

func (f *fakeDemo) Search(_ context.Context, q app.SearchQuery) (r recall.Result, err error) {
	for _, h := range f.hits {
		if strings.Contains(strings.ToLower(h.Text), strings.ToLower(q.Text)) || strings.Contains(q.Text, "port") && strings.Contains(h.Text, "18443") {
			r.Hits = append(r.Hits, h)
		}
	}
	r.Hits = r.Hits[:min(q.Limit, len(r.Hits))]
	return r, f.failing("search")
}

func (f *fakeDemo) Export(_ context.Context, e app.Export, w io.Writer) (int64, error) {
	if f.fail == "bytes" {
		f.files[e.Session] = f.files[e.Session][1:]
	}
	if _, err := w.Write(f.files[e.Session]); err != nil {
		return 0, err
	}
	return 0, f.failing("export")
}

func (f *fakeDemo) Close() error {
	f.closed = true
	return f.failing("close")
}

// demoTexts returns the prompts and replies of a transcript.
func demoTexts(transcript []byte) []string {
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

// runDemo runs the demo over a fake archive. The clock advances 3 ms per call.
func runDemo(t *testing.T, f *fakeDemo, change func(*demo)) (string, error) {
	t.Helper()
	f.files = map[string][]byte{}
	if f.block == "" {
		f.block = "=== a record of this session\n## Facts\n" + strings.Repeat("- the mock gateway listens on 18443 [7f3a12cd/1.3]\n", 30)
	}
	var out bytes.Buffer
	now := time.Unix(1_700_000_000, 0)
	d := demo{
		out:  &output{Writer: &out},
		dir:  t.TempDir(),
		now:  func() time.Time { now = now.Add(3 * time.Millisecond); return now },
		open: func(_, clientDir string) demoArchive { return f.open(clientDir) },
	}
	if change != nil {
		change(&d)
	}
	err := d.run(t.Context())
	return out.String(), err
}

func TestDemo(t *testing.T) {
	f := &fakeDemo{}
	out, err := runDemo(t, f, nil)
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
		t.Error("escape sequences without color and live")
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

func TestDemoFitsTheTerminal(t *testing.T) {
	out, err := runDemo(t, &fakeDemo{block: strings.Repeat("a very long line of a block ", 20)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if utf8.RuneCountInString(line) > demoColumns && !strings.Contains(line, "sha256") {
			t.Errorf("%d columns: %q", utf8.RuneCountInString(line), line)
		}
	}
}

func TestDemoColor(t *testing.T) {
	plain, err := runDemo(t, &fakeDemo{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	painted, err := runDemo(t, &fakeDemo{}, func(d *demo) { d.on = true })
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(painted, "\x1b[1m") {
		t.Error("no colors")
	}
	if got := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(painted, ""); got != plain {
		t.Errorf("the output differs with colors:\n%s\nwant\n%s", got, plain)
	}
}

func TestDemoLive(t *testing.T) {
	out, err := runDemo(t, &fakeDemo{}, func(d *demo) { d.live = true })
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "\r   [") || !strings.Contains(out, "50 %\r") {
		t.Error("the bar does not move")
	}
}

// A demo that does not show what it claims fails.
func TestDemoFails(t *testing.T) {
	for _, step := range []string{"import", "status", "restore", "search", "export", "close"} {
		t.Run(step, func(t *testing.T) {
			if _, err := runDemo(t, &fakeDemo{fail: step}, nil); err == nil || !strings.Contains(err.Error(), step+" is broken") {
				t.Errorf("got %v", err)
			}
		})
	}
	for name, c := range map[string]struct {
		fakeDemo *fakeDemo
		want     string
	}{
		"other bytes":       {&fakeDemo{fail: "bytes"}, "bytes differ"},
		"too long":          {&fakeDemo{block: strings.Repeat("x", 9501)}, "9501 characters"},
		"a restored secret": {&fakeDemo{block: "key " + demoSecret}, "restored context contains a secret"},
		"a secret in the index": {
			&fakeDemo{hits: []recall.Hit{{Text: "port " + demoSecret}}}, "index contains a secret",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := runDemo(t, c.fakeDemo, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestDemoOutputError(t *testing.T) {
	_, err := runDemo(t, &fakeDemo{}, func(d *demo) { d.out = &output{Writer: brokenPipe{}} })
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, fmt.Errorf("write: %w", io.ErrClosedPipe) }

func TestDemoStaysInItsFolder(t *testing.T) {
	var home, client, dir string
	f := &fakeDemo{}
	_, err := runDemo(t, f, func(d *demo) {
		dir = d.dir
		d.open = func(h, c string) demoArchive {
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
