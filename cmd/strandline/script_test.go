package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"strandline/bench/synth"
	"strandline/internal/capture"
	"strandline/internal/state"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"strandline": main, "nobody": asNobody})
}

// testServer is the variable with the address of a PostgreSQL for tests, set by
// scripts/postgres.sh.
const testServer = "STRANDLINE_TEST_POSTGRES"

// dropSchema drops the scripts' schema in PostgreSQL.
func dropSchema(t *testing.T, schema string) {
	t.Helper()
	dsn := os.Getenv(testServer)
	if dsn == "" {
		return
	}
	conn, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE"); err != nil {
		t.Error(err)
	}
}

// The scripts specify the command line. Each runs the program as a user or the
// client does, in separate folders.
func TestScripts(t *testing.T) {
	helper := &modelHelper{dir: t.TempDir()}
	schema := fmt.Sprintf("scripts_%d", os.Getpid())
	t.Cleanup(func() { dropSchema(t, schema) })
	testscript.Run(t, testscript.Params{
		Dir:       filepath.Join("testdata", "script"),
		Condition: func(cond string) (bool, error) { return helper.condition(t.Context(), cond) },
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Values[servingKey{}] = new(serving)
			env.Values[heldKey{}] = new([]*state.Lock)
			for k, v := range map[string]string{
				"HOME":               home,
				"STRANDLINE_HOME":    filepath.Join(env.WorkDir, "archive"),
				"CLAUDE_CONFIG_DIR":  filepath.Join(home, ".claude"),
				"CLAUDE_PROJECT_DIR": "",
				"PROJECTS":           filepath.Join(home, ".claude", "projects"),
				"A":                  "7f3a12cd-0000-4000-8000-000000000001",
				"B":                  "9b1c44ee-0000-4000-8000-000000000002",
				"NO_COLOR":           "1",
				"USER":               "ann",
				"POSTGRES":           os.Getenv(testServer),
				// Each test run has separate tables.
				"STRANDLINE_POSTGRES_SCHEMA": schema,
				// Background maintenance would outlive a test. The script about it
				// enables it.
				"STRANDLINE_LIFECYCLE_AUTO": "false",
				"TZ":                        "UTC",
			} {
				env.Setenv(k, v)
			}
			return os.MkdirAll(filepath.Join(home, ".claude", "projects"), 0o700)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"synth":    cmdSynth,
			"payload":  cmdPayload,
			"known":    cmdKnown,
			"chop":     cmdChop,
			"fifo":     cmdFifo,
			"readonly": cmdReadonly,
			"mode":     cmdMode,
			"relocate": cmdRelocate,
			"until":    cmdUntil,
			"await":    cmdAwait,
			"note":     cmdNote,
			"age":      cmdAge,
			"append":   cmdAppend,
			"damage":   cmdDamage,
			"hold":     cmdHold,
			"unhold":   cmdUnhold,
			"long":     cmdLong,
			"status":   cmdStatus,
			"talk":     cmdTalk,
			"endpoint": cmdEndpoint,
			"onnx":     helper.cmdOnnx,
			"serve":    cmdServe,
			"unserve":  cmdUnserve,
			"ask":      cmdAsk,
			"client":   cmdClient,
			"sql":      cmdSQL,
		},
	})
}

// synth SESSION TURNS FILE appends so many turns of a session to a file. A file that holds
// the session's first turns is continued.
func cmdSynth(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: synth SESSION TURNS FILE")
	}
	turns, err := strconv.Atoi(args[1])
	ts.Check(err)
	path := ts.MkAbs(args[2])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	before, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		ts.Check(err)
	}
	earlier := bytes.Count(before, []byte(`"subtype":"turn_duration"`))
	whole, err := synthesized(args[0], earlier+turns)
	ts.Check(err)
	more, continued := bytes.CutPrefix(whole, before)
	if !continued {
		more, err = synthesized(args[0], turns)
		ts.Check(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	ts.Check(err)
	_, err = f.Write(more)
	ts.Check(err)
	ts.Check(f.Close())
}

// client NAME FILE copies the sample transcript of a client to a file. client NAME FILE LIST
// makes one JSON of its lines: an object with the messages in LIST, or for - their array.
func cmdClient(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 && len(args) != 3 {
		ts.Fatalf("usage: client NAME FILE [LIST]")
	}
	sample, err := os.ReadFile(filepath.Join("..", "..", "internal", "client", args[0], "testdata", "session.jsonl"))
	ts.Check(err)
	if len(args) == 3 {
		sample, err = oneJSON(sample, args[2])
		ts.Check(err)
	}
	path := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	ts.Check(os.WriteFile(path, sample, 0o600))
}

// sql DATABASE SCRIPT runs a script of statements, as a client would. "client:NAME" is the
// sample of a client.
func cmdSQL(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: sql DATABASE SCRIPT")
	}
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	db, err := sql.Open("sqlite", path)
	ts.Check(err)
	var script string
	if name, ok := strings.CutPrefix(args[1], "client:"); ok {
		data, err := os.ReadFile(filepath.Join("..", "..", "internal", "client", name, "testdata", "database.sql"))
		ts.Check(err)
		script = string(data)
	} else {
		script = ts.ReadFile(args[1])
	}
	_, err = db.Exec(script)
	ts.Check(errors.Join(err, db.Close()))
}

func oneJSON(lines []byte, list string) ([]byte, error) {
	session, messages := map[string]any{}, []any{}
	for line := range bytes.Lines(lines) {
		row := map[string]any{}
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, err
		}
		if row["role"] != nil || row["message"] != nil {
			messages = append(messages, row)
		} else {
			maps.Copy(session, row)
		}
	}
	if list == "-" {
		return json.MarshalIndent(messages, "", "  ")
	}
	session[list] = messages
	return json.MarshalIndent(session, "", "  ")
}

// synthesized returns the transcript of a session with so many turns.
func synthesized(session string, turns int) ([]byte, error) {
	var out bytes.Buffer
	s := synth.New(&out, synth.Options{
		Session: session, Cwd: "/home/dev/shop", Branch: "main", Version: "2.1.0", Model: "claude-opus-5-5",
		Start: time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC), Seed: uint64(len(session)) + uint64(session[0]), Context: 12000,
	})
	s.Begin()
	for i := range turns {
		s.Prompt(fmt.Sprintf("Make payment retry %d wait longer, the gateway bans us", i))
		s.Say(fmt.Sprintf("I set maxBackoff%d to 4500 ms because the gateway bans clients that retry within a second.", i))
		call := s.Use("Bash", synth.Row{}.Str("command", fmt.Sprintf("go test ./pay -run TestRetry%d", i)))
		s.Respond()
		s.Answer(call, fmt.Sprintf("Exit code 1\n--- FAIL: TestRetry%d\nretry_test.go:41: waited 0s", i), true, nil)
		edit := s.Use("Edit", synth.Row{}.Str("file_path", "/home/dev/shop/pay/retry.go").Str("old_string", "wait(i)").Str("new_string", "wait(1 << i)"))
		s.Respond()
		s.Answer(edit, "The file was updated.", false, synth.Row{}.Str("filePath", "/home/dev/shop/pay/retry.go"))
		s.Say("The retry doubles now.")
		s.Respond()
		s.EndTurn()
		s.Wait(time.Minute)
	}
	return out.Bytes(), s.Err()
}

// long SESSION WORD FILE writes a session with a command whose output exceeds what
// is indexed, with the word in its middle.
func cmdLong(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: long SESSION WORD FILE")
	}
	var out bytes.Buffer
	s := synth.New(&out, synth.Options{
		Session: args[0], Cwd: "/home/dev/shop", Branch: "main", Version: "2.1.0", Model: "claude-opus-5-5",
		Start: time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC), Seed: 7, Context: 12000,
	})
	s.Begin()
	s.Prompt("List the whole folder")
	call := s.Use("Bash", synth.Row{}.Str("command", "ls -R"))
	s.Respond()
	filler := strings.Repeat("vendor/module/file.go\n", 2000)
	s.Answer(call, filler+args[1]+"\n"+filler, false, nil)
	s.EndTurn()
	ts.Check(s.Err())
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[2])), 0o700))
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), out.Bytes(), 0o600))
}

// payload EVENT SESSION [KEY=VALUE...] writes a hook's payload into the file
// "payload".
func cmdPayload(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: payload EVENT SESSION [KEY=VALUE...]")
	}
	fields := []string{
		fmt.Sprintf("%q: %q", "session_id", args[1]),
		fmt.Sprintf("%q: %q", "transcript_path", filepath.Join(ts.Getenv("PROJECTS"), "-home-dev-shop", args[1]+".jsonl")),
		fmt.Sprintf("%q: %q", "cwd", "/home/dev/shop"),
		fmt.Sprintf("%q: %q", "hook_event_name", args[0]),
	}
	for _, kv := range args[2:] {
		k, v, _ := strings.Cut(kv, "=")
		fields = append(fields, fmt.Sprintf("%q: %q", k, v))
	}
	ts.Check(os.WriteFile(ts.MkAbs("payload"), []byte("{"+strings.Join(fields, ",\n ")+"}\n"), 0o600))
}

// note SESSION TRANSCRIPT adds a session to the pending list, as a hook does.
func cmdNote(ts *testscript.TestScript, _ bool, args []string) {
	dir := filepath.Join(ts.Getenv("STRANDLINE_HOME"), "state", "pending")
	ts.Check(capture.Pending{Dir: dir}.Add(capture.PendingWork{Session: args[0], Transcript: ts.MkAbs(args[1])}))
}

// chop FILE N truncates a file by N bytes.
func cmdChop(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), info.Size()-n))
}

// mode PERMISSIONS FILE... fails unless every file has these permissions.
func cmdMode(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args[1:] {
		info, err := os.Stat(ts.MkAbs(name))
		ts.Check(err)
		if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[0] {
			ts.Fatalf("%s has mode %s, want %s", name, got, args[0])
		}
	}
}

// age DURATION FILE... sets files' modification times into the past.
func cmdAge(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: age DURATION FILE...")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	for _, name := range args[1:] {
		info, err := os.Stat(ts.MkAbs(name))
		ts.Check(err)
		then := info.ModTime().Add(-d)
		ts.Check(os.Chtimes(ts.MkAbs(name), then, then))
	}
}

// append FILE MORE appends the content of MORE to FILE.
func cmdAppend(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_WRONLY, 0)
	ts.Check(err)
	_, err = f.WriteString(ts.ReadFile(args[1]))
	ts.Check(errors.Join(err, f.Close()))
}

// damage FILE [OFFSET] inverts the byte at the offset, by default the middle one. FILE may
// be a pattern for the first such file.
func cmdDamage(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	if found, err := filepath.Glob(path); err == nil && len(found) > 0 {
		path = found[0]
	}
	data, err := os.ReadFile(path)
	ts.Check(err)
	at := len(data) / 2
	if len(args) > 1 {
		at, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
	data[at] ^= 0xff
	ts.Check(os.WriteFile(path, data, 0o600))
}

// heldKey is the key of the script's locks.
type heldKey struct{}

// hold LOCK holds a lock until unhold or the end of the script.
func cmdHold(ts *testscript.TestScript, _ bool, args []string) {
	wait, cancel := context.WithTimeout(context.Background(), time.Minute) // a process in the background may hold it
	defer cancel()
	lock, err := state.WaitLock(wait, ts.MkAbs(args[0]), false)
	ts.Check(err)
	locks, _ := ts.Value(heldKey{}).(*[]*state.Lock)
	*locks = append(*locks, lock)
	ts.Defer(func() { cmdUnhold(ts, false, nil) })
}

// unhold releases all held locks.
func cmdUnhold(ts *testscript.TestScript, _ bool, _ []string) {
	locks, _ := ts.Value(heldKey{}).(*[]*state.Lock)
	for _, lock := range *locks {
		ts.Check(lock.Release())
	}
	*locks = nil
}

// status CODE ARGUMENTS... runs strandline and fails unless it exits with the
// code. Its output is available as after exec.
func cmdStatus(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec("strandline", args[1:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("strandline %s: exit code %d, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// relocate FILE DIR [DAY] changes a transcript's working directory to DIR, and the day of
// its rows to DAY.
func cmdRelocate(ts *testscript.TestScript, _ bool, args []string) {
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	dir := filepath.ToSlash(ts.MkAbs(args[1]))
	data = bytes.ReplaceAll(data, []byte("/home/dev/shop"), []byte(dir))
	if len(args) > 2 {
		data = bytes.ReplaceAll(data, []byte("2026-11-01T"), []byte(args[2]+"T"))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o600))
}

// known SESSION FILE writes the conversation that the plugin would send for a
// session into the file "known.json".
func cmdKnown(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: known SESSION FILE")
	}
	path := filepath.Join(ts.Getenv("PROJECTS"), "-home-dev-shop", args[0]+".jsonl")
	head := fmt.Sprintf(`{"session":%q,"transcript":%q,"cwd":"/home/dev/shop",`, args[0], path)
	ts.Check(os.WriteFile(ts.MkAbs("known.json"), []byte(head+strings.TrimPrefix(ts.ReadFile(args[1]), "{")), 0o600))
}

// until PATTERN ARGS... runs strandline with ARGS until its output matches, to wait
// for a background process. The script's deadline limits it.
func cmdUntil(ts *testscript.TestScript, _ bool, args []string) {
	pattern := regexp.MustCompile(args[0])
	for range 1000 {
		// It may fail while the background process holds a lock.
		if ts.Exec("strandline", args[1:]...) == nil && pattern.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("no output matched %s", args[0])
}

// await FILE waits until a background process has created a file, ! await FILE until one
// has removed it.
func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	for range 1000 {
		if _, err := os.Stat(ts.MkAbs(args[0])); (err == nil) != neg {
			return
		}
		ts.Check(ts.Exec("strandline", "version"))
	}
	ts.Fatalf("%s stays as it is", args[0])
}
