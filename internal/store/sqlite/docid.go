package sqlite

import (
	"strandline/internal/archive"
	"strandline/internal/store/lexical"
)

// A docID numbers a passage, in the table passages and in words:
//
//	session number | sequence within the session | 1 if a sub-agent's | kind
//	           ...   26 bits                       1 bit                3 bits
//
// Full-text search answers with such numbers only, so what most filters need is
// in them. A session's passages are neighbours, newer ones behind older ones.
type docID int64

const (
	kindBits     = 3
	kindMask     = "7" // of these bits, in a query
	agentBit     = 1 << kindBits
	seqShift     = kindBits + 1
	sessionShift = seqShift + 26
)

// shape tells package lexical where a number holds what.
var shape = lexical.Shape{Session: sessionShift, Place: seqShift} //nolint:gochecknoglobals // never changed; a constant of struct type

func newDocID(session, seq int64, agent bool, kind archive.PassageKind) docID {
	id := session<<sessionShift | seq<<seqShift | kindCode(kind)
	if agent {
		id |= agentBit
	}
	return docID(id)
}

func (d docID) session() int64  { return int64(d) >> sessionShift }
func (d docID) seq() int64      { return int64(d) >> seqShift & (1<<(sessionShift-seqShift) - 1) }
func (d docID) agent() bool     { return d&agentBit != 0 }
func (d docID) kindCode() int64 { return int64(d) & (1<<kindBits - 1) }

// sessionRange returns the first and the last number that a session's passages
// can have.
func sessionRange(session int64) (lo, hi int64) {
	return session << sessionShift, (session+1)<<sessionShift - 1
}

// kindCode and kindOf must not change for kinds that exist: indexes hold them.
// 0 stands for kinds of the future.
func kindCode(k archive.PassageKind) int64 {
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

func kindOf(code int64) archive.PassageKind {
	return [1 << kindBits]archive.PassageKind{
		1: archive.KindPrompt, 2: archive.KindReply, 3: archive.KindCommand,
		4: archive.KindEdit, 5: archive.KindOutput, 6: archive.KindSummary,
	}[code]
}
