package claude

import (
	"encoding/binary"
	"time"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/archive"
)

// Every identity is the hash of a tag and what makes a row that row. The tags
// are part of what an index holds: a new meaning takes a new tag.
const (
	tagMessage = "message" // id of an API response
	tagRow     = "row"     // uuid of a prompt, a summary or a response without id
	tagPrompt  = "prompt"  // prompt id and content
	tagMoment  = "moment"  // time and content of a prompt
	tagParent  = "parent"  // session and parent of a prompt
	tagTail    = "tail"    // session and last row of a turn
)

// identity hashes a tag and up to two texts, which are told apart by a NUL.
func identity(tag string, texts ...[]byte) uint64 {
	b := make([]byte, 0, 128)
	b = append(b, tag...)
	for _, t := range texts {
		b = append(b, 0)
		b = append(b, t...)
	}
	return xxhash.Sum64(b)
}

// place hashes a row of this session, given by the hash of its uuid.
func (r *Reader) place(tag string, uuid uint64) uint64 {
	return identity(tag, []byte(r.base.ID), binary.LittleEndian.AppendUint64(nil, uuid))
}

// hashOf hashes a uuid; a missing one gives 0.
func hashOf(uuid []byte) uint64 {
	if len(uuid) == 0 {
		return 0
	}
	return xxhash.Sum64(uuid)
}

// prepare classes the user rows and gives every row its identity. It returns the
// identities that the fold may ask for.
func (r *Reader) prepare() []uint64 {
	var keys []uint64
	for i := range r.scan.rows {
		row := &r.scan.rows[i]
		switch row.kind {
		case typeAssistant:
			switch {
			case len(row.messageID) > 0:
				row.key = identity(tagMessage, row.messageID)
			case len(row.uuid) > 0:
				row.key = identity(tagRow, row.uuid)
			default:
				continue
			}
			if n := len(keys); n == 0 || keys[n-1] != row.key {
				keys = append(keys, row.key)
			}
		case typeUser:
			row.class, row.text = r.scan.classifyUser(row)
			expands := row.class == classNone && row.meta && row.text != ""
			if row.class != classPrompt && row.class != classSummary && !expands {
				continue
			}
			if len(row.uuid) > 0 {
				row.key = identity(tagRow, row.uuid)
				keys = append(keys, row.key)
			}
			if row.class == classSummary {
				continue
			}
			for _, k := range [2]uint64{promptKey(row), momentKey(row)} {
				if k != 0 {
					keys = append(keys, k)
				}
			}
			parent := hashOf(row.parent)
			keys = append(keys, r.place(tagParent, parent), r.place(tagTail, parent))
		}
	}
	return keys
}

// promptKey identifies a prompt by its content and the client's prompt id, which
// alone would not do: local commands share it, and so does a whole fork.
func promptKey(row *row) uint64 {
	if len(row.promptID) == 0 {
		return 0
	}
	return identity(tagPrompt, row.promptID, []byte(row.text))
}

// momentKey identifies a prompt by its content and its time: a compaction that a
// plugin answered gives all its prompts the id of the newest one.
func momentKey(row *row) uint64 {
	if row.time.IsZero() || row.text == "" {
		return 0
	}
	return identity(tagMoment, []byte(row.time.UTC().Format(time.RFC3339Nano)), []byte(row.text))
}

// own records that this session is the first to hold an identity, unless some
// place is known to hold it.
func (r *Reader) own(key uint64, turn, step int) {
	if key == 0 {
		return
	}
	if _, taken := r.known[key]; taken {
		return
	}
	ref := archive.Ref{Session: r.base.ID, Turn: turn, Step: step}
	r.known[key] = ref
	r.out.Keys = append(r.out.Keys, archive.Identity{Key: key, Ref: ref})
}

// lookup returns the place that an identity was first seen at, if that is in
// another session or before the given place of this one. A later place comes
// from an index that has read these rows already, and means nothing.
func (r *Reader) lookup(key uint64, turn, step int) *archive.Ref {
	if key == 0 {
		return nil
	}
	ref, ok := r.known[key]
	if !ok {
		return nil
	}
	if ref.Session == r.base.ID && (ref.Turn > turn || ref.Turn == turn && ref.Step >= step) {
		return nil
	}
	return &ref
}

// promptCopy returns the prompt that row repeats, nil if it is new. A fork
// keeps the uuid. A compaction that a plugin answered copies prompts of its own
// session with new uuids but their time; the same words typed again are later
// than the boundary.
func (r *Reader) promptCopy(row *row) *archive.Ref {
	next := r.state.facts.turns
	if ref := r.lookup(row.key, next, -1); ref != nil {
		return ref
	}
	cut := &r.state.cut
	if !cut.copying || !row.time.IsZero() && row.time.After(cut.time) {
		return nil
	}
	if ref := r.lookup(promptKey(row), cut.turn+1, -1); ref != nil {
		return ref
	}
	return r.lookup(momentKey(row), cut.turn+1, -1)
}
