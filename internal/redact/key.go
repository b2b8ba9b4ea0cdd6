package redact

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"strandline/internal/archive"
)

const (
	keyFile = "redaction.key"
	keySize = 32
)

// LoadKey returns the key kept in dir, and makes one at the first call: 32
// random bytes in a file with mode 0600 in a folder with mode 0700. Processes
// that start together agree on one key. On error the caller may go on with
// EphemeralKey, which makes equal secrets look equal within one process only.
func LoadKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, keyFile)
	key, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := createKey(dir, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, keyError("cannot create the redaction key "+path, err)
	}
	return readKey(path) // the first process's key, whoever that was
}

// EphemeralKey returns a fresh random key that is stored nowhere.
func EphemeralKey() []byte {
	key := make([]byte, keySize)
	rand.Read(key) // never fails
	return key
}

// readKey returns fs.ErrNotExist as it is, so that LoadKey can create the key.
func readKey(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, keyError("cannot read the redaction key "+path, err)
	}
	key, err := os.ReadFile(path)
	if err != nil {
		return nil, keyError("cannot read the redaction key "+path, err)
	}
	if len(key) != keySize {
		return nil, &archive.Error{
			Code: archive.CodeCorrupt,
			Msg:  fmt.Sprintf("the redaction key %s has %d bytes instead of %d", path, len(key), keySize),
			Hint: "move it away; a new one is made, and secrets then get other placeholders than before",
		}
	}
	return key, nil
}

// createKey writes a new key under a temporary name and links it to its place,
// which fails with fs.ErrExist when another process was first.
func createKey(dir, path string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, keyFile+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(EphemeralKey())
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), path); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return createExclusive(path)
}

// createExclusive is for file systems without hard links. Another process may
// see the file before it is whole, and then reports a corrupt key once.
func createExclusive(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(EphemeralKey())
	return errors.Join(err, f.Sync(), f.Close())
}

func keyError(msg string, err error) error {
	code := archive.CodeInternal
	if errors.Is(err, fs.ErrPermission) {
		code = archive.CodeDenied
	}
	return &archive.Error{
		Code: code,
		Msg:  msg,
		Hint: "make its folder readable and writable for you; until then placeholders differ from run to run",
		Err:  err,
	}
}
