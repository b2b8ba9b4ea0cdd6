package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
)

// Pack is what one file of an exchange between archives holds: pieces of logs and
// entries of the journal, all of one session. Its encoding is one zstd stream of a line of
// JSON and the pieces' bytes, so that "zstd -dc FILE | head -1" lists them.
type Pack struct {
	Format  int    `json:"format"` // 1
	Session string `json:"session"`
	// Forgot are the salts of the session's deleted turns and steps that the pieces do
	// not hold any more.
	Forgot []string               `json:"forgot,omitempty"`
	Parts  []Part                 `json:"parts,omitempty"`
	Facts  []archive.JournalEntry `json:"facts,omitempty"`
	Texts  [][]byte               `json:"-"` // bytes of the parts
}

// Part is a piece of a log: the source's bytes between two offsets. Checksums are SHA-256
// in hexadecimal of all bytes up to the offset.
type Part struct {
	Slug       string            `json:"slug"` // this, File and Rel as in sessionlog.Entry
	File       string            `json:"file"` // its Session
	Rel        string            `json:"rel,omitempty"`
	Generation int               `json:"generation"` // in the archive that wrote the pack
	Header     sessionlog.Header `json:"header"`
	From       int64             `json:"from"`
	To         int64             `json:"to"`
	Before     string            `json:"before"` // checksum up to From
	After      string            `json:"after"`  // checksum up to To
}

// Limits of a pack in bytes: of the text that is collected for one, of its decoded form,
// and of its head.
const (
	PackText    = 8 << 20
	maxPack     = 64 << 20
	packFormat  = 1
	maxPartSize = PackText
)

// Encode returns the encoding of a pack. Equal packs have equal encodings.
func (p Pack) Encode() ([]byte, error) {
	p.Format = packFormat
	head, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode a pack: %w", err)
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("start the compressor: %w", err)
	}
	defer enc.Close()
	return enc.EncodeAll(bytes.Join(append([][]byte{append(head, '\n')}, p.Texts...), nil), nil), nil
}

// DecodePack decodes a pack from another machine. Its parts are valid as names and sizes;
// Merge checks their bytes. The error is CodeCorrupt, or CodeInvalid for a newer format.
func DecodePack(data []byte) (p Pack, err error) {
	corrupt := func(err error) (Pack, error) {
		return Pack{}, &archive.Error{Code: archive.CodeCorrupt, Msg: "the file is damaged or not a pack", Err: err, Hint: "delete it, and push again from the machine that wrote it"}
	}
	dec, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPack))
	if err != nil {
		return corrupt(err)
	}
	defer dec.Close()
	raw, err := io.ReadAll(io.LimitReader(dec, maxPack))
	if err != nil {
		return corrupt(err)
	}
	head, rest, ok := bytes.Cut(raw, []byte{'\n'})
	if err := json.Unmarshal(head, &p); err != nil || !ok {
		return corrupt(err)
	}
	if p.Format != packFormat {
		return Pack{}, archive.Invalid(fmt.Sprintf("the pack has format %d", p.Format), "update strandline on this machine")
	}
	for _, part := range p.Parts {
		n := part.To - part.From
		if part.From < 0 || n <= 0 || n > maxPartSize || n > int64(len(rest)) {
			return corrupt(errors.New("a part has a wrong length"))
		}
		if err := part.check(); err != nil {
			return corrupt(err)
		}
		p.Texts, rest = append(p.Texts, rest[:n]), rest[n:]
	}
	if len(rest) > 0 {
		return corrupt(errors.New("bytes after the last part"))
	}
	return p, nil
}

// check fails unless the names in a part are those that this archive would give the log:
// then its path is in the folder of logs.
func (p Part) check() error {
	h, l := p.Header, sessionlog.Layout{}
	e := sessionlog.Entry{Client: h.Client, Slug: p.Slug, Session: p.File, Rel: p.Rel}
	// Older clients store sub-agents' transcripts beside the others.
	own := p.File == l.Name(h.Session) || h.Agent != "" && p.Rel == "" && strings.HasPrefix(p.File, agentPrefix)
	switch {
	case !own || !l.Valid(e):
		return errors.New("a part has an unsafe name")
	case !archive.ValidID(h.Session) || h.Agent != "" && !archive.ValidID(h.Agent):
		return errors.New("a part has an invalid session")
	case h.Kind == sessionlog.KindJournal || (h.Kind == sessionlog.KindSide) != (Source{Rel: p.Rel}).isSideFile():
		return errors.New("a part has the wrong kind")
	case p.Generation < 1:
		return errors.New("a part has no generation")
	}
	return nil
}
