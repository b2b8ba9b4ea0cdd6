package opencode_test

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"strandline/internal/archive"
	"strandline/internal/client/opencode"
)

// schema has the columns of version 1.18.33 that are read, and one that is only archived.
const schema = `pragma journal_mode = wal;
create table migration (id text primary key, time_completed integer);
create table session (id text primary key, parent_id text, slug text, directory text, title text, version text, time_created integer, time_updated integer);
create table message (id text primary key, session_id text, time_created integer, time_updated integer, data text);
create table part (id text primary key, message_id text, session_id text, time_created integer, time_updated integer, data text);
insert into migration values ('20260622202450_simplify_session_input', 1);
insert into session values ('ses_1', null, 'red-fox', '/home/ada/shop', 'Round', '1.18.33', 1000, 5000), ('ses_2', 'ses_1', 'blue-fox', '/home/ada/shop', 'Look', '1.18.33', 3000, 4000);
insert into message values ('msg_1', 'ses_1', 1000, 1000, '{"role":"user","time":{"created":1000}}'), ('msg_2', 'ses_1', 2000, 6000, '{"role":"assistant","time":{"created":2000}}');
insert into part values ('prt_1', 'msg_1', 'ses_1', 1000, 1000, '{"type":"text","text":"Round it."}'), ('prt_2', 'msg_2', 'ses_1', 2000, 2000, '{"type":"tool","callID":"c1","state":{"status":"running"}}');`

// world is a database that its client has open.
type world struct {
	*testing.T
	path   string
	client *sql.DB
	lines  string // archived
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, path: filepath.Join(t.TempDir(), "a #1 & b", "opencode.db")}
	if err := os.MkdirAll(filepath.Dir(w.path), 0o700); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.client, err = sql.Open("sqlite", w.path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.client.Close() })
	w.client.SetMaxOpenConns(1)
	w.exec(schema)
	return w
}

func (w *world) exec(script string) {
	w.Helper()
	if _, err := w.client.Exec(script); err != nil {
		w.Fatal(err)
	}
}

// update archives the session and returns the new lines.
func (w *world) update() string {
	w.Helper()
	var logged func() io.Reader
	if w.lines != "" {
		logged = func() io.Reader { return strings.NewReader(w.lines) }
	}
	f, err := opencode.Client().Database.Open(w.path+"#ses_1", logged)
	if err != nil {
		w.Fatal(err)
	}
	defer f.Close()
	all, err := io.ReadAll(f)
	if err != nil {
		w.Fatal(err)
	}
	more, ok := strings.CutPrefix(string(all), w.lines)
	if !ok {
		w.Fatalf("%s does not continue %s", all, w.lines)
	}
	w.lines = string(all)
	return more
}

// files returns the names and hashes of the client's files, without the shared memory,
// in which readers note that they read.
func (w *world) files() string {
	w.Helper()
	entries, err := os.ReadDir(filepath.Dir(w.path))
	if err != nil {
		w.Fatal(err)
	}
	var all strings.Builder
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(w.path), e.Name()))
		if err != nil {
			w.Fatal(err)
		}
		if strings.HasSuffix(e.Name(), "-shm") {
			data = nil
		}
		fmt.Fprintf(&all, "%s %x\n", e.Name(), sha256.Sum256(data))
	}
	return all.String()
}

// TestUpdates: each version of a row is archived once, and what was removed stays.
func TestUpdates(t *testing.T) {
	w := newWorld(t)
	if got, want := w.update(), `{"row":"session","session":{"id":"ses_1","slug":"red-fox","directory":"/home/ada/shop","title":"Round","version":"1.18.33","time_created":1000,"time_updated":5000}}
{"row":"msg_1","message":{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1000}},"parts":[{"id":"prt_1","messageID":"msg_1","sessionID":"ses_1","type":"text","text":"Round it."}]}
{"row":"msg_2","unfinished":true,"message":{"id":"msg_2","sessionID":"ses_1","role":"assistant","time":{"created":2000}},"parts":[{"id":"prt_2","messageID":"msg_2","sessionID":"ses_1","type":"tool","callID":"c1","state":{"status":"running"}}]}
`; got != want {
		t.Errorf("first:\n%s", got)
	}
	for _, c := range []struct{ name, script, want string }{
		{"nothing new", ``, ``},
		{"a message that is still being written", `update part set data = '{"type":"tool","callID":"c1","state":{"status":"running","metadata":{"output":"12"}}}' where id = 'prt_2'`, ``},
		{"a transaction that is not committed", `begin; delete from message`, ``},
		{"one that is rolled back", `rollback`, ``},
		{
			"a message that ended", `update message set data = '{"role":"assistant","time":{"created":2000,"completed":2500}}' where id = 'msg_2'`,
			`{"row":"msg_2","version":2,"finishes":true,"message":{"id":"msg_2","sessionID":"ses_1","role":"assistant","time":{"created":2000,"completed":2500}},"parts":[{"id":"prt_2","messageID":"msg_2","sessionID":"ses_1","type":"tool","callID":"c1","state":{"status":"running","metadata":{"output":"12"}}}]}` + "\n",
		},
		{"a message that was taken back", `delete from message where id = 'msg_2'; delete from part where message_id = 'msg_2'`, `{"row":"msg_2","version":3,"removed":true,"after":"msg_1"}` + "\n"},
		{"still", ``, ``},
		{
			"data that is not JSON", `insert into message values ('msg_3', 'ses_1', 3000, 3000, 'torn {'), ('msg_4', 'ses_1', 3001, 3001, '{}')`,
			`{"row":"msg_3","message":{"id":"msg_3","sessionID":"ses_1","data":"torn {"},"parts":[]}` + "\n" + `{"row":"msg_4","message":{"id":"msg_4","sessionID":"ses_1"},"parts":[]}` + "\n",
		},
	} {
		if c.script != "" {
			w.exec(c.script)
		}
		before := w.files()
		if got := w.update(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		if after := w.files(); after != before {
			t.Errorf("%s: the client's files changed:\n%s%s", c.name, before, after)
		}
	}
}

// TestSessions: a session's last change is that of its last message, and its parent is known.
func TestSessions(t *testing.T) {
	w := newWorld(t)
	check := func() {
		t.Helper()
		before := w.files()
		list, err := opencode.Client().Database.List(w.path)
		if err != nil || len(list) != 2 || list[0].Changed.Unix() != 6000 || list[0].Bytes != 175 || list[1].Parent != "ses_1" || list[1].Cwd != "/home/ada/shop" {
			t.Errorf("%+v, %v", list, err)
		}
		if after := w.files(); after != before {
			t.Errorf("the client's files changed:\n%s%s", before, after)
		}
	}
	check()
	if err := w.client.Close(); err != nil {
		t.Fatal(err)
	}
	check() // without its client, and without a write-ahead log
}

// TestUnreadable: one sentence says what is wrong with a database.
func TestUnreadable(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		code   archive.Code
		want   string
	}{
		"a newer form": {`insert into migration values ('20270101000000_v3', 1); alter table message rename to messages`, archive.CodeInvalid, "20270101000000_v3"},
		"no migration": {`drop table migration; drop table part`, archive.CodeInvalid, "version unknown"},
		"locked":       {`pragma journal_mode = delete; begin exclusive; update session set slug = ''`, archive.CodeBusy, "is locked by its client"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.exec(c.script)
			_, err := opencode.Client().Database.List(w.path)
			var told *archive.Error
			if !errors.As(err, &told) || told.Code != c.code || !strings.Contains(told.Msg, c.want) {
				t.Errorf("%v", err)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "opencode.db")
	if err := os.WriteFile(path, []byte("not a database, but long enough to be taken for one"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, filepath.Join(t.TempDir(), "opencode.db")} {
		if _, err := opencode.Client().Database.List(path); err == nil {
			t.Errorf("%s was read", path)
		}
	}
}

// TestFolders: the files of older versions are the same lines.
func TestFolders(t *testing.T) {
	root := filepath.Join(t.TempDir(), "storage")
	for path, text := range map[string]string{
		"session/p1/ses_1.json":    `{"id":"ses_1","directory":"/home/ada/shop","parentID":"ses_0","time":{"created":1000,"updated":2000}}`,
		"message/ses_1/msg_1.json": "{\n  \"id\": \"msg_1\",\n  \"role\": \"user\"\n}",
		"part/msg_1/prt_1.json":    `{"id":"prt_1","type":"text","text":"Round it."}`,
	} {
		path = filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(root, "session", "p1", "ses_1.json")
	if id, ok := opencode.Client().File(path); id != "ses_1" || !ok {
		t.Errorf("session %q, %t", id, ok)
	}
	f, err := opencode.Client().Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := io.ReadAll(f)
	if want := `{"row":"session","session":{"id":"ses_1","directory":"/home/ada/shop","parentID":"ses_0","time":{"created":1000,"updated":2000}}}
{"row":"msg_1","message":{"id":"msg_1","role":"user"},"parts":[{"id":"prt_1","type":"text","text":"Round it."}]}
`; err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	rows := opencode.New().Translate([]byte(strings.Split(string(got), "\n")[0]))
	if len(rows) == 0 || rows[0].Session != "ses_0" || rows[0].Agent != "ses_1" {
		t.Errorf("%+v", rows)
	}
}
