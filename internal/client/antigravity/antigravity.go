// Package antigravity translates the transcripts of Antigravity, in the terminal and the
// editor: JSON lines of steps.
package antigravity

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"strandline/internal/transcript"
)

// exitCode is how a step reports the exit code of a command.
const exitCode = "The command exited with code "

// Client describes Antigravity.
func Client() transcript.Client {
	return transcript.Client{
		Name: "antigravity", Title: "Antigravity", New: New, Open: open, Resume: []string{"agy", "--conversation"}, Start: []string{"agy", "-i"},
		Roots: func(getenv func(string) string, home string) []string {
			return append(transcript.Folders(getenv("GEMINI_CLI_HOME"), home, ".gemini/antigravity-cli", "brain"),
				transcript.Folders("", home, ".gemini/antigravity", "brain")...)
		},
		File: func(path string) (string, bool) { // brain/<id>/.system_generated/logs/transcript.jsonl
			dir := filepath.Dir(path)
			generated := filepath.Dir(dir)
			brain := filepath.Dir(generated)
			return filepath.Base(brain), filepath.Base(path) == "transcript.jsonl" && filepath.Base(dir) == "logs" &&
				filepath.Base(generated) == ".system_generated" && filepath.Base(filepath.Dir(brain)) == "brain"
		},
		Place: func(source, _ string) string {
			source = filepath.ToSlash(source)
			return source[strings.LastIndex(source, "/brain/")+1:]
		},
	}
}

// open prefers the full transcript, which the terminal client writes at the end of a turn.
func open(path string) (*os.File, error) {
	if f, err := os.Open(strings.TrimSuffix(path, ".jsonl") + "_full.jsonl"); err == nil {
		return f, nil
	}
	return os.Open(path)
}

// New returns a translator of one transcript.
func New() transcript.Translator { return &Translator{} }

// Translator translates steps. The fields are its state.
type Translator struct {
	Open []string // ids of the calls without a result, oldest first
	Next int      // number of the next call: they have no ids
	Cwd  string   // of the first command that names one
}

type row struct {
	Step     int64  `json:"step_index"`
	Source   string `json:"source"`
	Type     string `json:"type"`
	Time     any    `json:"created_at"`
	Content  string `json:"content"`
	Thinking string `json:"thinking"`
	Calls    []struct {
		Name string                     `json:"name"`
		Args map[string]json.RawMessage `json:"args"`
	} `json:"tool_calls"`
}

// Translate implements transcript.Translator.
func (t *Translator) Translate(line []byte) []transcript.Entry {
	var r row
	if !transcript.Decode(line, &r) {
		return nil
	}
	at := transcript.Entry{Type: transcript.EntryOther, Time: r.Time}
	switch {
	case r.Source == "USER_EXPLICIT":
		t.Open = nil
		at.Type, at.Message = transcript.EntryUser, &transcript.EntryMessage{Content: []transcript.EntryBlock{transcript.TextBlock(prompt(r.Content))}}
	case r.Type == "CHECKPOINT":
		return transcript.Compaction(at, transcript.EntryCompact{}, r.Content)
	case r.Source == "MODEL" && (r.Type == "" || r.Type == "PLANNER_RESPONSE"):
		at.Type, at.Message = transcript.EntryAssistant, &transcript.EntryMessage{Content: t.blocks(r)}
		at.Cwd = t.Cwd
	case r.Source == "MODEL" && len(t.Open) > 0: // the step that a call made
		id := t.Open[0]
		t.Open = t.Open[1:]
		facts := &transcript.EntryResult{ExitCode: transcript.CodeAfter([]byte(r.Content), exitCode)}
		return []transcript.Entry{transcript.ResultRow(at, id, transcript.String(r.Content), facts.ExitCode != nil && *facts.ExitCode != 0, facts)}
	}
	return []transcript.Entry{at}
}

func (t *Translator) blocks(r row) (blocks []transcript.EntryBlock) {
	if r.Thinking != "" {
		blocks = append(blocks, transcript.ThinkingBlock(r.Thinking))
	}
	if r.Content != "" {
		blocks = append(blocks, transcript.TextBlock(r.Content))
	}
	for _, c := range r.Calls {
		for name, v := range c.Args { // a text may be written as JSON once more
			if inner := transcript.Text(v); len(inner) > 1 && inner[0] == '"' && json.Valid([]byte(inner)) {
				c.Args[name] = json.RawMessage(inner)
			}
		}
		if t.Cwd == "" {
			t.Cwd = transcript.Text(c.Args["Cwd"])
		}
		args, err := json.Marshal(c.Args)
		if err != nil {
			args = nil
		}
		id := "call-" + strconv.Itoa(t.Next)
		t.Next++
		t.Open = append(t.Open, id)
		blocks = append(blocks, transcript.UseBlock(id, c.Name, args))
	}
	return blocks
}

// notes are the parts of a prompt that the client adds.
var notes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<ADDITIONAL_METADATA>.*?</ADDITIONAL_METADATA>|<USER_SETTINGS_CHANGE>.*?</USER_SETTINGS_CHANGE>|</?USER_REQUEST>`)
})

// prompt returns what the user typed.
func prompt(s string) string { return strings.TrimSpace(notes().ReplaceAllString(s, "")) }
