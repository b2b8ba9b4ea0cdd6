// Package opencode reads the sessions of OpenCode: rows of a database or, of versions
// before it, a JSON file for each message and each part of one. Both become the same
// lines: one for the session and one for each message with its parts.
package opencode

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"strandline/internal/transcript"
)

// Client describes OpenCode.
func Client() transcript.Client {
	db := database()
	return transcript.Client{
		Name: "opencode", Title: "OpenCode", New: New, Open: openFolder, Database: db,
		Roots: roots, Resume: []string{"opencode", "--session"}, Start: []string{"opencode", "--prompt"},
		Hooks: transcript.Hooks{Context: []string{"UserPromptSubmit", "SessionStart"}, Steers: 10_000, OwnAgents: true},
		Setup: setup(),
		File: func(path string) (string, bool) {
			if file, session := transcript.SplitStored(path); session != "" {
				return transcript.StoredID(session), db.Match(file)
			}
			// storage/session/<project>/<id>.json
			id, ok := strings.CutSuffix(filepath.Base(path), ".json")
			above := filepath.Dir(filepath.Dir(path))
			return id, ok && strings.HasPrefix(id, "ses_") && filepath.Base(above) == "session" && filepath.Base(filepath.Dir(above)) == storage
		},
	}
}

const (
	folder  = "opencode"
	storage = "storage"
)

// roots are the databases in the client's folder. Without one it is the folder of older
// versions; the first start of a version with a database copies that.
func roots(getenv func(string) string, home string) (all []string) {
	dirs := transcript.Folders(getenv("XDG_DATA_HOME"), home, ".local/share", folder)
	if len(dirs) == 0 {
		return nil
	}
	if file := getenv("OPENCODE_DB"); file != "" {
		if !filepath.IsAbs(file) {
			file = filepath.Join(dirs[0], file)
		}
		return []string{file}
	}
	found, _ := filepath.Glob(filepath.Join(dirs[0], "opencode*.db")) // one per release channel
	if _, err := os.Stat(filepath.Join(dirs[0], storage, "session")); len(found) == 0 && err == nil {
		return []string{filepath.Join(dirs[0], storage)}
	}
	if len(found) == 0 {
		return []string{filepath.Join(dirs[0], "opencode.db")}
	}
	return found
}

func database() *transcript.Database {
	return &transcript.Database{
		Match: func(path string) bool {
			name := filepath.Base(path)
			return strings.HasPrefix(name, "opencode") && strings.HasSuffix(name, ".db")
		},
		Version: "select max(id) from migration",
		Sessions: []string{`select s.id, s.parent_id, s.directory, s.time_created,
				max(s.time_updated, coalesce(m.changed, 0), coalesce(p.changed, 0)), coalesce(m.size, 0) + coalesce(p.size, 0)
			from session s
			left join (select session_id, max(time_updated) changed, sum(octet_length(data)) size from message group by session_id) m on m.session_id = s.id
			left join (select session_id, max(time_updated) changed, sum(octet_length(data)) size from part group by session_id) p on p.session_id = s.id`,
			// Of samples, without the columns that every release has.
			`select s.id, null, s.directory, s.time_created, s.time_updated,
				(select sum(octet_length(p.data)) from message m join part p on p.message_id = m.id where m.session_id = s.id) from session s`,
		},
		Rows: rows,
	}
}

// rows puts the session and its messages.
func rows(q transcript.Query, session string, put func(id string, members []byte, done bool) error) error {
	err := q.Each(func(c transcript.Columns) error {
		return put("session", append([]byte(`"session":`), c.Object(0)...), true)
	}, "select * from session where id = ?", session)
	if err != nil {
		return err
	}
	var last string
	err = q.Each(func(c transcript.Columns) error { last = c.Text(0); return nil },
		"select id from message where session_id = ? order by time_created desc, id desc limit 1", session)
	if err != nil {
		return err
	}
	return q.Each(func(c transcript.Columns) error {
		id := c.Text(0)
		var parts [][]byte
		err := q.Each(func(p transcript.Columns) error {
			parts = append(parts, withIDs(p.Text(1), "id", p.Text(0), "messageID", id, "sessionID", session))
			return nil
		}, "select id, data from part where message_id = ? order by id", id)
		if err != nil {
			return err
		}
		return putMessage(put, id, withIDs(c.Text(1), "id", id, "sessionID", session), parts, id != last)
	}, "select id, data from message where session_id = ? order by time_created, id", session)
}

// withIDs adds the columns of a row, which stand beside its data, in the form in which
// the client exports a session.
func withIDs(data string, ids ...string) []byte {
	object := transcript.JSON(data)
	head := []byte{'{'}
	for i := 0; i < len(ids); i += 2 {
		head = append(append(append(head, transcript.String(ids[i])...), ':'), transcript.String(ids[i+1])...)
		head = append(head, ',')
	}
	if object[0] != '{' {
		return append(append(append(head, `"data":`...), object...), '}')
	}
	if len(object) == 2 {
		return append(head[:len(head)-1], '}')
	}
	return append(head, object[1:]...)
}

// putMessage puts a message with its parts. One that is not finished, and the last of its
// session, is still being written.
func putMessage(put func(id string, members []byte, done bool) error, id string, info []byte, parts [][]byte, followed bool) error {
	var m message
	done := !transcript.Decode(info, &m) || m.finished() || followed
	members := append(append([]byte(`"message":`), info...), `,"parts":[`...)
	for i, p := range parts {
		if i > 0 {
			members = append(members, ',')
		}
		members = append(members, p...)
	}
	return put(id, append(members, ']'), done)
}

// openFolder returns the lines of a session in the folders of older versions:
// session/<project>/<id>.json, message/<session>/<id>.json and part/<message>/<id>.json.
func openFolder(path string) (*os.File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	id := strings.TrimSuffix(filepath.Base(path), ".json")
	root := filepath.Dir(filepath.Dir(filepath.Dir(path)))
	return transcript.OpenRows(func(put func(id string, members []byte, done bool) error) error {
		if err := put("session", append([]byte(`"session":`), transcript.JSON(string(data))...), true); err != nil {
			return err
		}
		return eachJSON(filepath.Join(root, "message", id), func(message string, data []byte, last bool) error {
			var parts [][]byte
			err := eachJSON(filepath.Join(root, "part", message), func(_ string, data []byte, _ bool) error {
				parts = append(parts, transcript.JSON(string(data)))
				return nil
			})
			if err != nil {
				return err
			}
			return putMessage(put, message, transcript.JSON(string(data)), parts, !last)
		})
	})
}

// eachJSON calls fn with each file of a folder, which may be missing, by its name: the ids
// ascend.
func eachJSON(dir string, fn func(id string, data []byte, last bool) error) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read transcript: %w", err)
	}
	for i, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !e.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return fmt.Errorf("read transcript: %w", err)
		}
		if err := fn(id, data, i == len(entries)-1); err != nil {
			return err
		}
	}
	return nil
}
