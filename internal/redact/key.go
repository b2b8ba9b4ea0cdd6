package redact

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"strandline/internal/archive"
	"strandline/internal/state"
)

const (
	keyFile = "redaction.key"
	keySize = 32
)

// LoadKey returns the key stored in dir. The first call creates it: 32 random
// bytes in a file with mode 0600, in a folder with mode 0700. Concurrent processes
// get the same key. After an error the caller may use EphemeralKey, with which
// equal secrets have equal placeholders within one process only.
func LoadKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, keyFile)
	key, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := createKey(dir, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, keyError("cannot create the redaction key "+path, err)
	}
	return readKey(path) // another process may have created it
}

// EphemeralKey returns a random key without storing it.
func EphemeralKey() []byte {
	key := make([]byte, keySize)
	rand.Read(key) // never fails
	return key
}

// readKey reads the key. It returns fs.ErrNotExist unwrapped.
func readKey(path string) ([]byte, error) {
	key, err := state.ReadRegular(path, 1<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err != nil:
		return nil, keyError("cannot read the redaction key "+path, err)
	case len(key) != keySize:
		return nil, &archive.Error{
			Code: archive.CodeCorrupt,
			Msg:  fmt.Sprintf("the redaction key %s has %d bytes instead of %d", path, len(key), keySize),
			Hint: "move the file away; the next run creates a new key, with which secrets get other placeholders",
		}
	}
	return key, nil
}

// createKey writes a new key to a temporary file and links it into place. It
// returns fs.ErrExist if another process was first.
func createKey(dir, path string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, keyFile+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if err := writeKey(tmp); err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), path); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// The file system has no hard links. A concurrent process may read an incomplete
	// file and report a corrupt key once.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return writeKey(f)
}

func writeKey(f *os.File) error {
	_, err := f.Write(EphemeralKey())
	return errors.Join(err, f.Sync(), f.Close())
}

func keyError(msg string, err error) error {
	e := &archive.Error{Code: archive.CodeInternal, Msg: msg, Err: err}
	e.Hint = "make its folder readable and writable for yourself; until then placeholders differ between runs"
	if errors.Is(err, fs.ErrPermission) {
		e.Code = archive.CodeDenied
	}
	return e
}
