package story

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"strandline/bench/synth"
)

// Files are transcripts and side files by their path below the project's folder.
type Files map[string][]byte

// Render generates the files of a story. They are named after the session in o.
func Render(text string, o synth.Options) (Files, error) {
	sections, err := parse(text)
	if err != nil {
		return nil, err
	}
	var main bytes.Buffer
	t := &writer{Session: synth.New(&main, o), cwd: o.Cwd, files: Files{}}
	t.Begin()
	t.Wait(time.Second)
	if err := t.write(sections); err != nil {
		return nil, err
	}
	t.Respond()
	if t.Err() != nil {
		return nil, t.Err()
	}
	t.files[o.Session+".jsonl"] = main.Bytes()
	return t.files, nil
}

// writer writes the rows of one transcript.
type writer struct {
	*synth.Session
	cwd   string
	files Files
	// pending write the results of the current response's calls.
	pending []func()
	calls   int // so far
}

func (t *writer) write(sections []section) error {
	for i := 0; i < len(sections); i++ {
		s := sections[i]
		if !s.parallel {
			t.finish()
		}
		switch s.kind {
		case "prompt":
			t.Respond()
			t.Wait(40 * time.Second)
			t.Prompt(s.body)
		case "think":
			t.Think(s.body)
		case "say":
			t.Say(s.body)
		case "done":
			t.Respond()
			t.EndTurn()
		case "compact":
			if err := t.compact(s); err != nil {
				return err
			}
		case "agent":
			n, err := t.agent(sections[i:])
			if err != nil {
				return err
			}
			i += n
		case "report":
			return fmt.Errorf("line %d: report without an agent", s.line)
		default:
			t.calls++
			t.call(s)
		}
	}
	t.finish()
	return nil
}

// finish ends the response and writes the results of its calls.
func (t *writer) finish() {
	if len(t.pending) == 0 {
		return
	}
	t.Respond()
	for _, result := range t.pending {
		result()
	}
	t.pending = nil
}

func (t *writer) compact(s section) error {
	t.Respond()
	f := strings.Fields(s.arg)
	if len(f) != 3 {
		return fmt.Errorf("line %d: compact needs a trigger and two numbers", s.line)
	}
	pre, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil {
		return fmt.Errorf("line %d: %w", s.line, err)
	}
	post, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil {
		return fmt.Errorf("line %d: %w", s.line, err)
	}
	t.Compact(f[0], pre, post, s.body)
	return nil
}

// agent writes the run of a sub-agent and returns the number of sections after the
// first that belong to it.
func (t *writer) agent(sections []section) (int, error) {
	s := sections[0]
	end := 1
	for end < len(sections) && sections[end].kind != "report" {
		end++
	}
	if end == len(sections) {
		return 0, fmt.Errorf("line %d: agent without a report", s.line)
	}
	kind, title, _ := strings.Cut(s.arg, " ")
	report := sections[end].body
	id := fmt.Sprintf("a%016x", t.Rand().Uint64())
	call := t.Use("Agent", synth.Row{}.Str("description", title).Str("prompt", s.body).Str("subagent_type", kind))
	t.Respond()

	var own bytes.Buffer
	child := &writer{Session: t.Spawn(&own, id), cwd: t.cwd, files: t.files}
	child.Prompt(s.body)
	if err := child.write(sections[1:end]); err != nil {
		return 0, err
	}
	child.Say(report)
	child.Respond()
	if child.Err() != nil {
		return 0, child.Err()
	}
	base := t.ID() + "/subagents/agent-" + id
	t.files[base+".jsonl"] = own.Bytes()
	t.files[base+".meta.json"] = fmt.Appendf(nil, "{\"agentType\":%q,\"isBuiltIn\":true,\"description\":%q,\"toolUseId\":%q,\"spawnDepth\":1,\"finished\":true}\n", kind, title, call)

	t.Join(child.Session)
	t.AnswerAgent(call, id, kind, s.body, report, child.calls)
	return end, nil
}
