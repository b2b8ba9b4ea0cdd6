// Package logfile is where a program that must not print keeps its errors.
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

// MaxSize is the size in bytes at which the file is set aside as "<name>.1".
const MaxSize = 1 << 20

// Writer appends to a file that it opens at the first write, so that a run
// without errors touches nothing. A write that fails is dropped: there is nobody
// to tell.
type Writer struct {
	Path string
	file *os.File
}

// Write implements io.Writer and never fails.
func (w *Writer) Write(p []byte) (int, error) {
	if w.file == nil && w.open() != nil {
		return len(p), nil //nolint:nilerr // see the type's comment
	}
	_, _ = w.file.Write(p) // see the type's comment
	return len(p), nil
}

func (w *Writer) open() error {
	if err := os.MkdirAll(filepath.Dir(w.Path), 0o700); err != nil {
		return err
	}
	if info, err := os.Stat(w.Path); err == nil && info.Size() > MaxSize {
		_ = os.Rename(w.Path, w.Path+".1") // two at once: one of them wins, and the file goes on
	}
	f, err := os.OpenFile(w.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	w.file = f
	return err
}

// Close closes the file if it was opened.
func (w *Writer) Close() error {
	if w.file == nil {
		return nil
	}
	return w.file.Close()
}

// Entry is one logged error.
type Entry struct {
	Time    time.Time `json:"time"`
	Level   string    `json:"level"`
	Msg     string    `json:"msg"`
	Error   string    `json:"error"`
	Event   string    `json:"event"`
	Session string    `json:"session"`
}

// levelInfo marks what is worth a line and nobody's attention.
const levelInfo = "INFO"

// Recent reads the last errors and warnings, oldest first, at most n of them and
// none before since. A file that does not exist has none; lines that are no entries are
// passed over.
func Recent(path string, since time.Time, n int) ([]Entry, error) {
	var all []Entry
	for _, p := range []string{path + ".1", path} {
		f, err := os.Open(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read log file: %w", err)
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 4*MaxSize)
		for lines.Scan() {
			var e Entry
			if json.Unmarshal(lines.Bytes(), &e) == nil && !e.Time.IsZero() && !e.Time.Before(since) && e.Level != levelInfo {
				all = append(all, e)
			}
		}
		if err := errors.Join(lines.Err(), f.Close()); err != nil {
			return nil, fmt.Errorf("read log file: %w", err)
		}
	}
	if len(all) > n {
		all = all[len(all)-n:]
	}
	return all, nil
}
