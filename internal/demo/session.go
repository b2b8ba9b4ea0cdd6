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

// bundled holds the transcripts of two sessions of an invented project, in the
// client's folder structure. They are generated from stories/ (make generate).
//
//go:embed session
var bundled embed.FS

const (
	// MainSession has a compaction.
	MainSession = "7f3a12cd-5c1e-4b0a-9d57-21c9e8f04b66"
	// EarlierSession is of the day before, in the same project.
	EarlierSession = "2b90e6f1-03d8-4c7e-8a4f-6e15d27c9b30"

	cwd     = "/home/dev/tidewater"
	project = "-home-dev-tidewater"
)

// unpack writes the bundled sessions below clientDir.
func unpack(clientDir string) error {
	sessions, err := fs.Sub(bundled, "session")
	if err == nil {
		err = os.CopyFS(filepath.Join(clientDir, "projects", project), sessions)
	}
	if err != nil {
		return fmt.Errorf("unpack the bundled session: %w", err)
	}
	return nil
}

func transcriptPath(clientDir, session string) string {
	return filepath.Join(clientDir, "projects", project, session+".jsonl")
}

// compaction is the compaction of the main session.
type compaction struct {
	line      int   // of the boundary, 0-based
	pre, post int64 // tokens
	summary   string
}

// findCompaction reads the compaction from the transcript.
func findCompaction() (compaction, error) {
	data, err := bundled.ReadFile("session/" + MainSession + ".jsonl")
	if err != nil {
		return compaction{}, fmt.Errorf("read the bundled session: %w", err)
	}
	var c compaction
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
			return compaction{}, fmt.Errorf("read the bundled session, line %d: %w", n, err)
		}
		if row.Subtype == "compact_boundary" {
			c.line, c.pre, c.post = n, row.Meta.Pre, row.Meta.Post
		}
		if row.Summary {
			if err := json.Unmarshal(row.Message.Content, &c.summary); err != nil {
				return compaction{}, fmt.Errorf("read the bundled summary: %w", err)
			}
			return c, nil
		}
		n++
	}
	return compaction{}, errors.New("the bundled session has no compaction")
}

// specific is a fact that was known before the compaction and needed after it. words
// identify it in a text.
type specific struct {
	what  string
	words string
}

func specifics() []specific {
	return []specific{
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

// secret is a key that a command of the main session printed.
const secret = "tw_sk_5b1e0c7f49a2d8836e1f0b97c4"
