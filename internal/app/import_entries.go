package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/transcript/claude"
)

// olderEntry is a turn in an earlier system's archive.
type olderEntry struct {
	Content  string      `json:"content"` // "User: …", an empty line, "Assistant: …"
	Created  json.Number `json:"createdAt"`
	Metadata struct {
		Session string   `json:"sessionId"`
		Chunk   int      `json:"chunkIndex"`
		Time    string   `json:"timestamp"`
		Tools   []string `json:"toolNames"`
		Files   []string `json:"filePaths"`
	} `json:"metadata"`

	whole json.RawMessage
}

// olderField is the field of a transcript's row that holds the imported entry, for export.
const olderField = "entry"

// The files of the earlier archive in a project's folder.
const olderArchive = ".claude-flow/data/transcript-archive"

// ImportEntries imports the sessions in archives of ruflo and claude-flow: SQLite or JSON
// files, or the folders of projects with such files. Each becomes a session of prompts and
// replies, unless the archive holds it. One whose transcript the client still has is
// imported from that, which has all that they have.
func (a *App) ImportEntries(ctx context.Context, o ImportOptions) (out ImportReport, err error) {
	if len(o.Paths) == 0 {
		o.Paths = []string{a.Cwd}
	}
	dir, err := os.MkdirTemp("", "strandline-import-")
	if err != nil {
		return out, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	looked, files, failed := o.Paths, []string{}, []string{}
	for _, path := range olderArchives(o.Paths) {
		found, err := a.writeOlder(ctx, path, dir)
		if files = append(files, found...); err != nil {
			failed = append(failed, path+": "+ErrorText(err))
		}
	}
	slices.Sort(files)
	if o.Paths = slices.Compact(files); len(files) > 0 { // archives may hold the same sessions
		out, err = a.Import(ctx, o)
	}
	out.Paths, out.Failed = looked, append(failed, out.Failed...)
	return out, err
}

// olderArchives returns the files of earlier archives that paths name.
func olderArchives(paths []string) (files []string) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			files = append(files, path)
			continue
		}
		for _, base := range []string{olderArchive, "transcript-archive"} {
			for _, ext := range []string{".db", ".json"} {
				if file := filepath.Join(path, filepath.FromSlash(base)+ext); exists(file) {
					files = append(files, file)
				}
			}
		}
	}
	return files
}

// writeOlder writes the sessions of an earlier archive that this one lacks as transcripts
// below dir, and returns their paths, or those of the client's transcripts.
func (a *App) writeOlder(ctx context.Context, path, dir string) (files []string, err error) {
	entries, err := a.readOlder(ctx, path)
	if err != nil {
		return nil, err
	}
	sessions := map[string][]olderEntry{}
	for _, e := range entries {
		if id := e.Metadata.Session; archive.ValidID(id) && e.Content != "" {
			sessions[id] = append(sessions[id], e)
		}
	}
	err = a.reading(ctx, func(x Archive) error {
		known, err := x.Index.Sessions(ctx, archive.SessionFilter{})
		for _, s := range known {
			delete(sessions, s.ID)
		}
		return err
	})
	if err != nil && archive.ErrorCode(err) != archive.CodeNotFound { // no archive yet
		return nil, err
	}
	cwd := filepath.Dir(path)
	if root, ok := strings.CutSuffix(filepath.ToSlash(cwd), "/"+filepath.ToSlash(filepath.Dir(olderArchive))); ok {
		cwd = filepath.FromSlash(root)
	}
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		file := a.clientTranscript(id)
		if file == "" {
			file = filepath.Join(dir, id+capture.TranscriptExt)
			if err := os.WriteFile(file, olderTranscript(id, cwd, sessions[id]), 0o600); err != nil {
				return files, fmt.Errorf("write a session: %w", err)
			}
		}
		files = append(files, file)
	}
	return files, nil
}

// clientTranscript returns the path of a session's transcript in the folders of the client
// whose sessions the earlier system archived, "" if there is none.
func (a *App) clientTranscript(id string) string {
	w, err := a.Workspace()
	if err != nil {
		return ""
	}
	for _, client := range w.Capture.Known() {
		if client.Name != claude.Name {
			continue
		}
		for _, root := range a.roots(client) {
			if found, err := filepath.Glob(filepath.Join(root, "*", id+capture.TranscriptExt)); err == nil && len(found) > 0 {
				return found[0]
			}
		}
	}
	return ""
}

// readOlder reads an earlier archive: a database, a list, or an object with one.
func (a *App) readOlder(ctx context.Context, path string) (entries []olderEntry, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &archive.Error{Code: archive.CodeNotFound, Msg: "cannot read " + path, Err: err, Hint: "name a transcript-archive.db or .json, or a project's folder"}
	}
	var list []json.RawMessage
	if bytes.HasPrefix(data, []byte("SQLite format 3")) {
		rows, err := a.Stores.Entries(ctx, path)
		if err != nil {
			return nil, err
		}
		list = archive.Convert(rows, func(row string) json.RawMessage { return json.RawMessage(row) })
	} else if list = jsonEntries(data); list == nil {
		return nil, &archive.Error{Code: archive.CodeInvalid, Msg: "neither a database nor a list of entries", Hint: "name a transcript-archive.db or .json, or an export with --format entries"}
	}
	for _, row := range list {
		e := olderEntry{whole: row}
		if json.Unmarshal(row, &e) == nil { // others hold no turn
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// jsonEntries returns the entries of a list, of an object with a list, or one on each line;
// nil if data is none of them.
func jsonEntries(data []byte) (list []json.RawMessage) {
	var whole struct {
		Entries []json.RawMessage `json:"entries"`
	}
	if json.Unmarshal(data, &list) == nil || json.Unmarshal(data, &whole) == nil && whole.Entries != nil {
		return slices.Concat([]json.RawMessage{}, list, whole.Entries)
	}
	list = nil
	for d := json.NewDecoder(bytes.NewReader(data)); ; {
		var row json.RawMessage
		err := d.Decode(&row)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil || row[0] != '{' {
			return nil
		}
		list = append(list, row)
	}
}

// olderTranscript returns the entries of a session as the rows of a transcript. Of the
// entries of one turn, which was archived several times, the last counts.
func olderTranscript(session, cwd string, entries []olderEntry) []byte {
	type turn struct {
		chunk int
		user  string
	}
	last := map[turn]int{}
	key := func(e olderEntry) turn {
		user, _, _ := strings.Cut(e.Content, "\n\nAssistant: ")
		return turn{e.Metadata.Chunk, user}
	}
	for i, e := range entries {
		last[key(e)] = i
	}
	entries = slices.Collect(func(yield func(olderEntry) bool) {
		for i, e := range entries {
			if last[key(e)] == i && !yield(e) {
				return
			}
		}
	})
	slices.SortStableFunc(entries, func(a, b olderEntry) int {
		return cmp.Or(a.time().Compare(b.time()), a.Metadata.Chunk-b.Metadata.Chunk)
	})
	var out bytes.Buffer
	parent := any(nil)
	for i, e := range entries {
		user, reply, _ := strings.Cut(e.Content, "\n\nAssistant: ")
		if names := slices.Concat(e.Metadata.Tools, e.Metadata.Files); len(names) > 0 {
			reply = strings.TrimSpace(reply + "\n\nTools and files: " + strings.Join(names, ", "))
		}
		at := stamp(e.time().Add(time.Duration(i) * time.Millisecond))
		for _, row := range []struct{ role, text string }{{"user", strings.TrimPrefix(user, "User: ")}, {"assistant", reply}} {
			if strings.TrimSpace(row.text) == "" {
				continue
			}
			sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s %s", session, i, row.role, e.Content))
			id := formUUID(hex.EncodeToString(sum[:16]))
			message := Record{"role": row.role, "content": row.text}
			if row.role == "assistant" {
				message["id"], message["content"] = "msg_"+id, []Record{{"type": "text", "text": row.text}}
			}
			fields := Record{
				"type": row.role, "uuid": id, "parentUuid": parent, "sessionId": session, "cwd": cwd, "timestamp": at, "isSidechain": false, "message": message,
			}
			if e.whole != nil {
				fields[olderField], e.whole = e.whole, nil
			}
			line, err := json.Marshal(fields)
			if err != nil {
				continue // texts and numbers always marshal
			}
			out.Write(append(line, '\n'))
			parent = id
		}
	}
	return out.Bytes()
}

// time returns when the turn was archived.
func (e olderEntry) time() time.Time {
	if at, err := time.Parse(time.RFC3339, e.Metadata.Time); err == nil {
		return at
	}
	ms, _ := e.Created.Int64()
	return time.UnixMilli(ms)
}
