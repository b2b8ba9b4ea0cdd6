package sessionlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
)

func TestLayoutPaths(t *testing.T) {
	l := Layout{Root: "/home/dev/.local/share/strandline"}
	const (
		slug    = "-home-dev-project"
		session = "7f3a12cd-0000-4000-8000-000000000001"
	)
	for _, tc := range []struct{ got, want string }{
		{l.Transcript("claude", slug, session, 0), "log/claude/" + slug + "/" + session + ".jsonl.zst"},
		{l.Transcript("claude", slug, session, 1), "log/claude/" + slug + "/" + session + ".jsonl.zst"},
		{l.Transcript("claude", slug, session, 2), "log/claude/" + slug + "/" + session + ".g2.jsonl.zst"},
		{l.Transcript("claude", slug, session, 12), "log/claude/" + slug + "/" + session + ".g12.jsonl.zst"},
		{l.Child("claude", slug, session, "subagents/agent-a2c37f95.jsonl", 1), "log/claude/" + slug + "/" + session + "/subagents/agent-a2c37f95.jsonl.zst"},
		{l.Child("claude", slug, session, `tool-results\foo.txt`, 1), "log/claude/" + slug + "/" + session + "/tool-results/foo.txt.zst"},
		{l.Child("claude", slug, session, "tool-results/foo.txt", 3), "log/claude/" + slug + "/" + session + "/tool-results/foo.g3.txt.zst"},
		{l.Child("claude", slug, session, "tool-results/noext", 2), "log/claude/" + slug + "/" + session + "/tool-results/noext.g2.zst"},
		{l.Child("claude", slug, session, "a file, (1) @home=+.txt", 1), "log/claude/" + slug + "/" + session + "/a file, (1) @home=+.txt.zst"},
	} {
		if want := filepath.Join(l.Root, filepath.FromSlash(tc.want)); tc.got != want {
			t.Errorf("%s, want %s", tc.got, want)
		}
	}
}

// hostile are names that a payload may hold.
var hostile = []string{
	"", ".", "..", "../x", "/etc/passwd", `..\..\x`, `C:\x`, "c:", "a/b", "a\x00b", "a\nb", " a", "a ", "a.", ".hidden",
	"CON", "con", "nul.txt", "COM1", "lpt9.jsonl", "aux .x", "x.g2", "x.g2.jsonl", "x.G3", "x.zst", "x.jsonl.zst", "x.tmp", "x.lock",
	"é", "e\u0301", "a:b", "a*b", "a|b", "<a>", `"a"`, "a~b", "~", "x~0123456789abcdeg", strings.Repeat("a", 201), strings.Repeat("../", 50),
}

func TestLayoutHostileNames(t *testing.T) {
	l := Layout{Root: filepath.Join(t.TempDir(), "home")}
	seen := map[string]string{}
	for _, name := range hostile {
		for i, p := range []string{
			l.Transcript("claude", "-slug", name, 1),
			l.Transcript("claude", name, "session", 2),
			l.Transcript(name, "-slug", "session", 1),
			l.Child("claude", "-slug", "session", name, 1),
			l.Child("claude", "-slug", name, "rel.txt", 1),
			l.Child("claude", "-slug", "session", "x/"+name+"/y", 2),
		} {
			checkPlace(t, l, p)
			key := string(rune('0'+i)) + strings.ToLower(p)
			if other, taken := seen[key]; taken && other != name && i != 3 && i != 5 { // "a/b" and `a\b` are one path
				t.Errorf("%q and %q are both %s", name, other, p)
			}
			seen[key] = name
		}
	}
}

// checkPlace checks that a path is below the root, valid on Windows as well, and gives
// an Entry with names that return the same path.
func checkPlace(t *testing.T, l Layout, p string) {
	t.Helper()
	rel, err := filepath.Rel(filepath.Join(l.Root, "log"), p)
	if err != nil || !filepath.IsLocal(rel) || !strings.HasSuffix(p, logExt) {
		t.Fatalf("%q lies outside", p)
	}
	parts := strings.Split(filepath.ToSlash(rel), "/")
	if len(parts) < 3 {
		t.Fatalf("%q has too few parts", p)
	}
	for _, part := range parts {
		stem, _, _ := strings.Cut(strings.ToUpper(part), ".")
		if len(part) > 240 || strings.ContainsAny(part, "<>:\"/\\|?*\x00\n") || strings.Trim(part, " .") != part ||
			slices.Contains([]string{"CON", "PRN", "AUX", "NUL", "COM1", "LPT9"}, strings.TrimSpace(stem)) {
			t.Fatalf("%q holds the bad name %q", p, part)
		}
	}
}

func FuzzLayout(f *testing.F) {
	for _, name := range hostile {
		f.Add(name, name, 1)
	}
	f.Fuzz(func(t *testing.T, session, rel string, gen int) {
		l := Layout{Root: "root"}
		gen = 1 + (gen%1000+1000)%1000
		p := l.Transcript("claude", session, session, gen)
		checkPlace(t, l, p)
		name, got := CutGeneration(strings.TrimSuffix(filepath.Base(p), transcriptExt))
		if got != gen || l.Transcript("claude", session, name, gen) != p {
			t.Fatalf("%q, generation %d, came back as %q, %d", session, gen, name, got)
		}
		c := l.Child("claude", session, session, rel, gen)
		checkPlace(t, l, c)
		name, got = CutGeneration(strings.TrimSuffix(filepath.Base(c), logExt))
		if again := l.Rel(rel); got != gen || !strings.HasSuffix(again, name) || l.Rel(again) != again {
			t.Fatalf("%q, generation %d, came back as %q, %d", rel, gen, name, got)
		}
	})
}

func TestFindAndWalk(t *testing.T) {
	l := Layout{Root: t.TempDir()}
	ctx := context.Background()
	for e, err := range l.Walk(ctx) {
		t.Fatalf("an archive that is not there holds %v, %v", e, err)
	}
	if found, err := l.Find("claude", "s1"); err != nil || len(found) > 0 {
		t.Fatalf("Find = %v, %v", found, err)
	}
	if found, err := l.Children("claude", "-a", "s1"); err != nil || len(found) > 0 {
		t.Fatalf("Children = %v, %v", found, err)
	}
	for _, p := range []string{
		l.Transcript("claude", "-b", "s1", 1), l.Transcript("claude", "-b", "s1", 2), l.Transcript("claude", "-b", "s1", 10),
		l.Transcript("claude", "-a", "s1", 2), l.Transcript("claude", "-a", "s0", 1), l.Transcript("codex", "-a", "s1", 1),
		l.Transcript("claude", "-b", "../evil", 1),
		l.Child("claude", "-b", "s1", "tool-results/x.txt", 1), l.Child("claude", "-b", "s1", "subagents/agent-1.jsonl", 2),
		l.Child("claude", "-b", "s1", "subagents/agent-1.jsonl", 1), l.Child("claude", "-b", "lone", "tool-results/y.txt", 1),
	} {
		writeFile(t, p, nil)
	}
	for _, p := range []string{"log/stray.txt", "log/claude/stray.jsonl.zst", "log/claude/-b/s1.jsonl.zst.tmp", "log/claude/-b/notes.txt", "log/claude/-b/s1/x.lock"} {
		writeFile(t, filepath.Join(l.Root, filepath.FromSlash(p)), nil)
	}
	for gen := 3; gen < 10; gen++ {
		writeFile(t, l.Transcript("claude", "-b", "s1", gen), nil)
	}
	evil := filepath.Base(l.Transcript("claude", "-b", "../evil", 1))
	evil = strings.TrimSuffix(evil, transcriptExt)
	want := []string{
		"claude -a s0  1", "claude -a s1  2",
		"claude -b " + evil + "  1",
		"claude -b lone tool-results/y.txt 1",
		"claude -b s1  1", "claude -b s1  2", "claude -b s1  3", "claude -b s1  4", "claude -b s1  5", "claude -b s1  6",
		"claude -b s1  7", "claude -b s1  8", "claude -b s1  9", "claude -b s1  10",
		"claude -b s1 subagents/agent-1.jsonl 1", "claude -b s1 subagents/agent-1.jsonl 2", "claude -b s1 tool-results/x.txt 1",
		"codex -a s1  1",
	}
	var got []string
	for e, err := range l.Walk(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, describe(e))
		again := l.Transcript(e.Client, e.Slug, e.Session, e.Generation)
		if e.Rel != "" {
			again = l.Child(e.Client, e.Slug, e.Session, e.Rel, e.Generation)
		}
		if again != e.Path {
			t.Errorf("%s leads to %s", e.Path, again)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("Walk:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	found, err := l.Find("claude", "s1")
	if err != nil || len(found) != 11 || describe(found[0]) != "claude -a s1  2" || describe(found[10]) != "claude -b s1  10" {
		t.Errorf("Find = %v, %v", found, err)
	}
	children, err := l.Children("claude", "-b", "s1")
	if err != nil || len(children) != 3 || describe(children[1]) != "claude -b s1 subagents/agent-1.jsonl 2" {
		t.Errorf("Children = %v, %v", children, err)
	}
	if one := l.FindChild("claude", "-b", "s1", "subagents/agent-1.jsonl"); !slices.Equal(one, children[:2]) {
		t.Errorf("FindChild = %v, want %v", one, children[:2])
	}
	all, err := l.Transcripts("claude")
	if err != nil || len(all) != 3 || !slices.Equal(all["s1"], found) {
		t.Errorf("Transcripts = %v, %v, want %v for s1", all, err, found)
	}
}

func describe(e Entry) string {
	return fmt.Sprintf("%s %s %s %s %d", e.Client, e.Slug, e.Session, e.Rel, e.Generation)
}

func TestWalkStops(t *testing.T) {
	l := Layout{Root: t.TempDir()}
	for _, s := range []string{"a", "b", "c"} {
		writeFile(t, l.Transcript("claude", "-x", s, 1), nil)
	}
	n := 0
	for _, err := range l.Walk(context.Background()) {
		if n++; n == 2 || err != nil {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d entries after a break at 2", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last error
	for _, err := range l.Walk(ctx) {
		last = err
		cancel()
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("a cancelled walk ends with %v", last)
	}
}

func TestWalkDoesNotFollowLinks(t *testing.T) {
	dir := t.TempDir()
	l := Layout{Root: filepath.Join(dir, "home")}
	writeFile(t, l.Transcript("claude", "-x", "a", 1), nil)
	writeFile(t, filepath.Join(dir, "outside", "s.jsonl.zst"), nil)
	for _, name := range []string{"log/link", "log/claude/link", "log/claude/-x/link"} {
		if err := os.Symlink(filepath.Join(dir, "outside"), filepath.Join(l.Root, name)); err != nil {
			t.Skip("no symbolic links here: " + err.Error())
		}
	}
	n := 0
	for e, err := range l.Walk(context.Background()) {
		if n++; err != nil || e.Session != "a" {
			t.Errorf("%+v, %v", e, err)
		}
	}
	if n != 1 {
		t.Errorf("%d logs, want 1", n)
	}
}

func TestWalkUnreadableFolder(t *testing.T) {
	l := Layout{Root: t.TempDir()}
	writeFile(t, filepath.Join(l.Root, "log"), []byte("a file"))
	errs := 0
	for _, err := range l.Walk(context.Background()) {
		if err != nil {
			errs++
		}
	}
	if errs != 1 {
		t.Errorf("%d errors, want 1", errs)
	}
	writeFile(t, filepath.Join(l.Root, "x"), nil)
	l.Root = filepath.Join(l.Root, "x")
	_, err := l.Find("claude", "s")
	wantCode(t, err, archive.CodeInvalid)
}
