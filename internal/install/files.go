package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"strandline/internal/archive"
	"strandline/internal/state"
)

const (
	// maxSettings is the size limit of a settings file in bytes.
	maxSettings = 16 << 20
	// maxLinks is the most symbolic links in a row, as on Linux.
	maxLinks = 40
)

// resolveTarget follows symbolic links from path to the settings file, which need
// not exist. Users link it to a dotfiles repository.
func resolveTarget(path string) (string, error) {
	for range maxLinks {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		link := ""
		if err == nil {
			link, err = os.Readlink(path)
		}
		if err != nil {
			return "", unreadable(filepath.Dir(path), err)
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	return "", archive.Invalid(path+" is a symbolic link to itself", "replace it by a file")
}

// readSettings reads a settings file. It returns nil without an error for a missing
// file, and a non-nil slice for an empty one.
func readSettings(path string) ([]byte, error) {
	data, err := state.ReadRegular(path, maxSettings)
	if _, bad := errors.AsType[state.BadFile](err); bad {
		return nil, archive.Invalid(path+" is not a settings file", "move it out of the way")
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	return data, nil
}

func unreadable(path string, err error) error {
	return denied("the settings cannot be read", err, "check the permissions of "+path)
}

// writeSettings atomically replaces a settings file and keeps its mode.
func writeSettings(p Plan, beforeRename func() error) error {
	hint := writeHint(filepath.Dir(p.Target))
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(p.Target); err == nil {
		mode = info.Mode().Perm()
		if mode&0o200 == 0 {
			return denied(p.Target+" is read-only", nil, "make it writable, or add the hooks by hand as --dry-run prints them")
		}
	}
	if err := os.MkdirAll(filepath.Dir(p.Target), 0o700); err != nil {
		return denied("the settings cannot be written", err, hint)
	}
	err := replaceFile(p.Target, p.After, mode, func() error {
		if err := beforeRename(); err != nil {
			return err
		}
		return unchanged(p)
	})
	if err != nil && archive.ErrorCode(err) != archive.CodeBusy {
		return denied("the settings cannot be written", err, hint)
	}
	return err
}

// unchanged returns an error with CodeBusy if the file changed since the plan was
// made. The client writes it, too.
func unchanged(p Plan) error {
	now, err := readSettings(p.Target)
	if err != nil {
		return err
	}
	if !sameFile(now, p.Before) {
		return &archive.Error{Code: archive.CodeBusy, Msg: p.Path + " is being changed by another program", Hint: "run the command again"}
	}
	return nil
}

// removeSettings deletes a file that init created, and its folder if init created
// that, too.
func removeSettings(p Plan) error {
	if err := unchanged(p); err != nil {
		return err
	}
	if err := os.Remove(p.Target); err != nil {
		return denied("the settings file cannot be removed", err, "check the permissions of "+filepath.Dir(p.Target))
	}
	if p.record.CreatedDir {
		// Remove fails if the folder is not empty.
		_ = os.Remove(filepath.Dir(p.Target))
	}
	return nil
}

// replaceFile writes a temporary file, calls check, and renames the file to path.
func replaceFile(path string, data []byte, mode fs.FileMode, check func() error) (err error) {
	// The name is fixed, so that the next attempt removes the file of a crashed one.
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".strandline.tmp")
	if err := state.Remove(temp); err != nil {
		return fmt.Errorf("replace file: %w", err)
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("replace file: %w", err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = check()
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return fmt.Errorf("replace file: %w", errors.Join(err, state.Remove(temp)))
	}
	return nil
}
