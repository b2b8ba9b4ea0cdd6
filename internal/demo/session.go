package demo

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// bundled holds the transcripts of two sessions of one invented project, as the
// client lays them out below the project's folder. They are rendered from
// stories/ (make generate) and hold nobody's data.
//
//go:embed session
var bundled embed.FS

const (
	// MainSession is the session that the story is about: it crosses a compaction.
	MainSession = "7f3a12cd-5c1e-4b0a-9d57-21c9e8f04b66"
	// EarlierSession is from the day before, in the same project.
	EarlierSession = "2b90e6f1-03d8-4c7e-8a4f-6e15d27c9b30"

	cwd     = "/home/dev/tidewater"
	project = "-home-dev-tidewater"
)

// unpack writes the bundled sessions below clientDir as the client would have,
// and returns how many bytes they are.
func unpack(clientDir string) (int64, error) {
	var total int64
	err := fs.WalkDir(bundled, "session", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(path, "session"), "/")
		target := filepath.Join(clientDir, "projects", project, filepath.FromSlash(rel))
		if d.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		data, err := bundled.ReadFile(path)
		if err != nil {
			return err
		}
		total += int64(len(data))
		return os.WriteFile(target, data, 0o600)
	})
	if err != nil {
		return 0, fmt.Errorf("unpack the bundled session: %w", err)
	}
	return total, nil
}

func transcriptPath(clientDir, session string) string {
	return filepath.Join(clientDir, "projects", project, session+".jsonl")
}

// cut is the compaction of the main session.
type cut struct {
	line      int // of the boundary, 0-based
	pre, post int64
	summary   string
}

var errNoCut = errors.New("the bundled session has no compaction")

// findCut reads the compaction of the main session from its transcript.
func findCut() (cut, error) {
	data, err := bundled.ReadFile("session/" + MainSession + ".jsonl")
	if err != nil {
		return cut{}, fmt.Errorf("read the bundled session: %w", err)
	}
	var c cut
	n := 0
	for line := range strings.Lines(string(data)) {
		var row struct {
			Subtype string `json:"subtype"`
			Summary bool   `json:"isCompactSummary"`
			Meta    struct {
				Pre  int64 `json:"preTokens"`
				Post int64 `json:"postTokens"`
			} `json:"compactMetadata"`
			Message struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return cut{}, fmt.Errorf("read the bundled session, line %d: %w", n, err)
		}
		if row.Subtype == "compact_boundary" {
			c.line, c.pre, c.post = n, row.Meta.Pre, row.Meta.Post
		}
		if row.Summary {
			if err := json.Unmarshal(row.Message.Content, &c.summary); err != nil {
				return cut{}, fmt.Errorf("read the bundled summary: %w", err)
			}
			return c, nil
		}
		n++
	}
	return cut{}, errNoCut
}

// specific is something that was settled before the compaction and needed after
// it, with the words by which it is recognised.
type specific struct {
	what  string
	words string
}

func specifics() []specific {
	return []specific{
		{"the mock gateway's port", "18443"},
		{"who sits on the other port", "VPN agent"},
		{"the exact test command", "-count=300"},
		{"why the jitter is decorrelated", "whole second"},
		{"how long a key is remembered", "90 seconds"},
		{"rule: no sleeping in tests", "no time.Sleep"},
		{"rule: ask about exported changes", "ask me before"},
		{"the constructor of the fake clock", "clock.At"},
	}
}

// secret is a key that a command of the main session printed.
const secret = "tw_sk_5b1e0c7f49a2d8836e1f0b97c4"
