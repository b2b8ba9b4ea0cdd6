// Package codex translates the transcripts of Codex CLI: JSON lines that are only
// appended, each with a time, a type and a payload.
//
// The conversation is in the response items. Events repeat most of them and add what the
// items lack: tokens, exit codes, and the calls that a script of the model made.
package codex

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/klauspost/compress/zstd"

	"strandline/internal/transcript"
)

// Name is the name of Codex CLI in the archive.
const Name = "codex"

// Client describes Codex CLI, and the other programs that share its folder.
func Client() transcript.Client {
	return transcript.Client{
		Name: Name, Title: "Codex CLI",
		Roots: func(getenv func(string) string, home string) []string {
			return transcript.Folders(getenv("CODEX_HOME"), home, ".codex", "sessions", "archived_sessions")
		},
		File: sessionOf, Open: open, New: New, Place: place,
		Resume: []string{"codex", "resume"},
		Start:  []string{"codex"},
		Window: window,
		Hooks:  transcript.Hooks{Context: []string{"UserPromptSubmit", "SessionStart"}, KeepsPrompts: true, OwnAgents: true},
		Setup:  setup(),
	}
}

// New returns a translator of one transcript.
func New() transcript.Translator { return &Translator{} }

const (
	prefix     = "rollout-"
	extension  = ".jsonl"
	compressed = ".zst" // of transcripts that were not used for some time
	timeLen    = len("2026-11-23T04-29-20-")
)

// sessionOf returns the session in the name of a transcript: rollout-<time>-<session>.jsonl.
func sessionOf(path string) (string, bool) {
	name, ok := strings.CutPrefix(filepath.Base(path), prefix)
	name, lines := strings.CutSuffix(strings.TrimSuffix(name, compressed), extension)
	if !ok || !lines || len(name) <= timeLen || name[timeLen-1] != '-' {
		return "", false
	}
	return name[timeLen:], true
}

// open returns the lines of a transcript, decompressed if necessary.
func open(path string) (*os.File, error) {
	if !strings.HasSuffix(path, compressed) {
		return transcript.OpenFile(path)
	}
	from, err := transcript.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	lines, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer lines.Close()
	return transcript.TempFile(lines)
}

// place returns the path of a transcript below Codex's folder.
func place(source, session string) string {
	source = strings.TrimSuffix(filepath.ToSlash(source), compressed)
	for _, folder := range []string{"/sessions/", "/archived_sessions/"} {
		if i := strings.LastIndex(source, folder); i >= 0 {
			return filepath.FromSlash(source[i+1:])
		}
	}
	name := filepath.Base(source)
	if day := regexp.MustCompile(`^rollout-(\d{4})-(\d{2})-(\d{2})T`).FindStringSubmatch(name); day != nil {
		return filepath.Join("sessions", day[1], day[2], day[3], name)
	}
	return filepath.Join("sessions", name)
}
