package transcript

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	_ "modernc.org/sqlite" // the driver

	"strandline/internal/archive"
)

// Database is a client's SQLite file that holds many sessions. The path of a session is
// the file's, "#" and the session's id. It is opened read-only.
//
// The archived lines of a session are one per row, or group of rows, of the database. A row that changed is
// archived again, with the number of its version; of one that was deleted, a line says so.
type Database struct {
	// Match reports whether a path is such a file, by its name.
	Match func(path string) bool
	// Version is SQL that returns the name of the file's form, for messages.
	Version string
	// Sessions is SQL that returns the id, the parent's id (of a sub-agent), the working
	// directory, the times of creation and of the last change, and about how many bytes, of
	// each session. The first one is used whose tables and columns exist.
	Sessions []string
	// Cwd returns the working directory of sessions without one by the file's path. Nil: none.
	Cwd func(path string) string
	// Rows calls put with each row of a session, in the order of the conversation: its
	// id and the members of the line's JSON object, without the braces. done is false
	// while the client is still writing it.
	Rows func(tx Query, session string, put func(id string, members []byte, done bool) error) error
}

// Stored is a session in a database.
type Stored struct {
	Path, ID, Parent, Cwd string
	Created, Changed      time.Time
	Bytes                 int64
}

// storedMark separates the path of a database and the id of a session.
const storedMark = "#"

// SplitStored returns the file and the session in the path of a session in a database; the
// path itself, and "", of any other file.
func SplitStored(path string) (file, session string) {
	dir, name := filepath.Split(path)
	name, session, _ = strings.Cut(name, storedMark)
	return dir + name, session
}

// Query is one transaction that reads a database.
type Query struct{ tx *sql.Tx }

// Each calls fn with each row of a query's result.
func (q Query) Each(fn func(Columns) error, query string, args ...any) error {
	rows, err := q.tx.QueryContext(context.Background(), query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	c := Columns{}
	if c.names, err = rows.Columns(); err != nil {
		return err
	}
	c.values = make([]any, len(c.names))
	into := make([]any, len(c.names))
	for i := range into {
		into[i] = &c.values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := fn(c); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Columns are those of one row.
type Columns struct {
	names  []string
	values []any
}

// Text returns a column as text; "" if it is NULL.
func (c Columns) Text(i int) string {
	switch v := c.values[i].(type) {
	case nil:
		return ""
	case []byte:
		return string(v)
	case string:
		return v
	}
	return fmt.Sprint(c.values[i])
}

// Time returns a column of seconds or milliseconds since 1970, or a text with a date; the
// zero time for any other.
func (c Columns) Time(i int) time.Time {
	if t, ok := c.values[i].(time.Time); ok {
		return t.UTC()
	}
	for _, form := range []string{time.RFC3339, time.DateTime} {
		if t, err := time.Parse(form, c.Text(i)); err == nil {
			return t.UTC()
		}
	}
	return time.UnixMilli(Milliseconds(c.Int(i))).UTC()
}

// Milliseconds returns a number of seconds or milliseconds since 1970 as milliseconds.
func Milliseconds(n int64) int64 {
	if n < 1e11 { // seconds until the year 5138
		return n * 1000
	}
	return n
}

// Int returns a column as a number; 0 if it is none.
func (c Columns) Int(i int) int64 {
	switch v := c.values[i].(type) {
	case int64:
		return v
	case float64:
		return int64(v)
	}
	return 0
}

// Object returns the columns from the first one on as a JSON object, except those that are
// NULL and those that are left out. A text that is JSON itself is a value, not a string.
func (c Columns) Object(first int, without ...string) []byte {
	out := []byte{'{'}
	for i, v := range c.values {
		if i < first || v == nil || slices.Contains(without, c.names[i]) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, String(c.names[i])...), ':')
		if b, ok := v.([]byte); ok {
			v = string(b)
		}
		if s, ok := v.(string); ok {
			out = append(out, JSON(s)...)
			continue
		}
		value, err := json.Marshal(v)
		if err != nil { // not a number
			value = String(fmt.Sprint(v))
		}
		out = append(out, value...)
	}
	return append(out, '}')
}

// JSON returns a text that is a JSON object or array as it is, in one line; any other one
// as a JSON string.
func JSON(s string) []byte {
	if len(s) > 1 && (s[0] == '{' || s[0] == '[') && json.Valid([]byte(s)) {
		return OneLine([]byte(s))
	}
	return String(s)
}

// OneLine returns a JSON value without newlines between its tokens.
func OneLine(value []byte) []byte {
	if !bytes.ContainsAny(value, "\r\n") {
		return value
	}
	var line bytes.Buffer
	if err := json.Compact(&line, value); err != nil {
		return String(string(value))
	}
	return line.Bytes()
}

// busyWait is how long a database that its client locks is waited for.
const busyWait = 500 * time.Millisecond

// errBegan reports that the client began to write a database while it was read without
// regard to writers.
var errBegan = errors.New("the client began to write")

// read runs fn in a transaction, which sees one state of the database. fn starts again if
// the client began to write meanwhile.
func (d *Database) read(path string, fn func(Query) error) error {
	err := d.readOnce(path, fn)
	if errors.Is(err, errBegan) {
		err = d.readOnce(path, fn)
	}
	return err
}

func (d *Database) readOnce(path string, fn func(Query) error) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") { // a Windows volume
		slashed = "/" + slashed
	}
	options := fmt.Sprintf("mode=ro&_pragma=busy_timeout(%d)&_pragma=query_only(1)", busyWait.Milliseconds())
	alone := !beingWritten(path)
	if alone { // else SQLite makes a write-ahead log, and leaves it
		options += "&immutable=1"
	}
	dsn := url.URL{Scheme: "file", Path: slashed, RawQuery: options}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	tx, err := db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
	if err == nil {
		defer func() { _ = tx.Rollback() }() // nothing was written
		err = fn(Query{tx})
	}
	if alone && beingWritten(path) {
		return errBegan
	}
	if err == nil {
		return nil
	}
	return d.explain(tx, path, err)
}

// beingWritten reports whether a process may have a database open.
func beingWritten(path string) bool {
	for _, suffix := range []string{"-wal", "-journal"} {
		if _, err := os.Stat(path + suffix); err == nil {
			return true
		}
	}
	return false
}

// explain names the version of a database that could not be read.
func (d *Database) explain(tx *sql.Tx, path string, err error) error {
	text := err.Error()
	var known *archive.Error
	switch {
	case errors.As(err, &known):
		return err
	case strings.Contains(text, "locked") || strings.Contains(text, "busy"):
		return &archive.Error{Code: archive.CodeBusy, Msg: "the database is locked by its client", Hint: "import it again later", Err: err}
	case !strings.Contains(text, noSuch):
		return fmt.Errorf("read %s: %w", path, err)
	}
	var version string
	if tx == nil || tx.QueryRowContext(context.Background(), d.Version).Scan(&version) != nil {
		version = "unknown"
	}
	return &archive.Error{
		Code: archive.CodeInvalid, Msg: fmt.Sprintf("the database has another form than expected (version %s)", cmp.Or(version, "unknown")), Err: err,
		Hint: "a newer strandline may read it",
	}
}

// List returns the sessions in a database.
func (d *Database) List(path string) (all []Stored, err error) {
	cwd := ""
	if d.Cwd != nil {
		cwd = d.Cwd(path)
	}
	err = d.read(path, func(q Query) (err error) {
		for _, query := range d.Sessions {
			all = nil
			err = q.Each(func(c Columns) error {
				all = append(all, Stored{
					Path: path + storedMark + c.Text(0), ID: StoredID(c.Text(0)), Parent: StoredID(c.Text(1)), Cwd: cmp.Or(c.Text(2), cwd),
					Created: c.Time(3), Changed: c.Time(4), Bytes: c.Int(5),
				})
				return nil
			}, query)
			if err == nil || !strings.Contains(err.Error(), noSuch) {
				break
			}
		}
		return err
	})
	return all, err
}

// noSuch is in SQLite's message about a table or column that does not exist.
const noSuch = "no such "

// StoredID returns the id of a session in the archive, in which some characters of the
// client's are not allowed.
func StoredID(session string) string {
	return strings.Map(func(r rune) rune {
		if r == '$' || r == '/' || r == ':' {
			return '.'
		}
		return r
	}, session)
}

// Open returns the lines of a session: those that are archived, which logged reads unless
// it is nil, and what the database has in addition.
func (d *Database) Open(path string, logged func() io.Reader) (*os.File, error) {
	f, err := TempFile(bytes.NewReader(nil))
	if err != nil {
		return nil, err
	}
	file, session := SplitStored(path)
	var known versions
	var more bytes.Buffer // rows that are new; those that are gone come before them
	out := bufio.NewWriter(f)
	err = d.read(file, func(q Query) error {
		known = versions{}
		more.Reset()
		out.Reset(f)
		if err := errors.Join(f.Truncate(0), rewind(f)); err != nil {
			return err
		}
		if logged != nil {
			if err := known.copy(out, logged()); err != nil {
				return err
			}
		}
		rows := 0
		err := d.Rows(q, session, func(id string, members []byte, done bool) error {
			rows++
			if old := known[id]; old != nil && old.seen { // the client's ids are not unique
				id += "." + strconv.Itoa(rows)
			}
			if logged == nil {
				return known.put(out, id, members, done)
			}
			return known.put(&more, id, members, done)
		})
		if err == nil && rows == 0 {
			err = fmt.Errorf("session %s is not in %s: %w", session, file, os.ErrNotExist)
		}
		return err
	})
	if err == nil {
		err = known.putRemoved(out)
	}
	if err == nil {
		_, err = more.WriteTo(out)
	}
	return finish(f, out, err)
}

func rewind(f io.Seeker) error {
	_, err := f.Seek(0, io.SeekStart)
	return err
}

// OpenRows returns the lines of a session whose rows are in other files than a database's.
func OpenRows(rows func(put func(id string, members []byte, done bool) error) error) (*os.File, error) {
	f, err := TempFile(bytes.NewReader(nil))
	if err != nil {
		return nil, err
	}
	known, out := versions{}, bufio.NewWriter(f)
	err = rows(func(id string, members []byte, done bool) error { return known.put(out, id, members, done) })
	return finish(f, out, err)
}

func finish(f *os.File, out *bufio.Writer, err error) (*os.File, error) {
	err = errors.Join(err, out.Flush())
	if err == nil {
		err = rewind(f)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// versions are the archived rows by id.
type versions map[string]*version

type version struct {
	number     int
	sum        uint64 // of the members
	place      int    // among the rows, by their first version
	unfinished bool
	seen       bool // in the database
	removed    bool
}

// add notes a row's first version.
func (v versions) add(id string) *version {
	one := &version{place: len(v)}
	v[id] = one
	return one
}

const (
	rowStart     = `{"row":"`
	versionStart = `"version":`
	unfinished   = `"unfinished":true,`
	finishes     = `"finishes":true,`
	removedRow   = `"removed":true`
)

// copy copies archived lines and notes their rows.
func (v versions) copy(out io.Writer, logged io.Reader) error {
	lines := bufio.NewReader(logged)
	for {
		line, err := lines.ReadBytes('\n')
		if _, werr := out.Write(line); werr != nil {
			return fmt.Errorf("copy archived lines: %w", werr)
		}
		v.note(line)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read archived lines: %w", err)
		}
	}
}

// note notes the row of a line, which put wrote. Other lines are ignored.
func (v versions) note(line []byte) {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte(rowStart))
	id, rest, quoted := bytes.Cut(rest, []byte(`",`))
	if !ok || !quoted {
		return
	}
	one := v[string(id)]
	if one == nil {
		one = v.add(string(id))
	}
	one.number = 1
	if after, ok := bytes.CutPrefix(rest, []byte(versionStart)); ok {
		digits, members, _ := bytes.Cut(after, []byte(","))
		n, _ := strconv.Atoi(string(digits)) // 0 if another program wrote it
		one.number, rest = max(n, 1), members
	}
	rest = bytes.TrimSuffix(bytes.TrimPrefix(rest, []byte(finishes)), []byte("}"))
	rest, one.unfinished = bytes.CutPrefix(rest, []byte(unfinished))
	one.sum, one.removed = xxhash.Sum64(rest), bytes.HasPrefix(rest, []byte(removedRow))
}

// put writes a row, unless it is archived as it is.
func (v versions) put(out io.Writer, id string, members []byte, done bool) error {
	old, sum := v[id], xxhash.Sum64(members)
	if old == nil {
		old = v.add(id)
	}
	old.seen = true
	if old.number > 0 && (!done || old.sum == sum && !old.unfinished) {
		return nil
	}
	flag := ""
	switch {
	case !done:
		flag = unfinished
	case old.unfinished:
		flag = finishes
	}
	old.sum, old.unfinished = sum, !done
	old.number++
	return writeRow(out, id, old.number, flag, members)
}

// putRemoved writes a line for each archived row that the database no longer has, with the
// last row before it that it has.
func (v versions) putRemoved(out io.Writer) error {
	ids := slices.SortedFunc(maps.Keys(v), func(a, b string) int { return cmp.Compare(v[a].place, v[b].place) })
	after := ""
	for _, id := range ids {
		old := v[id]
		if old.seen {
			after = id
		}
		if old.seen || old.removed {
			continue
		}
		if err := writeRow(out, id, old.number+1, "", []byte(removedRow+`,"after":"`+after+`"`)); err != nil {
			return err
		}
	}
	return nil
}

func writeRow(out io.Writer, id string, version int, flag string, members []byte) error {
	number := ""
	if version > 1 {
		number = versionStart + strconv.Itoa(version) + ","
	}
	_, err := fmt.Fprintf(out, "%s%s\",%s%s%s}\n", rowStart, id, number, flag, members)
	return err
}

// StoredRow is what each line of a database's session begins with.
type StoredRow struct {
	Row     string `json:"row"`
	Version int    `json:"version"` // 0: the first
	// Unfinished: the client was still writing it; the next version finishes it.
	Unfinished bool   `json:"unfinished"`
	Finishes   bool   `json:"finishes"`
	Removed    bool   `json:"removed"`
	After      string `json:"after"` // of a removed row: the one before it
}
