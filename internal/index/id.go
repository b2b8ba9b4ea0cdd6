package index

import (
	"strandline/internal/archive"
)

// An ID numbers a passage:
//
//	session number | sequence within the session | 1 if a sub-agent's | kind
//	           ...   26 bits                       1 bit                3 bits
//
// Full-text search answers with such numbers only, so what most filters need is
// in them. A session's passages are neighbours, newer ones behind older ones.
type ID int64

// Where a number holds what, in bits from its right.
const (
	KindBits     = 3
	KindMask     = "7" // of these bits, in a query
	agentBit     = 1 << KindBits
	SeqShift     = KindBits + 1
	SessionShift = SeqShift + 26
)

// IDShape tells package lexical where a number holds what.
func IDShape() Shape { return Shape{Session: SessionShift, Place: SeqShift} }

// NewID makes the number of a passage from that of its session, its sequence
// there, whether it is of a sub-agent, and its kind.
func NewID(session, seq int64, agent bool, kind archive.PassageKind) ID {
	id := session<<SessionShift | seq<<SeqShift | KindCode(kind)
	if agent {
		id |= agentBit
	}
	return ID(id)
}

// Session is the number of the passage's session.
func (d ID) Session() int64 { return int64(d) >> SessionShift }

// Seq is the passage's sequence within its session.
func (d ID) Seq() int64 { return int64(d) >> SeqShift & (1<<(SessionShift-SeqShift) - 1) }

// Agent reports whether the passage is of a sub-agent.
func (d ID) Agent() bool { return d&agentBit != 0 }

// KindCode is the code of the passage's kind.
func (d ID) KindCode() int64 { return int64(d) & (1<<KindBits - 1) }

// SessionRange returns the first and the last number that a session's passages
// can have.
func SessionRange(session int64) (lo, hi int64) {
	return session << SessionShift, (session+1)<<SessionShift - 1
}

// KindCode is the code of a kind. It and KindOf must not change for kinds that exist: indexes hold them.
// 0 stands for kinds of the future.
func KindCode(k archive.PassageKind) int64 {
	switch k {
	case archive.KindPrompt:
		return 1
	case archive.KindReply:
		return 2
	case archive.KindCommand:
		return 3
	case archive.KindEdit:
		return 4
	case archive.KindOutput:
		return 5
	case archive.KindSummary:
		return 6
	}
	return 0
}

// KindOf is the kind that a code stands for.
func KindOf(code int64) archive.PassageKind {
	return [1 << KindBits]archive.PassageKind{
		1: archive.KindPrompt, 2: archive.KindReply, 3: archive.KindCommand,
		4: archive.KindEdit, 5: archive.KindOutput, 6: archive.KindSummary,
	}[code]
}
