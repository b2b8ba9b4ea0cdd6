package index

import (
	"strings"

	"strandline/internal/archive"
)

// ID numbers a passage:
//
//	session number | sequence within the session | 1 if a sub-agent's | kind
//	           ...   26 bits                       1 bit                3 bits
//
// Full-text search returns such numbers only, so most filters can be applied without
// reading rows. A session's passages have adjacent IDs, and newer ones larger IDs.
type ID int64

// The bits of an ID, counted from the lowest.
const (
	KindBits     = 3
	kindMask     = "7" // of these bits, in a query
	agentBit     = 1 << KindBits
	SeqShift     = KindBits + 1
	SessionShift = SeqShift + 26
)

// IDShape returns the Shape of an ID.
func IDShape() Shape { return Shape{Session: SessionShift, Place: SeqShift} }

// NewID returns the ID of a passage: seq is its sequence number within its session,
// agent says whether the session is a sub-agent's.
func NewID(session, seq int64, agent bool, kind archive.PassageKind) ID {
	id := session<<SessionShift | seq<<SeqShift | KindCode(kind)
	if agent {
		id |= agentBit
	}
	return ID(id)
}

// Session returns the number of the passage's session.
func (d ID) Session() int64 { return int64(d) >> SessionShift }

// Seq returns the passage's sequence number within its session.
func (d ID) Seq() int64 { return int64(d) >> SeqShift & (1<<(SessionShift-SeqShift) - 1) }

// Agent reports whether the passage is a sub-agent's.
func (d ID) Agent() bool { return d&agentBit != 0 }

// KindCode returns the code of the passage's kind.
func (d ID) KindCode() int64 { return int64(d) & (1<<KindBits - 1) }

// SessionRange returns the smallest and the largest ID that a session's passages can
// have.
func SessionRange(session int64) (lo, hi int64) {
	return session << SessionShift, (session+1)<<SessionShift - 1
}

// kinds lists the kinds by their codes, which stored IDs contain: it may only grow.
// Code 0 is for kinds unknown to this version.
func kinds() [1 << KindBits]archive.PassageKind {
	return [1 << KindBits]archive.PassageKind{
		1: archive.KindPrompt, 2: archive.KindReply, 3: archive.KindCommand,
		4: archive.KindEdit, 5: archive.KindOutput, 6: archive.KindSummary,
	}
}

// KindCode returns the code of a kind, 0 if it is unknown.
func KindCode(k archive.PassageKind) int64 {
	for code, kind := range kinds() {
		if kind == k {
			return int64(code)
		}
	}
	return 0
}

// KindOf returns the kind with a code, "" if there is none.
func KindOf(code int64) archive.PassageKind { return kinds()[code] }

// BaseID returns a session ID without its generation. Hooks know no generations:
// their facts belong to the name.
func BaseID(id string) string {
	base, _, _ := strings.Cut(id, "@")
	return base
}

// ValidID reports whether id can name a session, a sub-agent's session or an older
// generation of either.
func ValidID(id string) bool {
	h, err := archive.ParseHandle(id)
	return err == nil && h.Turn < 0 && h.Session == id
}
