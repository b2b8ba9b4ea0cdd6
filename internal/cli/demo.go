package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/capture"
	"strandline/internal/recall"
	"strandline/internal/text"
)

func (a *commands) demoCommand(cmd *cobra.Command) {
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := os.MkdirTemp("", "strandline-demo-")
		if err != nil {
			return fmt.Errorf("make a folder for the demo: %w", err)
		}
		_, live := a.env.Terminal(a.env.Stdout)
		d := demo{out: &output{Writer: a.env.Stdout}, painter: a.paint(), live: live, now: a.app.Now, dir: dir, open: a.openDemo}
		return errors.Join(d.run(cmd.Context()), os.RemoveAll(dir))
	}
}

// openDemo returns the application over folders of the demo, with default settings.
func (a *commands) openDemo(home, clientDir string) demoArchive {
	o := a.app.Options
	env := map[string]string{"STRANDLINE_HOME": home, "CLAUDE_CONFIG_DIR": clientDir, "XDG_CONFIG_HOME": filepath.Join(home, "config")}
	o.Home, o.Cwd, o.Getenv, o.Changes = home, home, func(key string) string { return env[key] }, nil
	return app.New(o)
}

// demoArchive is the part of *app.App that the demo uses.
type demoArchive interface {
	Import(ctx context.Context, o app.ImportOptions) (app.ImportReport, error)
	Status(ctx context.Context) (app.Status, error)
	Restore(ctx context.Context, q app.ContextQuery) (app.Context, error)
	Search(ctx context.Context, q app.SearchQuery) (recall.Result, error)
	Export(ctx context.Context, e app.Export, out io.Writer) (damaged int64, err error)
	Close() error
}

// demo shows Strandline at two bundled sessions: an import, what a compaction
// would have lost, the restored context, a search, and an export of the exact bytes after
// the client has deleted its file. It uses the same code as the commands.
type demo struct {
	painter
	out  *output
	live bool // redraw the progress bar; otherwise only its end is printed
	now  func() time.Time
	// dir is an empty folder for the archive and the client's files. The caller removes it.
	dir string
	// open returns the archive in the folder home of a client with the folder clientDir.
	// run closes it.
	open func(home, clientDir string) demoArchive

	archive    demoArchive
	client     string // the client's folder
	compaction demoCompaction
	restored   string
	drawn      bool // a progress bar was printed
}

const (
	demoColumns = 80   // width of the output
	demoBudget  = 9500 // of the restored context in UTF-16 units; hooks have the same
	demoLines   = 3    // printed lines of each section of the restored context
)

// run prints the demo. It fails if a step fails or contradicts its claim.
func (d *demo) run(ctx context.Context) (err error) {
	d.client = filepath.Join(d.dir, "client")
	if d.compaction, err = findDemoCompaction(); err != nil {
		return err
	}
	if err = unpackDemo(d.client); err != nil {
		return err
	}
	d.archive = d.open(filepath.Join(d.dir, "home"), d.client)
	defer func() { err = errors.Join(err, d.archive.Close()) }()

	d.print("%s\n", d.bold("Strandline in five steps, on a bundled session."))
	d.text("It runs in a temporary folder and changes nothing of yours.")
	for i, step := range []struct {
		title string
		run   func(context.Context) error
	}{
		{"Import: every byte that the client wrote", d.importAll},
		{"What the compaction lost", d.showLoss},
		{"What Strandline restores after the compaction", d.showRestored},
		{"Search: " + demoQuestion, d.search},
		{"A month later the client deletes its file; the bytes are still here", d.export},
	} {
		d.print("\n%s\n", d.color("1;36", fmt.Sprintf("%d  %s", i+1, step.title)))
		if err := step.run(ctx); err != nil {
			return err
		}
		if d.out.err != nil {
			break
		}
	}
	d.print("\n")
	d.text("For your own sessions:  make install && strandline init")
	if d.out.err != nil {
		return fmt.Errorf("print the demo: %w", d.out.err)
	}
	return nil
}

func (d *demo) importAll(ctx context.Context) error {
	start := d.now()
	report, err := d.archive.Import(ctx, app.ImportOptions{Progress: func(p capture.Progress) { d.progress(p.Bytes, p.TotalBytes) }})
	if err == nil && len(report.Failed) > 0 {
		err = errors.New(report.Failed[0])
	}
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	took := d.now().Sub(start)
	if d.live && d.drawn {
		d.print("\n")
	}
	st, err := d.archive.Status(ctx)
	if err != nil {
		return fmt.Errorf("count the imported rows: %w", err)
	}
	d.text("%s, %s, %s; %s, %s to search; in %s.",
		count(st.Sessions, "session"), count(st.Agents, "sub-agent"), size(report.Bytes),
		count(st.Turns, "turn"), count(st.Passages, "passage"), milliseconds(took))
	return nil
}

func (d *demo) showLoss(ctx context.Context) error {
	d.text("The context was full at %s tokens; the client kept a summary of %d words.",
		text.Thousands(d.compaction.Tokens.PreTokens), len(strings.Fields(d.compaction.Summary.Content)))
	d.text("What the session needed afterwards, and where it is:")
	chars := demoBudget
	out, err := d.archive.Restore(ctx, app.ContextQuery{Session: demoSession, AtLine: d.compaction.line + 2, Budget: &chars})
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	d.restored = out.Text
	d.print("\n   %s summary  restored  archive\n", d.bold(fmt.Sprintf("%-30s %-14s", "needed", "the words")))
	for _, fact := range demoFacts() {
		hits, err := d.find(ctx, fact.words, 5)
		if err != nil {
			return err
		}
		at := "no"
		for _, h := range hits {
			if containsFold(h.Text, fact.words) {
				at = h.Ref.Handle()
				break
			}
		}
		d.print("   %-30s %-14s %s  %s  %s\n", fact.what, fact.words,
			d.yesNo(containsFold(d.compaction.Summary.Content, fact.words), 7), d.yesNo(containsFold(d.restored, fact.words), 8), at)
	}
	d.print("\n")
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
	for _, line := range outline(d.restored, demoLines) {
		d.print("   %s %s\n", d.kind("│"), clipLine(line, demoColumns-5))
	}
	n := text.Units(d.restored)
	d.text("%s of the %s characters that a hook may add; each item has a handle.", text.Thousands(int64(n)), text.Thousands(demoBudget))
	if n > demoBudget {
		return fmt.Errorf("the restored context has %d characters, at most %d", n, demoBudget)
	}
	if containsFold(d.restored, demoSecret) {
		return errors.New("the restored context contains a secret")
	}
	return nil
}

const demoQuestion = "which port does the mock gateway listen on"

func (d *demo) search(ctx context.Context) error {
	start := d.now()
	hits, err := d.find(ctx, demoQuestion, 4)
	if err != nil {
		return err
	}
	took := d.now().Sub(start)
	if len(hits) == 0 {
		return errors.New("the search found nothing")
	}
	sessions := map[string]bool{}
	for _, h := range hits {
		sessions[h.Ref.Session] = true
		head := fmt.Sprintf("%-14s %-8s ", h.Ref.Handle(), h.Kind)
		d.print("   %s%s\n", d.yellow(head), clipLine(excerpt(h.Text, "18443", "8443", "mock gateway"), demoColumns-3-len(head)))
	}
	d.text("%s in %s, from %s of the project.", count(len(hits), "hit"), milliseconds(took), count(len(sessions), "session"))
	leaked, err := d.find(ctx, demoSecret, 5)
	if err != nil {
		return err
	}
	for _, h := range leaked {
		if containsFold(h.Text, demoSecret) {
			return errors.New("the index contains a secret")
		}
	}
	d.text("The key that `cat .env.test` printed is in neither the index nor the restored context.")
	return nil
}

func (d *demo) export(ctx context.Context) error {
	path := filepath.Join(demoProject(d.client), demoSession+".jsonl")
	before, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the transcript: %w", err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("delete the transcript: %w", err)
	}
	var after bytes.Buffer
	if _, err := d.archive.Export(ctx, app.Export{Session: demoSession}, &after); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	d.print("   sha256 of the deleted file  %x\n", sha256.Sum256(before))
	d.print("   sha256 of the export        %x\n", sha256.Sum256(after.Bytes()))
	if !bytes.Equal(before, after.Bytes()) {
		return errors.New("the exported bytes differ from the transcript")
	}
	d.text("The same %s bytes.", text.Thousands(int64(after.Len())))
	return nil
}

func (d *demo) print(format string, args ...any) { fmt.Fprintf(d.out, format, args...) }

// text prints a paragraph, wrapped at words. Runs of blanks align columns and are kept.
func (d *demo) text(format string, args ...any) {
	for _, line := range flow(strings.Split(fmt.Sprintf(format, args...), " "), demoColumns-3) {
		d.print("   %s\n", line)
	}
}

// yesNo returns yes or no in a cell of n characters.
func (d *demo) yesNo(yes bool, n int) string {
	if yes {
		return d.green(pad("yes", n, false))
	}
	return d.red(pad("no", n, false))
}

// progress draws a progress bar.
func (d *demo) progress(done, total int64) {
	const cells = 40
	if total <= 0 || !d.live && (done < total || d.drawn) {
		return
	}
	done = min(done, total)
	full := int(done * cells / total)
	before, after := "", "\n"
	if d.drawn = true; d.live {
		before, after = "\r", ""
	}
	d.print("%s   [%s] %d %%%s", before, bar(full, cells), done*100/total, after)
}

// outline returns the headings and the first n lines of each section of a text, and
// how many lines are left out.
func outline(block string, n int) []string {
	var lines []string
	in, left := 0, 0
	flush := func() {
		if left > 0 {
			lines = append(lines, fmt.Sprintf("  … %s more", count(left, "line")))
		}
		in, left = 0, 0
	}
	for line := range strings.Lines(strings.TrimRight(block, "\n")) {
		line = strings.TrimSuffix(line, "\n")
		heading := text.HasAnyPrefix(line, "## ", "===")
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

func containsFold(text, words string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(words))
}

// excerpt returns a text on one line, from shortly before the first of the words that it
// contains.
func excerpt(body string, words ...string) string {
	body = text.OneLine(body)
	for _, w := range words {
		before, _, found := strings.Cut(body, w)
		switch {
		case !found:
			continue
		case len(before) <= 30:
			return body
		}
		start := strings.ToValidUTF8(before[len(before)-20:], "") // without a part of a character
		if _, words, ok := strings.Cut(start, " "); ok {
			start = words
		}
		return "…" + start + body[len(before):]
	}
	return body
}

// clipLine shortens a line to n columns.
func clipLine(line string, n int) string {
	return text.TruncateCells(text.Visible(strings.ReplaceAll(line, "\t", " ")), n)
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }

// demoFiles holds the transcripts of two sessions of an invented project, in the
// client's folder structure. They are generated from demo/stories (make generate).
//
//go:embed demo/session
var demoFiles embed.FS

// demoSession is the ID of the bundled session with a compaction.
const demoSession = "7f3a12cd-5c1e-4b0a-9d57-21c9e8f04b66"

// demoSecret is a key that a command of demoSession printed.
const demoSecret = "tw_sk_5b1e0c7f49a2d8836e1f0b97c4"

// demoProject returns the project's folder in the client's.
func demoProject(clientDir string) string {
	return filepath.Join(clientDir, "projects", "-home-dev-tidewater")
}

// unpackDemo writes the bundled sessions below clientDir.
func unpackDemo(clientDir string) error {
	sessions, err := fs.Sub(demoFiles, "demo/session")
	if err == nil {
		err = os.CopyFS(demoProject(clientDir), sessions)
	}
	if err != nil {
		return fmt.Errorf("unpack the bundled session: %w", err)
	}
	return nil
}

// demoCompaction is the compaction of demoSession: the row of its boundary and the next one,
// which holds the summary.
type demoCompaction struct {
	line    int                                   // of the boundary, 0-based
	Tokens  struct{ PreTokens, PostTokens int64 } `json:"compactMetadata"`
	Summary struct{ Content string }              `json:"message"`
}

// findDemoCompaction reads the compaction from the transcript.
func findDemoCompaction() (c demoCompaction, err error) {
	data, err := demoFiles.ReadFile("demo/session/" + demoSession + ".jsonl")
	rows := strings.SplitAfter(string(data), "\n")
	c.line = slices.IndexFunc(rows, func(row string) bool { return strings.Contains(row, `"subtype":"compact_boundary"`) })
	if err != nil || c.line < 0 {
		return c, errors.Join(errors.New("the bundled session has no compaction"), err)
	}
	for _, row := range rows[c.line : c.line+2] {
		if err := json.Unmarshal([]byte(row), &c); err != nil {
			return c, fmt.Errorf("read the bundled session: %w", err)
		}
	}
	return c, nil
}

// demoFact was known before the compaction and needed after it. words identify it in a
// text.
type demoFact struct{ what, words string }

func demoFacts() []demoFact {
	return []demoFact{
		{"the mock gateway's port", "18443"},
		{"what uses the other port", "VPN agent"},
		{"the exact test command", "-count=300"},
		{"why the jitter is decorrelated", "whole second"},
		{"how long a key is stored", "90 seconds"},
		{"rule: no sleeping in tests", "no time.Sleep"},
		{"rule: ask before API changes", "ask me before"},
		{"constructor of the fake clock", "clock.At"},
	}
}
