// Package kimi translates the transcripts of Kimi Code: JSON lines of the changes of a
// conversation, in which a response is several events with the id of its step.
package kimi

import (
	"encoding/json"
	"path/filepath"

	"strandline/internal/transcript"
)

// Client describes Kimi Code.
func Client() transcript.Client {
	return transcript.Client{
		Name: "kimi", Title: "Kimi Code", New: New,
		Roots: func(getenv func(string) string, home string) []string {
			return transcript.Folders(getenv("KIMI_CODE_HOME"), home, ".kimi-code", "sessions")
		},
		File: func(path string) (string, bool) { // <id>/agents/<agent>/wire.jsonl
			agent := filepath.Dir(path)
			agents := filepath.Dir(agent)
			id := filepath.Base(filepath.Dir(agents))
			if name := filepath.Base(agent); name != "main" {
				id += "-" + name
			}
			return id, filepath.Base(path) == "wire.jsonl" && filepath.Base(agents) == "agents"
		},
	}
}

// New returns a translator of one transcript.
func New() transcript.Translator { return &Translator{} }

// Translator translates rows. The field is its state.
type Translator struct {
	Model string
}

type row struct {
	Type    string `json:"type"`
	Time    any    `json:"time"`
	Created any    `json:"created_at"`
	Cwd     string `json:"cwd"`
	Version string `json:"protocol_version"`
	Model   string `json:"model"`
	Message struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Calls   []call          `json:"toolCalls"`
		CallID  string          `json:"toolCallId"`
		Origin  struct {
			Kind string `json:"kind"`
		} `json:"origin"`
	} `json:"message"`
	Event struct {
		call
		Type   string          `json:"type"`
		UUID   string          `json:"uuid"`
		Step   string          `json:"stepUuid"`
		Part   part            `json:"part"`
		Result json.RawMessage `json:"result"`
		Finish string          `json:"finishReason"`
		Usage  *struct {
			Input      int64 `json:"inputOther"`
			Output     int64 `json:"output"`
			CacheRead  int64 `json:"inputCacheRead"`
			CacheWrite int64 `json:"inputCacheCreation"`
		} `json:"usage"`
	} `json:"event"`
	Summary string `json:"summary"`
	Before  int64  `json:"tokensBefore"`
	After   int64  `json:"tokensAfter"`
}

type call struct {
	ID   string          `json:"toolCallId"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type part struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Think string `json:"think"`
}

func (p part) block() transcript.EntryBlock {
	switch p.Type {
	case "think", "thinking":
		return transcript.ThinkingBlock(p.Text + p.Think)
	case "text":
		return transcript.TextBlock(p.Text)
	}
	return transcript.ImageBlock()
}

// Translate implements transcript.Translator.
func (t *Translator) Translate(line []byte) []transcript.Entry {
	var r row
	if !transcript.Decode(line, &r) {
		return nil
	}
	at := transcript.Entry{Type: transcript.EntryOther, Time: r.Time}
	if r.Model != "" {
		t.Model = r.Model
	}
	switch r.Type {
	case "metadata":
		at.Time, at.Version = r.Created, r.Version
	case "config.update":
		at.Cwd = r.Cwd
	case "context.apply_compaction":
		return transcript.Compaction(at, transcript.EntryCompact{Before: r.Before, After: r.After}, r.Summary)
	case "context.append_message":
		return []transcript.Entry{r.message(at, t.Model)}
	case "context.append_loop_event":
		return []transcript.Entry{r.event(at, t.Model)}
	}
	return []transcript.Entry{at}
}

// message translates a message that is whole.
func (r *row) message(at transcript.Entry, model string) transcript.Entry {
	m := &transcript.EntryMessage{}
	var parts []part
	if !transcript.DecodeList(r.Message.Content, &parts) {
		m.Content = append(m.Content, transcript.TextBlock(transcript.Text(r.Message.Content)))
	}
	for _, p := range parts {
		m.Content = append(m.Content, p.block())
	}
	switch r.Message.Role {
	case "user":
		at.Type, at.Meta = transcript.EntryUser, r.Message.Origin.Kind != "" && r.Message.Origin.Kind != "user"
	case "assistant":
		at.Type, m.Model = transcript.EntryAssistant, model
		for _, c := range r.Message.Calls {
			m.Content = append(m.Content, transcript.UseBlock(c.ID, c.Name, c.Args))
		}
	case "tool":
		return transcript.ResultRow(at, r.Message.CallID, r.Message.Content, false, nil)
	}
	at.Message = m
	return at
}

// event translates a part of a response, or the result of a call.
func (r *row) event(at transcript.Entry, model string) transcript.Entry {
	e := &r.Event
	m := &transcript.EntryMessage{ID: e.Step, Model: model}
	at.Type, at.Message = transcript.EntryAssistant, m
	switch e.Type {
	case "step.begin":
		m.ID = e.UUID
	case "step.end":
		m.ID, m.Stop = e.UUID, e.Finish
		if u := e.Usage; u != nil {
			m.Usage = &transcript.EntryUsage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
		}
	case "content.part":
		m.Content = []transcript.EntryBlock{e.Part.block()}
	case "tool.call":
		m.Content = []transcript.EntryBlock{transcript.UseBlock(e.ID, e.Name, e.Args)}
	case "tool.result":
		var result struct {
			Output json.RawMessage `json:"output"`
			Failed bool            `json:"isError"`
		}
		body := transcript.Text(e.Result)
		if transcript.Decode(e.Result, &result) && result.Output != nil {
			body = transcript.Text(result.Output)
		}
		return transcript.ResultRow(at, e.ID, transcript.String(body), result.Failed, nil)
	default:
		at.Type, at.Message = transcript.EntryOther, nil
	}
	if m.ID == "" && at.Message != nil { // a part without its step belongs to none
		at.Type, at.Message = transcript.EntryOther, nil
	}
	return at
}
