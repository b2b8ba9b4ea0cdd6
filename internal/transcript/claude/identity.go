package claude

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/archive"
)

// An identity is the hash of a tag and of the values that identify a row. Identities
// are stored in the index, so a tag never changes its meaning.
const (
	tagMessage = "message" // id of an API response
	tagRow     = "row"     // uuid of a prompt, a summary or a response without id
	tagPrompt  = "prompt"  // prompt id and content
	tagMoment  = "moment"  // time and content of a prompt
	tagParent  = "parent"  // session and parent of a prompt
	tagTail    = "tail"    // session and last row of a turn
)

// identity hashes a tag and values, separated by NULs; 0 if the first value is
// missing.
func identity(tag string, values ...[]byte) uint64 {
	if len(values[0]) == 0 {
		return 0
	}
	b := append(make([]byte, 0, 128), tag...)
	for _, v := range values {
		b = append(append(b, 0), v...)
	}
	return xxhash.Sum64(b)
}

// sessionKey hashes a row of this session, given by the hash of its uuid.
func (r *Reader) sessionKey(tag string, uuid uint64) uint64 {
	return identity(tag, []byte(r.base.ID), binary.LittleEndian.AppendUint64(nil, uuid))
}

// hashOf hashes a uuid; a missing one gives 0.
func hashOf(uuid []byte) uint64 {
	if len(uuid) == 0 {
		return 0
	}
	return xxhash.Sum64(uuid)
}

// identify classifies the user rows and sets the identity of every row. It returns
// the identities that the fold may look up. It stops when ctx ends.
func (r *Reader) identify(ctx context.Context) (keys []uint64) {
	for i := range r.scan.rows {
		if ctx.Err() != nil {
			return nil
		}
		switch row := &r.scan.rows[i]; row.kind {
		case typeAssistant:
			row.key = cmp.Or(identity(tagMessage, row.messageID), identity(tagRow, row.uuid))
			keys = append(keys, row.key)
		case typeUser:
			row.class, row.text = r.scan.classifyUser(row)
			expands := row.class == classNone && row.meta && row.text != ""
			if row.class != classPrompt && row.class != classSummary && !expands {
				continue
			}
			row.key = cmp.Or(identity(tagRow, row.messageID), identity(tagRow, row.uuid))
			keys = append(keys, row.key)
			if row.class != classSummary {
				parent := hashOf(row.parent)
				keys = append(keys, promptKey(row), momentKey(row), r.sessionKey(tagParent, parent), r.sessionKey(tagTail, parent))
			}
		}
	}
	return slices.Compact(slices.DeleteFunc(keys, func(k uint64) bool { return k == 0 }))
}

// promptKey identifies a prompt by its content and the client's prompt id, which
// is not unique: local commands share it, and so do the prompts of a fork.
func promptKey(row *row) uint64 { return identity(tagPrompt, row.promptID, []byte(row.text)) }

// momentKey identifies a prompt by its content and time. After a compaction by a
// plugin all prompts have the id of the newest one.
func momentKey(row *row) uint64 {
	if row.time.IsZero() || row.text == "" {
		return 0
	}
	return identity(tagMoment, []byte(row.time.UTC().Format(time.RFC3339Nano)), []byte(row.text))
}

// claim records this session as the first with an identity, unless the identity is
// known already.
func (r *Reader) claim(key uint64, turn, step int) {
	if _, taken := r.known[key]; taken || key == 0 {
		return
	}
	ref := archive.Ref{Session: r.base.ID, Turn: turn, Step: step}
	r.known[key] = ref
	r.out.Keys = append(r.out.Keys, archive.Identity{Key: key, Ref: ref})
}

// lookup returns where an identity was first seen, if that is in another session
// or before the given turn and step of this one. A later position is from an index
// that holds these rows already.
func (r *Reader) lookup(key uint64, turn, step int) *archive.Ref {
	ref, ok := r.known[key]
	if !ok || key == 0 {
		return nil
	}
	if ref.Session == r.base.ID && (ref.Turn > turn || ref.Turn == turn && ref.Step >= step) {
		return nil
	}
	return &ref
}

// promptCopy returns the prompt that a row copies, nil if it is new. A copy in a
// fork has the same uuid. A copy after a compaction by a plugin has a new uuid but
// its old time; the same text typed again is later than the boundary.
func (r *Reader) promptCopy(row *row) *archive.Ref {
	if ref := r.lookup(row.key, r.state.facts.Turns, -1); ref != nil {
		return ref
	}
	c := &r.state.compaction
	if !c.copying || !row.time.IsZero() && row.time.After(c.time) {
		return nil
	}
	if ref := r.lookup(promptKey(row), c.turn+1, -1); ref != nil {
		return ref
	}
	return r.lookup(momentKey(row), c.turn+1, -1)
}
