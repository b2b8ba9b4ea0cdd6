package sessionlog

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Version is the version of the format that this package writes, and the newest that it
// reads.
const Version = 1

// The kinds of a log's source, for Header.Kind.
const (
	KindTranscript = "transcript" // a session's main transcript
	KindAgent      = "agent"      // a sub-agent's transcript
	KindSide       = "side"       // another file of a session
	KindJournal    = "journal"    // a month of the journal
)

// Header holds the facts about a log that are in no transcript. It is written once, when
// the log is created; a later Open returns the stored one.
type Header struct {
	Format     int             `json:"format"` // version of the format, set by Open
	Client     string          `json:"client,omitempty"`
	Session    string          `json:"session,omitempty"`
	Agent      string          `json:"agent,omitempty"`
	Slug       string          `json:"slug,omitempty"`   // the client's folder name of the project
	Source     string          `json:"source,omitempty"` // path of the source
	Kind       string          `json:"kind,omitempty"`   // one of the Kind constants
	Cwd        string          `json:"cwd,omitempty"`
	Project    archive.Project `json:"project,omitzero"`
	Created    time.Time       `json:"created,omitzero"`
	Generation int             `json:"generation,omitempty"` // 1 unless the source was rewritten
}

const (
	magicHeader    = 0x184D2A58
	magicFooter    = 0x184D2A59
	magicTombstone = 0x184D2A5A

	headerTag    = "SLH"
	headerFixed  = 8 + 4 + 8 // frame header, tag and version, sum
	maxHeaderLen = 1 << 20
)

var (
	errHeaderTorn    = errors.New("unfinished header")
	errHeaderForeign = errors.New("not a session log")
	errHeaderNewer   = errors.New("written by a newer version")
	errHeaderLost    = errors.New("records without a header")
)

// encodeHeader returns the header frame.
func encodeHeader(h Header) ([]byte, error) {
	h.Format = Version
	js, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode log header: %w", err)
	}
	if len(js) > maxHeaderLen-headerFixed {
		return nil, archive.Invalid("the facts about this source do not fit into a log's header", "")
	}
	return headerFrame(js), nil
}

// headerFrame returns the header frame that holds js.
func headerFrame(js []byte) []byte {
	b := make([]byte, 0, headerFixed+len(js))
	b = binary.LittleEndian.AppendUint32(b, magicHeader)
	b = binary.LittleEndian.AppendUint32(b, uint32(headerFixed-8+len(js)))
	b = append(b, headerTag...)
	b = append(b, Version)
	b = binary.LittleEndian.AppendUint64(b, xxhash.Sum64(js))
	return append(b, js...)
}

// readHeader returns the header's JSON and the file offset after the header. Its errors
// are the errHeader values or those of r. errHeaderTorn means that the file holds no
// data, so the header may be written again. With errHeaderLost the offset is the start of
// the first record, or 0 if that is unknown.
func readHeader(r io.ReaderAt, size int64) (js []byte, start int64, err error) {
	js, start, err = parseHeader(r, size)
	if !errors.Is(err, errHeaderTorn) && !errors.Is(err, errHeaderForeign) && !errors.Is(err, errHeaderNewer) || size <= headerFixed {
		return js, start, err
	}
	// A valid footer proves that the file is a log and that its header is damaged.
	if !(chain{r, 0}).hasRecord(size) {
		return nil, 0, err
	}
	c := Reader{chain: chain{r, 0}, size: size}
	if first, found, serr := c.scanForward(rootRecord(0)); serr != nil {
		return nil, 0, serr
	} else if found && first.depth == 1 {
		start = first.bodyOff()
	}
	return nil, start, errHeaderLost
}

func parseHeader(r io.ReaderAt, size int64) (js []byte, start int64, err error) {
	b := make([]byte, min(size, 1024))
	if err := readFull(r, b, 0); err != nil {
		return nil, 0, err
	}
	switch {
	case !startsLikeHeader(b):
		return nil, 0, errHeaderForeign
	case len(b) < headerFixed || b[11] < Version:
		return nil, 0, errHeaderTorn
	case b[11] > Version:
		return nil, 0, errHeaderNewer
	}
	n := int64(binary.LittleEndian.Uint32(b[4:])) + 8
	if n < headerFixed || n > maxHeaderLen || n > size {
		return nil, 0, errHeaderTorn
	}
	if n > int64(len(b)) {
		b = make([]byte, n)
		if err := readFull(r, b, 0); err != nil {
			return nil, 0, err
		}
	}
	js = b[headerFixed:n]
	if binary.LittleEndian.Uint64(b[12:]) != xxhash.Sum64(js) {
		return nil, 0, errHeaderTorn
	}
	return js, n, nil
}

// startsLikeHeader reports whether b may be left of a header by a crash: some of its
// first bytes, then nothing or zeros.
func startsLikeHeader(b []byte) bool {
	b = bytes.TrimRight(b[:min(len(b), 11)], "\x00")
	magic := binary.LittleEndian.AppendUint32(nil, magicHeader)[:min(len(b), 4)]
	return bytes.HasPrefix(b, magic) && (len(b) <= 8 || strings.HasPrefix(headerTag, string(b[8:])))
}

// readFull fills b from offset off; an early end is io.ErrUnexpectedEOF.
func readFull(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	switch {
	case n == len(b):
		return nil
	case err == nil, errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	return err
}

// decodeHeader reads the JSON of a header with a valid checksum. It does not use
// encoding/json, whose reflection takes longer than reading the one or two
// headers that a hook needs.
//
// A field of an unexpected type, as a later version may write it, is skipped.
func decodeHeader(js []byte) Header {
	var h Header
	_ = text.NewJSONReader(js).Decode(&h) // see above
	return h
}
