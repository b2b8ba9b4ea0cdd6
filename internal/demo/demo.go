// Package demo shows what Strandline does, on two bundled sessions: an import, what
// a compaction would have lost, the restored context, a search, and an export of the
// exact bytes after the client has deleted its file. It uses the same code as the
// commands, in a folder that the caller provides.
package demo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"strandline/internal/app"
	"strandline/internal/capture"
	"strandline/internal/recall"
	"strandline/internal/text"
)

// Archive is the part of *app.App that the demo uses.
type Archive interface {
	Import(ctx context.Context, o app.ImportOptions) (app.ImportReport, error)
	Status(ctx context.Context) (app.Status, error)
	Restore(ctx context.Context, q app.ContextQuery) (app.Context, error)
	Search(ctx context.Context, q app.SearchQuery) (recall.Result, error)
	Export(ctx context.Context, e app.Export, out io.Writer) (damaged int64, err error)
	Close() error
}

// Env is where and how the demo runs.
type Env struct {
	Out   io.Writer
	Color bool // use ANSI colors
	Live  bool // redraw the progress bar; otherwise only its end is printed
	Now   func() time.Time
	// Dir is an empty folder for the archive and the client's files. The caller
	// removes it.
	Dir string
	// Open returns the archive in the folder home of a client with the folder
	// clientDir. Run closes it.
	Open func(home, clientDir string) Archive
}

// budget of the restored context in UTF-16 units; hooks have the same.
const budget = 9500

// maxLines is how many lines of each section of the restored context are printed.
const maxLines = 3

// Run prints the demo. It fails if a step fails or contradicts its claim.
func Run(ctx context.Context, env Env) (err error) {
	client := filepath.Join(env.Dir, "client")
	d := &demo{env: env, page: page{out: env.Out, color: env.Color, live: env.Live}, client: client}
	if d.compaction, err = findCompaction(); err != nil {
		return err
	}
	if err = unpack(client); err != nil {
		return err
	}
	d.archive = env.Open(filepath.Join(env.Dir, "home"), client)
	defer func() { err = errors.Join(err, d.archive.Close()) }()

	d.title("Strandline in five steps, on a bundled session.")
	d.text("It runs in a temporary folder and changes nothing of yours.")
	for i, step := range []struct {
		title string
		run   func(context.Context) error
	}{
		{"Import: every byte that the client wrote", d.importAll},
		{"What the compaction lost", d.showLoss},
		{"What Strandline restores after the compaction", d.showRestored},
		{"Search: " + question, d.search},
		{"A month later the client deletes its file; the bytes are still here", d.export},
	} {
		d.step(i+1, step.title)
		if err := step.run(ctx); err != nil {
			return err
		}
		if d.err != nil {
			return fmt.Errorf("print the demo: %w", d.err)
		}
	}
	d.blank()
	d.text("For your own sessions:  make install && strandline init")
	return d.err
}

// demo is one run.
type demo struct {
	page
	env        Env
	archive    Archive
	client     string // the client's folder
	compaction compaction
	restored   string
}

func (d *demo) importAll(ctx context.Context) error {
	start := d.env.Now()
	report, err := d.archive.Import(ctx, app.ImportOptions{Progress: func(p capture.Progress) { d.progress(p.Bytes, p.TotalBytes) }})
	if err == nil && len(report.Failed) > 0 {
		err = errors.New(report.Failed[0])
	}
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	took := d.env.Now().Sub(start)
	d.endProgress()
	st, err := d.archive.Status(ctx)
	if err != nil {
		return fmt.Errorf("count the imported rows: %w", err)
	}
	d.text("%s, %s, %s; %s, %s to search; in %s.",
		text.Count(st.Sessions, "session"), text.Count(st.Agents, "sub-agent"), text.Size(report.Bytes),
		text.Count(st.Turns, "turn"), text.Count(st.Passages, "passage"), duration(took))
	return nil
}

func (d *demo) showLoss(ctx context.Context) error {
	d.text("The context was full at %s tokens; the client kept a summary of %d words.",
		thousands(d.compaction.pre), len(strings.Fields(d.compaction.summary)))
	d.text("What the session needed afterwards, and where it is:")
	d.blank()
	chars := budget
	out, err := d.archive.Restore(ctx, app.ContextQuery{Session: MainSession, AtLine: d.compaction.line + 2, Budget: &chars})
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	d.restored = out.Text
	d.row(d.bold("%-30s %-14s", "needed", "the words"), "summary  restored  archive")
	for _, s := range specifics() {
		hits, err := d.find(ctx, s.words, 5)
		if err != nil {
			return err
		}
		at := "no"
		for _, h := range hits {
			if contains(h.Text, s.words) {
				at = h.Ref.Handle()
				break
			}
		}
		d.row(fmt.Sprintf("%-30s %-14s", s.what, s.words),
			fmt.Sprintf("%s  %s  %s", d.mark(contains(d.compaction.summary, s.words), 7), d.mark(contains(d.restored, s.words), 8), at))
	}
	d.blank()
	d.text("In this session the model then tried the wrong port and asked whether to stop the VPN agent; the user had to explain everything again.")
	return nil
}

func (d *demo) find(ctx context.Context, query string, n int) ([]recall.Hit, error) {
	result, err := d.archive.Search(ctx, app.SearchQuery{Text: query, Limit: n, Scope: app.Scope{All: true}})
	if err != nil {
		return nil, fmt.Errorf("search %q: %w", query, err)
	}
	return result.Hits, nil
}

func (d *demo) showRestored(context.Context) error {
	d.text("The first lines of each section:")
	for _, line := range outline(d.restored, maxLines) {
		d.quote(line)
	}
	n := text.Units(d.restored)
	d.text("%s of the %s characters that a hook may add; each item has a handle.", thousands(int64(n)), thousands(budget))
	if n > budget {
		return fmt.Errorf("the restored context has %d characters, at most %d", n, budget)
	}
	if contains(d.restored, secret) {
		return errors.New("the restored context contains a secret")
	}
	return nil
}

const question = "which port does the mock gateway listen on"

func (d *demo) search(ctx context.Context) error {
	start := d.env.Now()
	hits, err := d.find(ctx, question, 4)
	if err != nil {
		return err
	}
	took := d.env.Now().Sub(start)
	if len(hits) == 0 {
		return errors.New("the search found nothing")
	}
	sessions := map[string]bool{}
	for _, h := range hits {
		sessions[h.Ref.Session] = true
		d.hit(h.Ref.Handle(), string(h.Kind), excerpt(h.Text, []string{"18443", "8443", "mock gateway"}))
	}
	d.text("%s in %s, from %s of the project.", text.Count(len(hits), "hit"), duration(took), text.Count(len(sessions), "session"))
	leaked, err := d.find(ctx, secret, 5)
	if err != nil {
		return err
	}
	for _, h := range leaked {
		if contains(h.Text, secret) {
			return errors.New("the index contains a secret")
		}
	}
	d.text("The key that `cat .env.test` printed is in neither the index nor the restored context.")
	return nil
}

func (d *demo) export(ctx context.Context) error {
	path := transcriptPath(d.client, MainSession)
	before, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the transcript: %w", err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("delete the transcript: %w", err)
	}
	var after bytes.Buffer
	if _, err := d.archive.Export(ctx, app.Export{Session: MainSession}, &after); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	d.text("sha256 of the deleted file  %x", sha256.Sum256(before))
	d.text("sha256 of the export        %x", sha256.Sum256(after.Bytes()))
	if !bytes.Equal(before, after.Bytes()) {
		return errors.New("the exported bytes differ from the transcript")
	}
	d.text("The same %s bytes.", thousands(int64(after.Len())))
	return nil
}

// outline returns the headings and the first n lines of each section of a text, and
// how many lines are left out.
func outline(block string, n int) []string {
	var lines []string
	in, left := 0, 0
	flush := func() {
		if left > 0 {
			lines = append(lines, fmt.Sprintf("  … %s more", text.Count(left, "line")))
		}
		in, left = 0, 0
	}
	for line := range strings.Lines(strings.TrimRight(block, "\n")) {
		line = strings.TrimSuffix(line, "\n")
		heading := strings.HasPrefix(line, "## ") || strings.HasPrefix(line, "===")
		if heading {
			flush()
		}
		if in++; heading || in <= n+1 {
			lines = append(lines, line)
		} else {
			left++
		}
	}
	flush()
	return lines
}

func contains(text, words string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(words))
}
