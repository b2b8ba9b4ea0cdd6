package cli

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

// demoCompaction is the compaction of demoSession.
type demoCompaction struct {
	line      int   // of the boundary, 0-based
	pre, post int64 // tokens
	summary   string
}

// findDemoCompaction reads the compaction from the transcript.
func findDemoCompaction() (c demoCompaction, err error) {
	data, err := demoFiles.ReadFile("demo/session/" + demoSession + ".jsonl")
	if err != nil {
		return c, fmt.Errorf("read the bundled session: %w", err)
	}
	for n, line := range strings.Split(string(data), "\n") {
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
		err := json.Unmarshal([]byte(line), &row)
		if row.Subtype == "compact_boundary" {
			c.line, c.pre, c.post = n, row.Meta.Pre, row.Meta.Post
		}
		if err == nil && row.Summary {
			err = json.Unmarshal(row.Message.Content, &c.summary)
		}
		if err != nil {
			return c, fmt.Errorf("read the bundled session, line %d: %w", n, err)
		}
		if row.Summary {
			return c, nil
		}
	}
	return c, errors.New("the bundled session has no compaction")
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
