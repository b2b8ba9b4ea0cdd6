package capture_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/sessionlog"
)

// family is a session with everything that the client keeps beside it.
func (w *world) family() map[string][]byte {
	w.t.Helper()
	agent := strings.ReplaceAll(string(transcriptOf(sessionA, 4, 1)), `"isSidechain":false`, `"isSidechain":true,"agentId":"a2c37f95"`)
	files := map[string][]byte{
		sessionA + ".jsonl":                              transcriptOf(sessionA, 1, 2),
		sessionA + "/subagents/agent-a2c37f95.jsonl":     []byte(agent),
		sessionA + "/subagents/agent-a2c37f95.meta.json": []byte(`{"agentType":"Explore"}`),
		sessionA + "/tool-results/b1.txt":                []byte("a long output\n"),
	}
	for rel, data := range files {
		w.write(filepath.Join(w.client, "-home-dev-shop", filepath.FromSlash(rel)), data)
	}
	w.hook(sessionA)
	return files
}

// tree reads every file below a folder, by its path there.
func tree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(rel)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func sameTree(t *testing.T, got, want map[string][]byte) {
	t.Helper()
	for rel, data := range want {
		if _, ok := got[rel]; !ok {
			t.Errorf("%s is missing", rel)
			continue
		}
		sameBytes(t, rel, got[rel], data)
	}
	for rel := range got {
		if _, ok := want[rel]; !ok {
			t.Errorf("%s was not asked for", rel)
		}
	}
}

func TestRebuild(t *testing.T) {
	w := newWorld(t)
	files := w.family()
	if err := os.RemoveAll(w.client); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{sessionA, sessionA + "~a2c37f95", sessionA + "@1"} {
		to := filepath.Join(t.TempDir(), "projects")
		restored, err := w.capture.Rebuild(t.Context(), id, capture.Rebuilding{Dir: to})
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		sameTree(t, tree(t, filepath.Join(to, "-home-dev-shop")), files)
		if len(restored) != len(files) || restored[0].Path != filepath.Join(to, "-home-dev-shop", sessionA+".jsonl") {
			t.Errorf("%s: restored %+v", id, restored)
		}
		for _, r := range restored {
			rel, err := filepath.Rel(filepath.Join(to, "-home-dev-shop"), r.Path)
			if err != nil || r.Kept || r.Bytes != int64(len(files[filepath.ToSlash(rel)])) {
				t.Errorf("%s: %+v, %v", id, r, err)
			}
		}
	}
}

func TestRebuildFileModes(t *testing.T) {
	w := newWorld(t)
	w.family()
	to := filepath.Join(t.TempDir(), "projects")
	restored, err := w.capture.Rebuild(t.Context(), sessionA, capture.Rebuilding{Dir: to})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range restored {
		if info, err := os.Stat(r.Path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: mode %v, %v", r.Path, info.Mode(), err)
		}
	}
}

func TestRebuildExistingFiles(t *testing.T) {
	side := sessionA + "/tool-results/b1.txt"
	tests := []struct {
		name   string
		change func(t *testing.T, path func(rel string) string)
		code   archive.Code
		kept   int
	}{
		{"all of them: they are kept", func(*testing.T, func(string) string) {}, "", 4},
		{"one is missing: it is made", func(t *testing.T, path func(string) string) {
			if err := os.Remove(path(side)); err != nil {
				t.Fatal(err)
			}
		}, "", 3},
		{"one has other content", func(t *testing.T, path func(string) string) {
			if err := os.WriteFile(path(side), []byte("another output"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, archive.CodeInvalid, 3},
		{"the transcript has grown", func(t *testing.T, path func(string) string) {
			f, err := os.OpenFile(path(sessionA+".jsonl"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.WriteString("{}\n")
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
		}, archive.CodeInvalid, 0},
		{"a folder has its name", func(t *testing.T, path func(string) string) {
			if err := errors.Join(os.Remove(path(side)), os.Mkdir(path(side), 0o700)); err != nil {
				t.Fatal(err)
			}
		}, archive.CodeInvalid, 3},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.family()
			folder := filepath.Join(w.client, "-home-dev-shop")
			c.change(t, func(rel string) string { return filepath.Join(folder, filepath.FromSlash(rel)) })
			before := tree(t, folder)
			restored, err := w.capture.Rebuild(t.Context(), sessionA, capture.Rebuilding{Dir: w.client})
			kept := 0
			for _, r := range restored {
				if r.Kept {
					kept++
				}
			}
			if kept != c.kept || (err == nil) != (c.code == "") || err != nil && archive.ErrorCode(err) != c.code {
				t.Errorf("%d files kept, %v; want %d, %q", kept, err, c.kept, c.code)
			}
			after := tree(t, folder)
			for rel, data := range before {
				sameBytes(t, "existing "+rel, after[rel], data)
			}
			for rel := range after {
				if strings.Contains(rel, ".rebuild-") {
					t.Errorf("%s was not removed", rel)
				}
			}
		})
	}
}

// TestRebuildSymlink checks that nothing is written through a dangling symbolic link.
func TestRebuildSymlink(t *testing.T) {
	w := newWorld(t)
	w.family()
	to := t.TempDir()
	target := filepath.Join(to, "elsewhere.jsonl")
	place := filepath.Join(to, "-home-dev-shop", sessionA+".jsonl")
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, place); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if _, err := w.capture.Rebuild(t.Context(), sessionA, capture.Rebuilding{Dir: to}); err == nil {
		t.Error("a link at the transcript's path was replaced")
	}
	if _, err := os.Lstat(target); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written where the link points: %v", err)
	}
}

// TestRebuildFolder checks that a copy imported from elsewhere is restored to the folder
// that the client derives from the working directory.
func TestRebuildFolder(t *testing.T) {
	tests := []struct {
		name, from, want string
	}{
		{"from the client's own folder", "projects/-renamed-by-the-client", "-renamed-by-the-client"},
		{"from a backup", "backup/2026", "-home-dev-shop"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			path := filepath.Join(t.TempDir(), filepath.FromSlash(c.from), sessionA+".jsonl")
			w.write(path, transcriptOf(sessionA, 1, 1))
			if _, err := w.capture.Log(t.Context(), mustSource(path, sessionA)); err != nil {
				t.Fatal(err)
			}
			to := t.TempDir()
			if _, err := w.capture.Rebuild(t.Context(), sessionA, capture.Rebuilding{Dir: to}); err != nil {
				t.Fatal(err)
			}
			sameTree(t, tree(t, to), map[string][]byte{c.want + "/" + sessionA + ".jsonl": transcriptOf(sessionA, 1, 1)})
		})
	}
}

func TestRebuildGenerations(t *testing.T) {
	w := newWorld(t)
	first, second := transcriptOf(sessionA, 1, 2), transcriptOf(sessionA, 8, 1)
	side := filepath.Join(w.client, "-home-dev-shop", sessionA, "tool-results", "b1.txt")
	w.write(w.path(sessionA), first)
	w.write(side, []byte("first output"))
	w.hook(sessionA)
	w.write(w.path(sessionA), second)
	w.write(side, []byte("another, second output"))
	w.hook(sessionA)
	for id, want := range map[string][]byte{sessionA: second, sessionA + "@2": second, sessionA + "@1": first} {
		to := t.TempDir()
		if _, err := w.capture.Rebuild(t.Context(), id, capture.Rebuilding{Dir: to}); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		sameTree(t, tree(t, to), map[string][]byte{
			"-home-dev-shop/" + sessionA + ".jsonl":               want,
			"-home-dev-shop/" + sessionA + "/tool-results/b1.txt": []byte("another, second output"),
		})
	}
	if _, err := w.capture.Rebuild(t.Context(), sessionA+"@3", capture.Rebuilding{Dir: t.TempDir()}); archive.ErrorCode(err) != archive.CodeNotFound {
		t.Errorf("a generation that is not there: %v", err)
	}
}

func TestRebuildUnknownSession(t *testing.T) {
	w := newWorld(t)
	to := t.TempDir()
	if _, err := w.capture.Rebuild(t.Context(), sessionB, capture.Rebuilding{Dir: to}); archive.ErrorCode(err) != archive.CodeNotFound || archive.ErrorHint(err) == "" {
		t.Errorf("a session without a log: %v", err)
	}
	w.family()
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	cancel(stop)
	if _, err := w.capture.Rebuild(ctx, sessionA, capture.Rebuilding{Dir: to}); !errors.Is(err, stop) {
		t.Errorf("cancelled: %v", err)
	}
	if got := tree(t, to); len(got) > 0 {
		t.Errorf("something was made: %d files", len(got))
	}
}

func TestSideFilesOfSession(t *testing.T) {
	w := newWorld(t)
	w.family()
	side := filepath.Join(w.client, "-home-dev-shop", sessionA, "tool-results", "b1.txt")
	w.write(side, []byte("rewritten output, another generation"))
	w.hook(sessionA)
	got, err := w.capture.SideFiles(sessionA)
	want := []string{"subagents/agent-a2c37f95.jsonl", "subagents/agent-a2c37f95.meta.json", "tool-results/b1.txt"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("side files %q, %v; want each once: %q", got, err, want)
	}
	for id, want := range map[string]bool{
		sessionA: true, sessionA + "@1": true, sessionA + "@2": false, sessionA + "~a2c37f95": true,
		sessionA + "~b0": false, sessionB: false, sessionA[:8]: false, "": false,
	} {
		if got := w.capture.HasLog(id); got != want {
			t.Errorf("HasLog(%q) = %v", id, got)
		}
	}
	for what, err := range map[string]error{
		"side files of no session": func() error { _, err := w.capture.SideFiles(sessionB); return err }(),
		"a file of no session":     w.capture.ExportFile(sessionB, "tool-results/b1.txt", &strings.Builder{}),
		"a file that is not kept":  w.capture.ExportFile(sessionA, "tool-results/b2.txt", &strings.Builder{}),
		"a path that climbs":       w.capture.ExportFile(sessionA, "../"+sessionB+".jsonl", &strings.Builder{}),
		"damage of no session":     func() error { _, err := w.capture.DamagedBytes(sessionB, 0); return err }(),
		"a transcript of none":     w.capture.Export(sessionB, 0, &strings.Builder{}),
	} {
		if archive.ErrorCode(err) != archive.CodeNotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestDamagedBytes checks that the torn end of a log is reported, and repaired by the
// next capture.
func TestDamagedBytes(t *testing.T) {
	w := newWorld(t)
	whole := transcriptOf(sessionA, 1, 2)
	w.write(w.path(sessionA), whole[:len(whole)/2])
	w.hook(sessionA)
	w.write(w.path(sessionA), whole)
	w.hook(sessionA)
	damage := func() int64 {
		t.Helper()
		n, err := w.capture.DamagedBytes(sessionA, 0)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := damage(); n != 0 {
		t.Errorf("%d bytes of a whole log are damaged", n)
	}
	log := w.log(sessionA)
	info, err := os.Stat(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(log, info.Size()-7); err != nil {
		t.Fatal(err)
	}
	if n := damage(); n <= 0 || n >= info.Size() {
		t.Errorf("%d bytes of a torn log are damaged", n)
	}
	if got := w.export(sessionA, 0); len(got) >= len(whole) {
		t.Errorf("%d bytes came out of a torn log", len(got))
	}
	w.hook(sessionA)
	if n := damage(); n != 0 {
		t.Errorf("after a capture %d bytes are damaged", n)
	}
	sameBytes(t, "mended log", w.export(sessionA, 0), whole)
	if got, want := w.dump("index.db"), w.reindex("other.db"); got != want {
		t.Errorf("index: %s", firstDifference(got, want))
	}
}

// log returns the path of a session's first log.
func (w *world) log(session string) string {
	return sessionlog.Layout{Root: w.home}.Transcript("claude", "-home-dev-shop", session, 1)
}

// TestSourceNames checks that a hook's payload and the client's folders give the same
// log path.
func TestSourceNames(t *testing.T) {
	tests := []struct {
		src         capture.Source
		slug, agent string
	}{
		{capture.Source{Path: "/c/projects/-x/" + sessionA + ".jsonl"}, "-x", ""},
		{capture.Source{Path: "/c/projects/-x/s/subagents/agent-a1.jsonl", Rel: "subagents/agent-a1.jsonl"}, "-x", "a1"},
		{capture.Source{Path: "/c/projects/-x/s/subagents/agent-a1.meta.json", Rel: "subagents/agent-a1.meta.json"}, "-x", ""},
		{capture.Source{Path: "/c/projects/-x/s/tool-results/b.txt", Rel: "tool-results/b.txt"}, "-x", ""},
		{capture.Source{Path: "/c/projects/-x/agent-a1.jsonl"}, "-x", ""}, // its rows name the agent, its file name does not
	}
	for _, c := range tests {
		src := c.src
		src.Path = filepath.FromSlash(src.Path)
		if src.Slug() != c.slug || src.Agent() != c.agent {
			t.Errorf("%+v: folder %q, agent %q", src, src.Slug(), src.Agent())
		}
	}
}

// TestMendChangesNothingElse: a transcript whose links are whole is written byte for byte, also one without a last newline.
func TestMendChangesNothingElse(t *testing.T) {
	w := newWorld(t)
	whole := bytes.TrimSuffix(transcriptOf(sessionA, 1, 2), []byte("\n"))
	w.write(w.path(sessionA), whole)
	w.hook(sessionA)
	to := t.TempDir()
	files, err := w.capture.Rebuild(t.Context(), sessionA, capture.Rebuilding{Dir: to, Mend: true})
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	got, err := os.ReadFile(files[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	sameBytes(t, "the mended transcript", got, whole)
}
