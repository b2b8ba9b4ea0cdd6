// Package qwen translates the transcripts of Qwen Code: rows like Claude Code's with
// messages in the form of the Gemini API.
package qwen

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"strandline/internal/client/gemini"
	"strandline/internal/transcript"
)

// Client describes Qwen Code.
func Client() transcript.Client {
	return transcript.Client{
		Name: "qwen", Title: "Qwen Code", New: New, Resume: []string{"qwen", "--resume"}, Hooks: hooks(), Setup: setup(),
		Start: []string{"qwen", "--prompt-interactive"},
		Roots: func(getenv func(string) string, home string) []string {
			return transcript.Folders(getenv("QWEN_HOME"), home, ".qwen", "projects")
		},
		File: func(path string) (string, bool) { // <project>/chats/<id>.jsonl
			id, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
			return id, ok && filepath.Base(filepath.Dir(path)) == "chats" && !strings.HasPrefix(id, "session-")
		},
		Place: func(source, _ string) string {
			parts := strings.Split(filepath.ToSlash(source), "/")
			return "projects/" + strings.Join(parts[max(len(parts)-3, 0):], "/")
		},
	}
}

// New returns a translator of one transcript.
func New() transcript.Translator { return &translator{} }

type translator struct{}

type row struct {
	Type       string `json:"type"`
	Subtype    string `json:"subtype"`
	UUID       string `json:"uuid"`
	Parent     string `json:"parentUuid"`
	Timestamp  any    `json:"timestamp"`
	Session    string `json:"sessionId"`
	Cwd        string `json:"cwd"`
	Version    string `json:"version"`
	Branch     string `json:"gitBranch"`
	Model      string `json:"model"`
	Provenance string `json:"provenance"`
	Sidechain  bool   `json:"isSidechain"`
	Message    struct {
		Parts json.RawMessage `json:"parts"`
	} `json:"message"`
	Usage *struct {
		Prompt     int64 `json:"promptTokenCount"`
		Candidates int64 `json:"candidatesTokenCount"`
		Thoughts   int64 `json:"thoughtsTokenCount"`
		Cached     int64 `json:"cachedContentTokenCount"`
		Total      int64 `json:"totalTokenCount"`
	} `json:"usageMetadata"`
	Result struct {
		CallID string `json:"callId"`
		Status string `json:"status"`
	} `json:"toolCallResult"`
	Payload struct {
		Title       string `json:"title"`
		CustomTitle string `json:"customTitle"`
		Info        struct {
			Before int64 `json:"originalTokenCount"`
			After  int64 `json:"newTokenCount"`
		} `json:"info"`
		Compressed []struct {
			Parts json.RawMessage `json:"parts"`
		} `json:"compressedHistory"`
	} `json:"systemPayload"`
}

// Translate implements transcript.Translator.
func (*translator) Translate(line []byte) []transcript.Entry {
	var r row
	if !transcript.Decode(line, &r) {
		return nil
	}
	at := transcript.Entry{
		Type: transcript.EntryOther, UUID: r.UUID, Parent: r.Parent, Time: r.Timestamp, Session: r.Session, Cwd: r.Cwd,
		Version: r.Version, Branch: r.Branch, Sidechain: r.Sidechain,
	}
	switch r.Type {
	case "user":
		at.Type, at.Meta = transcript.EntryUser, r.Provenance != "" && r.Provenance != "real_user"
		at.Message = &transcript.EntryMessage{Content: gemini.Blocks(r.Message.Parts)}
	case "assistant":
		at.Type = transcript.EntryAssistant
		at.Message = &transcript.EntryMessage{Model: r.Model, Content: gemini.Blocks(r.Message.Parts), Usage: r.usage()}
	case "tool_result":
		return r.results(at)
	case "system":
		return r.system(at)
	}
	return []transcript.Entry{at}
}

// usage returns the tokens of a response. Some APIs count the thoughts among the
// candidates, others beside them.
func (r *row) usage() *transcript.EntryUsage {
	u := r.Usage
	if u == nil {
		return nil
	}
	out := u.Candidates
	if u.Total != u.Prompt+u.Candidates {
		out += u.Thoughts
	}
	return &transcript.EntryUsage{Input: max(u.Prompt-u.Cached, 0), Output: out, CacheRead: u.Cached}
}

// results translates the results of calls, one row each. The first keeps the row's links.
func (r *row) results(at transcript.Entry) (rows []transcript.Entry) {
	gemini.Results(r.Message.Parts, func(id, body string, failed bool) {
		if id == "" {
			id = r.Result.CallID
		}
		failed = failed || r.Result.Status == "error" || r.Result.Status == "cancelled"
		rows = append(rows, gemini.ResultRow(at, id, body, failed))
		at.UUID, at.Parent = "", ""
	})
	return rows
}

// system translates a row of the client.
func (r *row) system(at transcript.Entry) []transcript.Entry {
	p := &r.Payload
	switch r.Subtype {
	case "chat_compression":
		var summary strings.Builder
		if len(p.Compressed) > 0 {
			for _, b := range gemini.Blocks(p.Compressed[0].Parts) {
				if b.Text != nil {
					summary.WriteString(*b.Text)
				}
			}
		}
		return transcript.Compaction(at, transcript.EntryCompact{Before: p.Info.Before, After: p.Info.After}, summary.String())
	case "custom_title":
		at.Type, at.Title = transcript.EntryUserTitle, p.Title+p.CustomTitle
	}
	return []transcript.Entry{at}
}
