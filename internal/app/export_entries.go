package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/text"
	"strandline/internal/transcript/claude"
)

// ExportEntries writes the turns of a session, or of all sessions that are no sub-agent's,
// as entries of the earlier archive, one JSON object on each line, and returns their
// number. Imported entries are written as they were. Texts are redacted.
func (a *App) ExportEntries(ctx context.Context, session string, out io.Writer) (n int, err error) {
	err = a.reading(ctx, func(x Archive) error {
		ids := []string{}
		if session == "" {
			list, err := x.Index.Sessions(ctx, archive.SessionFilter{})
			if err != nil {
				return err
			}
			for _, s := range list {
				ids = append(ids, s.ID)
			}
			slices.Reverse(ids) // oldest first
		} else {
			id, err := a.sessionOrLatest(ctx, x, session)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		for _, id := range ids {
			e := entryExport{Archive: x, now: a.Now(), all: session == "", out: json.NewEncoder(out)}
			e.out.SetEscapeHTML(false)
			err := e.session(ctx, id)
			if n += e.n; err != nil {
				return fmt.Errorf("export session %s: %w", id, err)
			}
		}
		return nil
	})
	return n, err
}

// entryExport writes the entries of a session.
type entryExport struct {
	Archive
	now time.Time
	all bool // sessions: copied turns are written with the session that they come from
	out *json.Encoder
	n   int
}

func (e *entryExport) session(ctx context.Context, id string) error {
	info, err := e.Index.Session(ctx, id)
	if err != nil {
		return err
	}
	turns, err := e.Index.Turns(ctx, archive.Span{Session: id})
	if err != nil {
		return err
	}
	rows, err := readRows(ctx, e.Archive, archive.Span{Session: id})
	if err != nil {
		return err
	}
	compactions, err := e.Index.Compactions(ctx, archive.Span{Session: id})
	if err != nil {
		return err
	}
	accesses, err := e.Index.Accesses(ctx, id)
	if err != nil {
		return err
	}
	for _, t := range turns {
		if t.Dead || e.all && t.Copy != nil {
			continue
		}
		if info.Version == "" && info.Model == "" { // may be imported
			found, err := e.imported(ctx, t)
			if err != nil {
				return err
			}
			if found {
				continue
			}
		}
		blocks, err := e.Blocks(ctx, e.Index, id, archive.Handle{Session: id, Turn: t.Index, Step: -1})
		if err != nil {
			return err
		}
		entry := newEntry(t, blocks, archive.Select(rows.calls, func(c archive.Call) bool { return c.Turn == t.Index }))
		entry.Metadata.Trigger = "proactive"
		for i := len(compactions) - 1; i >= 0 && compactions[i].Line >= t.LineFrom; i-- {
			entry.Metadata.Trigger = compactions[i].Trigger
		}
		for _, s := range rows.steps {
			if tokens := contextOf(s); s.Turn == t.Index && tokens > 0 {
				entry.Metadata.PreTokens = tokens
			}
		}
		own := archive.Select(accesses, func(x archive.Access) bool { return x.Turn == t.Index })
		entry.AccessCount = len(own)
		for _, x := range own {
			entry.LastAccessedAt = max(entry.LastAccessedAt, x.Time.UnixMilli())
		}
		entry.Confidence = recall.DefaultConfidence().At(t.End, own, e.now)
		if err := e.write(entry); err != nil {
			return err
		}
	}
	return nil
}

// imported writes the entries that a turn was imported from, if there are any.
func (e *entryExport) imported(ctx context.Context, t archive.Turn) (found bool, err error) {
	err = e.Scan(ctx, t.Session, t.LineFrom, t.LineTo, func(_ int, line []byte) error {
		if !bytes.Contains(line, []byte(`"`+olderField+`":`)) {
			return nil
		}
		entry, fields := importedEntry(line)
		if fields == nil {
			return nil // another row
		}
		found = true
		secret := false
		redacted := archive.ChangeTexts(fields, func(s string) string {
			clean := e.Redact(s)
			secret = secret || clean != s
			return clean
		})
		if secret {
			return e.write(redacted)
		}
		return e.write(entry)
	})
	return found, err
}

// importedEntry returns the entry in a row of an imported turn and its fields, nil for none.
func importedEntry(row []byte) (entry json.RawMessage, fields map[string]any) {
	var r struct {
		Entry json.RawMessage `json:"entry"`
	}
	if json.Unmarshal(row, &r) == nil {
		_ = json.Unmarshal(r.Entry, &fields) // else it has no fields
	}
	return r.Entry, fields
}

func (e *entryExport) write(entry any) error {
	e.n++
	if err := e.out.Encode(entry); err != nil {
		return fmt.Errorf("write an entry: %w", err)
	}
	return nil
}

// memoryEntry is a turn in the form of the earlier archive. Times are milliseconds since 1970.
type memoryEntry struct {
	ID             string        `json:"id"`
	Key            string        `json:"key"`
	Content        string        `json:"content"`
	Type           string        `json:"type"`
	Namespace      string        `json:"namespace"`
	Tags           []string      `json:"tags"`
	Metadata       entryMetadata `json:"metadata"`
	AccessLevel    string        `json:"accessLevel"`
	CreatedAt      int64         `json:"createdAt"`
	UpdatedAt      int64         `json:"updatedAt"`
	Version        int           `json:"version"`
	References     []string      `json:"references"`
	AccessCount    int           `json:"accessCount"`
	LastAccessedAt int64         `json:"lastAccessedAt"`
	Confidence     float64       `json:"confidence"` // 0.1 to 1
}

type entryMetadata struct {
	Session     string   `json:"sessionId"`
	ChunkIndex  int      `json:"chunkIndex"` // the turn
	Trigger     string   `json:"trigger"`    // of the next compaction; "proactive" if there is none
	Timestamp   string   `json:"timestamp"`
	ToolNames   []string `json:"toolNames"`
	FilePaths   []string `json:"filePaths"`
	Summary     string   `json:"summary"`
	ContentHash string   `json:"contentHash"` // SHA-256 of the content
	PreTokens   int64    `json:"preTokens"`   // in the context at the turn's end, 0 if unknown
	TurnRange   [2]int   `json:"turnRange"`
}

// newEntry returns the entry of a turn: its prompt, all its replies, tools and files.
func newEntry(t archive.Turn, blocks []Block, calls []archive.Call) memoryEntry {
	var prompts, replies []string
	for _, b := range blocks {
		switch {
		case !b.Conversation():
		case b.Kind == claude.BlockPrompt:
			prompts = append(prompts, b.Text)
		case b.Kind == claude.BlockReply:
			replies = append(replies, strings.TrimSpace(b.Text))
		}
	}
	user, reply := strings.Join(prompts, "\n"), strings.Join(replies, "\n")
	content := "User: " + user + "\n\nAssistant: " + reply
	tools, files := []string{}, []string{}
	for _, c := range calls {
		tools = withNew(tools, c.Name)
		files = withNew(files, c.Files...)
	}
	sum := sha256.Sum256([]byte(content))
	hash, ms, at := hex.EncodeToString(sum[:]), t.End.UnixMilli(), fmt.Sprint(stamp(t.End))
	return memoryEntry{
		ID: fmt.Sprintf("ctx-%d-%d-%s", ms, t.Index, hash[:6]), Key: fmt.Sprintf("transcript:%s:%d:%s", t.Session, t.Index, at), Content: content,
		Type: "episodic", Namespace: "transcript-archive", Tags: append([]string{"transcript", "compaction", t.Session}, tools...),
		Metadata: entryMetadata{
			Session: t.Session, ChunkIndex: t.Index, Timestamp: at, ToolNames: tools, FilePaths: files,
			Summary: entrySummary(user, reply, tools, files), ContentHash: hash, TurnRange: [2]int{t.Index, t.Index},
		},
		AccessLevel: "private", CreatedAt: ms, UpdatedAt: ms, LastAccessedAt: ms, Version: 1, References: []string{},
	}
}

// withNew adds the values that a list lacks.
func withNew(list []string, values ...string) []string {
	for _, v := range values {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// entrySummary returns the first line of the prompt, the tools, five files, and the first two
// lines of the reply.
func entrySummary(user, reply string, tools, files []string) string {
	lines := func(s string, n int) string {
		list := archive.Select(strings.Split(s, "\n"), func(l string) bool { return strings.TrimSpace(l) != "" })
		return strings.Join(list[:min(n, len(list))], " ")
	}
	parts := []string{text.Truncate(lines(user, 1), 100)}
	if len(tools) > 0 {
		parts = append(parts, "Tools: "+strings.Join(tools, ", "))
	}
	if len(files) > 0 {
		parts = append(parts, "Files: "+strings.Join(archive.Convert(files[:min(5, len(files))], func(p string) string {
			if names := strings.Split(p, "/"); len(names) > 2 {
				return ".../" + strings.Join(names[len(names)-2:], "/")
			}
			return p
		}), ", "))
	}
	parts = append(parts, text.Truncate(lines(reply, 2), 120))
	return text.Truncate(strings.Join(archive.Select(parts, func(p string) bool { return p != "" }), " | "), 300)
}
