package capture

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"sort"
	"time"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
	"strandline/internal/state"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// A client can copy a transcript to a file under another session ID. The rows keep their
// UUIDs, by whose hashes a copy of a forgotten session is recognized.

// maxForgottenRows limits the hashes of a session. Of a longer one those are kept that
// are divisible by a power of two.
const maxForgottenRows = 8192

// ForgottenRows returns the hashes of the rows of a session's logs as bytes: the divisor,
// then the sorted hashes. It is empty if no log has a row with a UUID.
func (c *Capture) ForgottenRows(ctx context.Context, logs []sessionlog.Entry) ([]byte, error) {
	var rows []uint64
	for _, e := range logs {
		if e.Rel != "" {
			continue
		}
		log, err := sessionlog.OpenReader(e.Path)
		if err == nil {
			err = c.EachRow(ctx, log, 0, func(r transcript.Row, _ []byte) {
				if r.UUID != "" {
					rows = append(rows, xxhash.Sum64String(r.UUID))
				}
			})
			err = errors.Join(err, log.Close())
		}
		if code := archive.ErrorCode(err); err != nil && code != archive.CodeCorrupt && code != archive.CodeNotFound {
			return nil, err
		}
	}
	if len(rows) == 0 {
		return nil, nil
	}
	divisor := uint64(1)
	for ; len(rows) > maxForgottenRows; divisor *= 2 {
		rows = slices.DeleteFunc(rows, func(h uint64) bool { return h%(2*divisor) != 0 })
	}
	slices.Sort(rows)
	data := binary.LittleEndian.AppendUint64(nil, divisor)
	for _, h := range slices.Compact(rows) {
		data = binary.LittleEndian.AppendUint64(data, h)
	}
	return data, nil
}

// forgottenRows stores the ForgottenRows of sessions, one file each.
func (c *Capture) forgottenRows() state.Store {
	return state.Store{Dir: filepath.Join(c.Layout.Root, "forgotten-rows"), Sync: true}
}

// KeepForgottenRows stores the ForgottenRows of a session, unless they are empty.
func (c *Capture) KeepForgottenRows(session string, rows []byte) error {
	if len(rows) == 0 || c.forgottenRows().Has(session) {
		return nil
	}
	return c.forgottenRows().Write(session, rows)
}

// isForgottenCopy reports whether a transcript that has no log holds only rows of one
// forgotten session. A fork with other rows is not a copy. The hooks of each new session
// call it: its first row rules out nearly every forgotten session, one at a time.
func (c *Capture) isForgottenCopy(src Source) bool {
	names, err := c.forgottenRows().Names(time.Time{})
	if err != nil || len(names) == 0 {
		return false
	}
	f, _, err := c.open(src.Client, src.Path, nil)
	if err != nil {
		return false // the caller reports it
	}
	defer f.Close()
	var candidates []*forgottenSet
	first := true
	check := func(r transcript.Row) {
		switch {
		case r.UUID == "":
		case first:
			first = false
			candidates = c.forgottenWith(names, r.UUID)
		default:
			candidates = slices.DeleteFunc(candidates, func(s *forgottenSet) bool { return !s.covers(r.UUID) })
		}
	}
	in, common := bufio.NewReaderSize(f, 64<<10), c.ClientOf(src.Client).Common()
	for first || len(candidates) > 0 {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			claude.Rows(common(append(bytes.TrimRight(line, "\n"), '\n')), 0, check)
		}
		if errors.Is(err, io.EOF) {
			return slices.ContainsFunc(candidates, func(s *forgottenSet) bool { return s.found > 0 })
		}
		if err != nil {
			return false
		}
	}
	return false
}

// forgottenWith returns the forgotten sessions that a row can be of.
func (c *Capture) forgottenWith(names []string, uuid string) (sets []*forgottenSet) {
	for _, name := range names {
		data, err := c.forgottenRows().Read(name)
		if err != nil || len(data) <= 8 {
			continue
		}
		s := &forgottenSet{divisor: max(binary.LittleEndian.Uint64(data), 1), rows: data[8:]}
		if s.covers(uuid) {
			sets = append(sets, s)
		}
	}
	return sets
}

// forgottenSet is the stored rows of a forgotten session.
type forgottenSet struct {
	divisor uint64
	rows    []byte // sorted hashes
	found   int    // rows of a transcript that are among them
}

// covers reports whether a row can be one of the session.
func (s *forgottenSet) covers(uuid string) bool {
	h, n := xxhash.Sum64String(uuid), len(s.rows)/8
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(s.rows[8*i:]) }
	i := sort.Search(n, func(i int) bool { return at(i) >= h })
	found := i < n && at(i) == h
	if found {
		s.found++
	}
	return found || h%s.divisor != 0
}
