package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// figures are what a day ended with. Sizes are in bytes.
type figures struct {
	day, sessions, forgotten, files int
	transcripts, logs, index, other int64 // other: vectors, state, journal
	server                          int64 // memory of the server
	descriptors                     int   // open in the server
}

const header = "day  sessions  forgotten  files  transcripts     logs    index    other   server  descriptors"

func (f figures) String() string {
	mb := func(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
	return fmt.Sprintf("%3d  %8d  %9d  %5d  %11s  %7s  %7s  %7s  %7s  %11d", f.day, f.sessions, f.forgotten, f.files,
		mb(f.transcripts), mb(f.logs), mb(f.index), mb(f.other), mb(f.server), f.descriptors)
}

// check brings the archive to rest and checks all of it.
func (w *world) check(ctx context.Context, day int, all bool, server *server) (f figures, err error) {
	for _, args := range [][]string{{"catchup"}, {"import"}, {"maintain"}} {
		r := w.command(ctx, []int{0, 5}, args...)
		for range 100 { // processes in the background may still hold a lock
			if r.code != 5 {
				break
			}
			r = w.command(ctx, []int{0, 5}, args...)
		}
	}
	w.command(ctx, []int{0}, "verify")
	f = figures{day: day, sessions: len(w.all)}
	for _, s := range w.all {
		if s.doubtful {
			s.doubtful, s.forgotten = false, w.command(ctx, []int{0, 3}, "export", s.id).code == 3
		}
		if all || s.age == 0 {
			w.compare(ctx, s)
		}
		if s.forgotten {
			f.forgotten++
		} else {
			f.transcripts += int64(len(s.want))
		}
	}
	err = filepath.WalkDir(w.path("archive"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		w.inspect(path, data)
		f.files++
		switch rel, _ := filepath.Rel(w.path("archive"), path); {
		case strings.HasPrefix(rel, "log"):
			f.logs += int64(len(data))
		case strings.HasPrefix(rel, "index"):
			f.index += int64(len(data))
		default:
			f.other += int64(len(data))
		}
		return nil
	})
	f.server, f.descriptors = usage(server.cmd.Process.Pid)
	return f, err
}

// compare exports a session's files and compares them with the written ones.
func (w *world) compare(ctx context.Context, s *session) {
	if s.forgotten {
		w.command(ctx, []int{3}, "export", s.id)
		return
	}
	if r := w.start(ctx, 0, "", "export", s.id); r.stdout != string(s.want) {
		w.fault("session %s: %d of %d bytes are exported, code %d: %s", s.id, len(r.stdout), len(s.want), r.code, r.stderr)
	}
	for name, data := range s.beside {
		if r := w.start(ctx, 0, "", "export", s.id, "--file", name); r.stdout != string(data) {
			w.fault("%s of session %s: %d of %d bytes are exported, code %d: %s", name, s.id, len(r.stdout), len(data), r.code, r.stderr)
		}
	}
}

// inspect checks that a file of the archive is no leftover and has nothing of a
// forgotten session.
func (w *world) inspect(path string, data []byte) {
	name := filepath.Base(path)
	if strings.HasPrefix(name, ".writing-") || strings.HasSuffix(name, ".tmp") || strings.HasPrefix(name, "index.db.new") {
		// A process in the background may just be writing it.
		if w.temporary[path]++; w.temporary[path] > 1 {
			w.fault("%s is left over since the day before", path)
		}
	}
	if name == "strandline.log" && bytes.Contains(data, []byte("panic")) {
		w.fault("the error log has a panic")
	}
	if strings.HasSuffix(name, ".zst") {
		r, err := zstd.NewReader(bytes.NewReader(data))
		if err == nil {
			data, err = io.ReadAll(r)
			r.Close()
		}
		if err != nil {
			w.fault("decompress %s: %v", path, err)
		}
	}
	for _, s := range w.all {
		if s.forgotten && bytes.Contains(data, []byte(s.secret)) {
			w.fault("%s has texts of the forgotten session %s", path, s.id)
		}
	}
}

// usage returns the memory and the open descriptors of a process, 0 where the system
// does not tell.
func usage(pid int) (memory int64, descriptors int) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if _, rest, ok := strings.Cut(string(status), "VmRSS:"); ok {
		kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		memory = kb << 10
	}
	list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return memory, len(list)
}

// bounded checks that memory and disk grow no faster than the stored data.
func (w *world) bounded(first, last figures) {
	const perByte = 8 // of transcript, all files together; short sessions index badly
	if all := last.logs + last.index + last.other; all > perByte*last.transcripts+16<<20 {
		w.fault("%d bytes on disk for %d bytes of transcripts", all, last.transcripts)
	}
	if limit := 2*first.server + 64<<20; last.server > limit {
		w.fault("the server's memory grew from %d to %d bytes", first.server, last.server)
	}
	if last.descriptors > first.descriptors+16 {
		w.fault("the server's descriptors grew from %d to %d", first.descriptors, last.descriptors)
	}
	if n := w.peak["hook"]; n > 64<<20 {
		w.fault("a hook used %d bytes of memory", n)
	}
}

// report prints how often each command ran and the most memory that it used.
func (w *world) report(out io.Writer) {
	fmt.Fprintln(out, "\ncommand     runs  most memory")
	for _, name := range slices.Sorted(maps.Keys(w.count)) {
		fmt.Fprintf(out, "%-10s %5d  %8.1f MB\n", name, w.count[name], float64(w.peak[name])/1e6)
	}
	fmt.Fprintf(out, "\n%d faults\n", len(w.bad))
}
