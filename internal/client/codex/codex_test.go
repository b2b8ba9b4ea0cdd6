package codex_test

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"strandline/internal/client/clienttest"
	"strandline/internal/client/codex"
)

func TestSample(t *testing.T) { clienttest.Golden(t, codex.New) }

func FuzzTranslate(f *testing.F) { clienttest.Fuzz(f, codex.New) }

func TestFile(t *testing.T) {
	file := codex.Client().File
	for path, want := range map[string]string{
		"/h/.codex/sessions/2026/08/22/rollout-2026-08-22T13-23-57-01a029a3-0000-7000-8000-000000000001.jsonl":   "01a029a3-0000-7000-8000-000000000001",
		"/h/.codex/archived_sessions/rollout-2026-08-22T13-23-57-01a029a3-0000-7000-8000-000000000001.jsonl.zst": "01a029a3-0000-7000-8000-000000000001",
		"rollout-2026-07-17T09-00-00-registry-codex.jsonl":                                                       "registry-codex",
		"/h/.codex/history.jsonl":   "",
		"/h/rollout-plan.jsonl":     "",
		"/h/rollout-2026-08-22.txt": "",
		"/h/.claude/projects/-work/01a029a3-0000-7000-8000-000000000001.jsonl": "",
	} {
		if got, ok := file(path); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", path, got, ok)
		}
	}
}

func TestPlace(t *testing.T) {
	place := codex.Client().Place
	name := "rollout-2026-08-22T13-23-57-a.jsonl"
	for source, want := range map[string]string{
		"/home/x/.codex/sessions/2026/08/22/" + name:        "sessions/2026/08/22/" + name,
		"/home/x/.codex/archived_sessions/" + name + ".zst": "archived_sessions/" + name,
		"/backup/" + name: "sessions/2026/08/22/" + name,
		"/backup/x.jsonl": "sessions/x.jsonl",
	} {
		if got := place(source, "a"); got != filepath.FromSlash(want) {
			t.Errorf("%s: %s", source, got)
		}
	}
}

func TestOpenCompressed(t *testing.T) {
	want := []byte(strings.Repeat(`{"type":"session_meta"}`+"\n", 1000))
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rollout-2026-08-22T13-23-57-a.jsonl.zst")
	if err := os.WriteFile(path, w.EncodeAll(want, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := codex.Client().Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := make([]byte, len(want)+1)
	if n, err := f.ReadAt(got, 0); err != io.EOF || !bytes.Equal(got[:n], want) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if err := os.WriteFile(path, []byte("no frame"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := codex.Client().Open(path); err == nil {
		t.Error("a damaged file is opened")
	}
}

// TestFixtures compares the rows of the samples in a folder with an independent count.
func TestFixtures(t *testing.T) {
	root := os.Getenv("STRANDLINE_CLIENT_FIXTURES")
	if root == "" {
		t.Skip("STRANDLINE_CLIENT_FIXTURES does not name a folder of samples")
	}
	files := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".jsonl") || !strings.Contains(path, "codex/") && !strings.Contains(path, "/traex/") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		want := count(data)
		if want.rows == 0 {
			return nil
		}
		files++
		s := clienttest.Read(t, codex.New, data).Session
		if got := (counts{want.rows, s.Turns, want.calls, s.Usage.Input + s.Usage.CacheRead + s.Usage.CacheWrite, s.Usage.Output}); got != want || s.Calls < want.calls {
			t.Errorf("%s: %+v and %d calls, want %+v", path, got, s.Calls, want)
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Errorf("%d files, %v", files, err)
	}
}

// counts are those of a transcript; input tokens include the cached ones.
type counts struct {
	rows, prompts, calls int
	input, output        int64
}

func count(data []byte) (c counts) {
	calls := map[string]bool{} // one sample uses an id twice
	defer func() { c.calls = len(calls) }()
	for line := range bytes.Lines(data) {
		var r struct {
			Type    string
			Payload struct {
				Type, Role string
				CallID     string `json:"call_id"`
				Content    []struct{ Text string }
				Info       struct {
					Total struct {
						In  int64 `json:"input_tokens"`
						Out int64 `json:"output_tokens"`
					} `json:"total_token_usage"`
				}
			}
		}
		_ = json.Unmarshal(line, &r) // other fields may have other types
		p := r.Payload
		switch {
		case r.Type == "session_meta":
			c.rows++
		case r.Type == "response_item" && p.Role == "user" && len(p.Content) > 0 && !strings.HasPrefix(p.Content[0].Text, "<"):
			c.prompts++
		case p.Type == "function_call", p.Type == "custom_tool_call":
			calls[p.CallID] = true
		case p.Type == "token_count":
			c.input, c.output = p.Info.Total.In, p.Info.Total.Out
		}
	}
	return c
}

// BenchmarkRead reads a long transcript.
func BenchmarkRead(b *testing.B) {
	one, err := os.ReadFile("testdata/session.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	first, rest, _ := bytes.Cut(one, []byte("\n"))
	output, _ := json.Marshal("Process exited with code 0\nOutput:\n" + strings.Repeat("harbour.go:12: the fee of the quay\n", 60))
	row := `{"timestamp":"2026-08-22T13:00:59.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":` + string(output) + "}}\n"
	data := append(append(append([]byte{}, first...), '\n'), bytes.Repeat(append(rest, strings.Repeat(row, 20)...), 40)...)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		clienttest.Read(b, codex.New, data)
	}
}
