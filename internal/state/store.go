package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"strandline/internal/archive"
)

// Store keeps small values in the files of one folder, one file per key. A key is
// a session ID; the "~" of a sub-agent's ID becomes "." in the file name. A write
// replaces the whole file atomically.
type Store struct {
	Dir  string // "" disables the store: it is empty and ignores writes
	Ext  string // file name extension, such as ".json"
	Sync bool   // flush each value to disk
	// MaxAge is the age from which Take and Names treat a value as expired; 0
	// means never.
	MaxAge time.Duration
	// MaxSize is the most bytes read of a value; 0 means no limit. Longer JSON
	// is invalid.
	MaxSize int64
	Lock    string // file name of the lock that Update takes
}

// Path returns the file of a key, or "" if the key is invalid or the store
// disabled.
func (s Store) Path(key string) string {
	if s.Dir == "" || !ValidKey(key) {
		return ""
	}
	return filepath.Join(s.Dir, strings.Replace(key, "~", ".", 1)+s.Ext)
}

// ValidKey reports whether a string is the ID of a session, of a sub-agent's
// session or of an older generation of either.
func ValidKey(key string) bool {
	id, agent, _ := strings.Cut(strings.Replace(key, "@", "", 1), "~")
	return archive.ValidID(id) && archive.ValidID(id+agent)
}

// Has reports whether a key has a value, expired or not.
func (s Store) Has(key string) bool {
	_, err := os.Lstat(s.Path(key))
	return err == nil
}

// Read returns the value of a key, of any age. The error is fs.ErrNotExist if
// there is none.
func (s Store) Read(key string) ([]byte, error) {
	data, _, err := s.read(key)
	return data, err
}

// ReadJSON decodes the JSON value of a key. The error is fs.ErrNotExist if there
// is none.
func (s Store) ReadJSON(key string, value any) error {
	data, err := s.Read(key)
	if err == nil {
		err = json.Unmarshal(data, value)
	}
	if err != nil {
		return fmt.Errorf("read state of %q: %w", key, err)
	}
	return nil
}

func (s Store) read(key string) (data []byte, written time.Time, err error) {
	f, err := os.Open(s.Path(key)) // "" does not exist
	if err != nil {
		return nil, written, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, written, err
	}
	size := max(info.Size(), 0)
	if s.MaxSize > 0 {
		size = min(size, s.MaxSize)
	}
	data = make([]byte, size) // files are replaced, never changed in place
	_, err = io.ReadFull(f, data)
	return data, info.ModTime(), err
}

// Write replaces the value of a key.
func (s Store) Write(key string, data []byte) error {
	if s.Dir == "" {
		return nil
	}
	path := s.Path(key)
	if path == "" {
		return archive.Invalid(fmt.Sprintf("%q is not a session id", archive.Clip(key, 60)), "")
	}
	if err := replace(path, data, s.Sync); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return nil
}

// WriteJSON replaces the value of a key with the JSON of value.
func (s Store) WriteJSON(key string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode state of %q: %w", key, err)
	}
	return s.Write(key, data)
}

// Delete removes the value of a key, if there is one.
func (s Store) Delete(key string) error {
	if err := Remove(s.Path(key)); err != nil { // "" does not exist
		return fmt.Errorf("delete state: %w", err)
	}
	return nil
}

// Take reads and deletes the value of a key. It returns false if there is none or
// if it has expired.
func (s Store) Take(key string, now time.Time) (data []byte, ok bool, err error) {
	data, written, err := s.read(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err == nil {
		err = s.Delete(key)
	}
	if err != nil {
		return nil, false, fmt.Errorf("take state of %q: %w", key, err)
	}
	if s.expired(written, now) {
		data = nil
	}
	return data, data != nil, nil
}

func (s Store) expired(written, now time.Time) bool {
	return s.MaxAge > 0 && now.Sub(written) >= s.MaxAge
}

// Names returns the file names of all values in order, without their extension,
// and deletes expired values.
func (s Store) Names(now time.Time) ([]string, error) {
	return s.names(func(e os.DirEntry) bool {
		if s.MaxAge <= 0 {
			return true
		}
		info, err := e.Info()
		if err != nil {
			return false // deleted by another process
		}
		if s.expired(info.ModTime(), now) {
			_ = os.Remove(filepath.Join(s.Dir, e.Name())) // the next call tries again
			return false
		}
		return true
	})
}

// Recent returns the file names of the values written since a time, without their
// extension, in order.
func (s Store) Recent(since time.Time) ([]string, error) {
	return s.names(func(e os.DirEntry) bool {
		info, err := e.Info()
		return err == nil && !info.ModTime().Before(since)
	})
}

// names returns the file names of the values that pass, in order, without their extension.
func (s Store) names(passes func(os.DirEntry) bool) ([]string, error) {
	entries, err := s.entries()
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), s.Ext); ok && e.Type().IsRegular() && ValidKey(name) && passes(e) {
			names = append(names, name)
		}
	}
	return names, err
}

func (s Store) entries() ([]os.DirEntry, error) {
	entries, err := os.ReadDir(s.Dir) // "" does not exist
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list state: %w", err)
	}
	return entries, nil
}

// Sweep deletes the values and temporary files that were last written before a
// time. It returns the number of deleted files.
func (s Store) Sweep(before time.Time) (n int, err error) {
	entries, err := s.entries()
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		info, err := e.Info()
		own := strings.HasSuffix(e.Name(), s.Ext) || strings.HasPrefix(e.Name(), TempPrefix)
		if err != nil || !own || !info.Mode().IsRegular() || !info.ModTime().Before(before) {
			continue
		}
		if err := Remove(filepath.Join(s.Dir, e.Name())); err != nil {
			return n, fmt.Errorf("sweep state: %w", err)
		}
		n++
	}
	return n, nil
}

// Update changes the value of a key under the store's lock. change receives the
// old value, nil if there is none, and returns the new one; nil keeps the old.
// Update waits for the lock until ctx ends; the error is then ErrHeld.
func (s Store) Update(ctx context.Context, key string, change func(old []byte) ([]byte, error)) (err error) {
	if s.Path(key) == "" {
		return nil
	}
	lock, err := WaitLock(ctx, filepath.Join(s.Dir, s.Lock), false)
	if err != nil {
		return fmt.Errorf("update state: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	old, err := s.Read(key)
	if err != nil {
		old = nil // missing or unreadable: replaced
	}
	data, err := change(old)
	if err != nil || data == nil {
		return err
	}
	return s.Write(key, data)
}
