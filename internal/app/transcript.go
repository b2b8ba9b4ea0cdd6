package app

import "io"

// Transcript is the exact bytes of a session's transcript, open for reading.
type Transcript struct {
	Session string // full id
	Bytes   interface {
		io.ReaderAt
		io.Closer
	}
	Size int64
}
