// Command days simulates days of work with one archive: clients, hooks, compactions,
// imports, maintenance, deletions, searches and a server run in parallel, some of them
// are killed, and clients delete their old files. At the end of each day everything
// is checked: every log verifies, every transcript is exported byte for byte, nothing
// of a forgotten session is left, and memory and disk stay bounded. (Transcripts of
// earlier days are exported every tenth day and on the last one.) It prints one line a
// day and ends with 1 if a check failed.
//
//	go run ./bench/cmd/days -bin bin/strandline -for 1h
//	scripts/postgres.sh run go run ./bench/cmd/days -bin bin/strandline    with sync
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"strandline/bench/times"
)

func main() {
	var w world
	length := flag.Duration("for", time.Hour, "how long to run; the current day is finished")
	flag.StringVar(&w.program, "bin", "bin/strandline", "the program")
	flag.Uint64Var(&w.seed, "seed", uint64(time.Now().UnixNano()), "seed of all choices")
	flag.IntVar(&w.clients, "clients", 3, "clients at a time")
	flag.IntVar(&w.sessions, "sessions", 8, "sessions of a client a day")
	flag.StringVar(&w.postgres, "postgres", os.Getenv("STRANDLINE_TEST_POSTGRES"), "connection string of a PostgreSQL to sync with")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := w.run(ctx, *length)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "days:", err)
		os.Exit(1)
	}
}

// world is the simulated machine.
type world struct {
	program  string
	postgres string
	launcher string // runs the program and notes its peak memory
	seed     uint64
	clients  int
	sessions int

	dir  string
	env  []string
	runs atomic.Int64

	mu    sync.Mutex
	all   []*session       // those whose files the clients may have
	count map[string]int   // runs by command
	peak  map[string]int64 // most memory of a process by command, in bytes
	bad   []string         // what should not have happened

	temporary map[string]int // days that ended with a temporary file, by its path
}

// run simulates days until the time is over.
func (w *world) run(ctx context.Context, length time.Duration) (err error) {
	if w.program, err = filepath.Abs(w.program); err != nil {
		return fmt.Errorf("find the program: %w", err)
	}
	if w.dir, err = os.MkdirTemp("", "strandline-days-"); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() {
		if err == nil { // else it is left to look at
			err = os.RemoveAll(w.dir)
		}
	}()
	programs, err := times.Build(ctx, w.dir, w.program)
	if err != nil {
		return err
	}
	w.launcher = programs.Peak
	w.count, w.peak, w.temporary = map[string]int{}, map[string]int64{}, map[string]int{}
	w.env = append(os.Environ(), "HOME="+w.path("home"), "STRANDLINE_HOME="+w.path("archive"), "CLAUDE_CONFIG_DIR="+w.path("home/.claude"),
		"XDG_CONFIG_HOME="+w.path("config"), "XDG_DATA_HOME=", "CLAUDE_PROJECT_DIR=", "NO_COLOR=1",
		fmt.Sprintf("STRANDLINE_POSTGRES_SCHEMA=days_%d", os.Getpid()))
	fmt.Printf("seed %d, %d clients, %s, in %s\n\n%s\n", w.seed, w.clients, length, w.dir, header)
	server, err := w.serve(ctx)
	if err != nil {
		return err
	}
	defer server.end()
	var first, last figures
	start := time.Now()
	for day := 1; time.Since(start) < length && ctx.Err() == nil; day++ {
		w.day(ctx, day, server)
		all := day%10 == 0 || time.Since(start) >= length
		if last, err = w.check(ctx, day, all, server); err != nil {
			return err
		}
		if day == 1 {
			first = last
		}
		fmt.Println(last)
		w.night()
	}
	w.report(os.Stdout)
	w.bounded(first, last)
	if len(w.bad) > 0 {
		return fmt.Errorf("%d checks failed; the archive is left in %s", len(w.bad), w.dir)
	}
	return ctx.Err()
}

// day runs clients, upkeep and a reader of the server until the clients are done.
func (w *world) day(ctx context.Context, day int, server *server) {
	ctx, done := context.WithCancel(ctx)
	var clients, others sync.WaitGroup
	for i := range w.clients {
		clients.Go(func() { w.client(ctx, day, rand.New(rand.NewPCG(w.seed, uint64(day*100+i)))) })
	}
	others.Go(func() { w.upkeep(ctx, rand.New(rand.NewPCG(w.seed, uint64(day*100+98)))) })
	others.Go(func() { w.read(ctx, server, rand.New(rand.NewPCG(w.seed, uint64(day*100+99)))) })
	clients.Wait()
	done()
	others.Wait()
}

// night makes all files a day older, so that maintenance finds idle sessions, and lets
// the clients delete files of sessions that ended days ago.
func (w *world) night() {
	for _, root := range []string{w.path("archive/log"), w.path("archive/state"), w.path("home")} {
		_ = filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return nil //nolint:nilerr // it was deleted meanwhile
			}
			if info, err := e.Info(); err == nil {
				then := info.ModTime().Add(-24 * time.Hour)
				_ = os.Chtimes(path, then, then)
			}
			return nil
		})
	}
	for _, s := range w.all {
		if s.age++; s.age > keptDays && !s.forgotten {
			_ = errors.Join(os.Remove(s.file), os.RemoveAll(s.folder()))
		}
	}
}

// keptDays is how long the clients keep files.
const keptDays = 5

func (w *world) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

// fault notes what should not have happened.
func (w *world) fault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	w.bad = append(w.bad, text)
	fmt.Println("  FAULT", text)
}
