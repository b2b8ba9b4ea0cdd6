package state

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// MaxLogSize is the size in bytes above which the log file is renamed to
// "<name>.1" before the next write.
const MaxLogSize = 1 << 20

// LogFile appends to a log file. It opens the file at the first write, so that a
// run without errors creates nothing, and drops writes that fail.
type LogFile struct {
	Path string
	file *os.File
}

// Write implements io.Writer. It never returns an error.
func (w *LogFile) Write(p []byte) (int, error) {
	if w.file == nil && w.open() != nil {
		return len(p), nil //nolint:nilerr // a program must not fail because it cannot log
	}
	_, _ = w.file.Write(p)
	return len(p), nil
}

func (w *LogFile) open() error {
	if err := os.MkdirAll(filepath.Dir(w.Path), 0o700); err != nil {
		return err
	}
	if info, err := os.Stat(w.Path); err == nil && info.Size() > MaxLogSize {
		_ = os.Rename(w.Path, w.Path+".1") // another process may have renamed it already
	}
	f, err := os.OpenFile(w.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	w.file = f
	return err
}

// LogEntry is one line of the log file, as slog.JSONHandler writes it.
type LogEntry struct {
	Time  time.Time `json:"time"`
	Level string    `json:"level"`
	Msg   string    `json:"msg"`
	Error string    `json:"error"`
	Event string    `json:"event"`
}

// RecentErrors reads the newest n errors and warnings since a time, oldest first.
// A missing file has none. It skips lines that are not log entries.
func RecentErrors(path string, since time.Time, n int) ([]LogEntry, error) {
	var all []LogEntry
	for _, p := range []string{path + ".1", path} {
		f, err := os.Open(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read log file: %w", err)
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 4*MaxLogSize)
		for lines.Scan() {
			var e LogEntry
			if json.Unmarshal(lines.Bytes(), &e) == nil && !e.Time.IsZero() && !e.Time.Before(since) && e.Level != "INFO" {
				all = append(all, e)
			}
		}
		if err := errors.Join(lines.Err(), f.Close()); err != nil {
			return nil, fmt.Errorf("read log file: %w", err)
		}
	}
	return all[max(len(all)-n, 0):], nil
}
