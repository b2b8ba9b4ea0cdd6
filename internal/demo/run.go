package demo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"

	"strandline/internal/archive"
)

// budget of the restored block in UTF-16 units, as the hook has it.
const budget = 9500

// shown is the number of lines of each section of the block that the story
// prints.
const shown = 3

// Run tells the story. It returns an error when a step fails or does not show
// what it claims, so the demo is a test as well.
func Run(ctx context.Context, env Env) (err error) {
	t := &teller{env: env, page: page{out: env.Out, color: env.Color, live: env.Live}}
	t.home, t.client = filepath.Join(env.Dir, "home"), filepath.Join(env.Dir, "client")
	if t.cut, err = findCut(); err != nil {
		return err
	}
	if t.size, err = unpack(t.client); err != nil {
		return err
	}
	a, err := env.Open(ctx, t.home, t.client)
	if err != nil {
		return fmt.Errorf("open the demo archive: %w", err)
	}
	t.archive = a
	defer func() { err = errors.Join(err, a.Close()) }()

	t.title("Strandline: the story in five steps, on a bundled session.")
	t.text("It runs in a temporary folder and touches nothing of yours.")
	for _, step := range []func(context.Context) error{t.imports, t.loses, t.restores, t.searches, t.exports} {
		if err := step(ctx); err != nil {
			return err
		}
		if t.err != nil {
			return fmt.Errorf("print the story: %w", t.err)
		}
	}
	t.blank()
	t.text("For your own sessions:  make install && strandline init")
	return t.err
}

// teller carries what one step of the story leaves to the next.
type teller struct {
	page
	env          Env
	archive      Archive
	home, client string
	cut          cut
	size         int64
	block        string
}

func (t *teller) imports(ctx context.Context) error {
	t.step(1, "Import: every byte that the client wrote")
	start := t.env.Now()
	in, err := t.archive.Import(ctx, t.client, t.progress)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	took := t.env.Now().Sub(start)
	t.endProgress()
	t.text("%s, %s, %s; %s, %s to search; in %s.",
		count(in.Sessions, "session"), count(in.Agents, "sub-agent"), bytesText(in.Bytes),
		count(in.Turns, "turn"), count(in.Passages, "passage"), duration(took))
	return nil
}

func (t *teller) loses(ctx context.Context) error {
	t.step(2, "What the compaction lost")
	t.text("The context was full at %s tokens; the client kept a summary of %d words.",
		thousands(t.cut.pre), len(strings.Fields(t.cut.summary)))
	t.text("What the session needed afterwards, and where it is:")
	t.blank()
	var err error
	if t.block, err = t.archive.Restore(ctx, MainSession, t.cut.line+2, budget); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	t.row(t.bold("%-33s %-14s", "needed", "the words"), "summary  block  archive")
	for _, s := range specifics() {
		hits, err := t.archive.Search(ctx, s.words, 5)
		if err != nil {
			return fmt.Errorf("search %q: %w", s.words, err)
		}
		t.row(fmt.Sprintf("%-33s %-14s", s.what, s.words),
			fmt.Sprintf("%s  %s  %s", t.mark(contains(t.cut.summary, s.words), 7), t.mark(contains(t.block, s.words), 5), where(hits, s.words)))
	}
	t.blank()
	t.text("In this session the model then tried the wrong port and asked whether to stop the VPN agent; the person had to say it all again.")
	return nil
}

func (t *teller) restores(_ context.Context) error {
	t.step(3, "What Strandline puts back when the client starts again after the cut")
	t.text("Its outline; of each section the first lines:")
	for _, line := range outline(t.block, shown) {
		t.quote(line)
	}
	n := len(utf16.Encode([]rune(t.block)))
	t.text("%s of the %s characters that a hook may add; each item has a handle.", thousands(int64(n)), thousands(budget))
	if n > budget {
		return fmt.Errorf("the restored block has %d characters, at most %d", n, budget)
	}
	if contains(t.block, secret) {
		return errors.New("the restored block holds a secret")
	}
	return nil
}

func (t *teller) searches(ctx context.Context) error {
	const question = "which port does the mock gateway listen on"
	t.step(4, "Search: "+question)
	start := t.env.Now()
	hits, err := t.archive.Search(ctx, question, 4)
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	took := t.env.Now().Sub(start)
	if len(hits) == 0 {
		return errors.New("the search found nothing")
	}
	sessions := map[string]bool{}
	for _, h := range hits {
		sessions[h.Session] = true
		handle := archive.Ref{Session: h.Session, Turn: h.Turn, Step: h.Step}.Handle()
		t.hit(handle, string(h.Kind), excerpt(h.Text, []string{"18443", "8443", "mock gateway"}))
	}
	t.text("%s in %s, from %s of the project.", count(len(hits), "hit"), duration(took), count(len(sessions), "session"))
	leaked, err := t.archive.Search(ctx, secret, 5)
	if err != nil {
		return fmt.Errorf("search for the secret: %w", err)
	}
	for _, h := range leaked {
		if contains(h.Text, secret) {
			return errors.New("the index holds a secret")
		}
	}
	t.text("The key that `cat .env.test` printed is in neither index nor block.")
	return nil
}

func (t *teller) exports(ctx context.Context) error {
	t.step(5, "A month later the client deletes its file; the bytes are still here")
	path := transcriptPath(t.client, MainSession)
	before, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the transcript: %w", err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("delete the transcript: %w", err)
	}
	var after bytes.Buffer
	if err := t.archive.Export(ctx, MainSession, &after); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	t.text("sha256 of the deleted file  %x", sha256.Sum256(before))
	t.text("sha256 of the export        %x", sha256.Sum256(after.Bytes()))
	if !bytes.Equal(before, after.Bytes()) {
		return errors.New("the exported bytes differ from the transcript")
	}
	t.text("The same %s bytes.", thousands(int64(after.Len())))
	return nil
}

// outline returns the first n lines of each section of a block, and how many
// more there are.
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

// where names the first hit that really holds the words.
func where(hits []archive.Hit, words string) string {
	for _, h := range hits {
		if contains(h.Text, words) {
			return archive.Ref{Session: h.Session, Turn: h.Turn, Step: h.Step}.Handle()
		}
	}
	return "no"
}

func contains(text, words string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(words))
}
