package sessionlog

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"strandline/internal/archive"
)

// fileError describes an operating system error of an operation on the file at path.
func fileError(doing, path string, err error) error {
	e := &archive.Error{Code: archive.CodeInternal, Msg: fmt.Sprintf("cannot %s %s", doing, filepath.Base(path)), Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Code = archive.CodeNotFound
	case isFull(err):
		e.Code, e.Hint = archive.CodeDenied, "the disk or a quota is full: free some space, the next hook or import logs the missing bytes"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		e.Code, e.Hint = archive.CodeDenied, "check the owner and permissions of "+filepath.Dir(path)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		e.Code, e.Hint = archive.CodeInvalid, "a file is where a folder is needed, or the reverse: "+path
	}
	return e
}

// repairHint is the hint for a damaged log.
const repairHint = "run `strandline verify --repair`: it takes the missing bytes from the client's file if that exists"

// headerError describes why a header cannot be read.
func headerError(path string, err error) error {
	name := filepath.Base(path)
	e := &archive.Error{Code: archive.CodeCorrupt, Err: err}
	switch {
	case errors.Is(err, errHeaderTorn):
		e.Code, e.Msg = archive.CodeNotFound, name+" is empty"
	case errors.Is(err, errHeaderNewer):
		e.Code, e.Msg, e.Hint = archive.CodeInvalid, name+" was written by a newer strandline", "update strandline on this machine"
	case errors.Is(err, errHeaderLost):
		e.Msg, e.Hint = "the beginning of "+name+" is damaged", repairHint
	case errors.Is(err, errHeaderForeign):
		e.Msg, e.Hint = name+" is not a session log", "move "+path+" away, the next hook or import starts a new log"
	default:
		return readError(path, err)
	}
	return e
}

// readError describes why a log cannot be read.
func readError(path string, err error) error {
	if _, known := errors.AsType[*archive.Error](err); known {
		return err
	}
	if _, damaged := errors.AsType[*errDamaged](err); damaged {
		return &archive.Error{Code: archive.CodeCorrupt, Msg: filepath.Base(path) + " is damaged", Err: err, Hint: repairHint}
	}
	return fileError("read the log", path, err)
}

func notRegular(path string) error {
	return archive.Invalid(filepath.Base(path)+" is not a regular file", "move "+path+" away")
}
