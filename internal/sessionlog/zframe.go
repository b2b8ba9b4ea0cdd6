package sessionlog

import (
	"encoding/binary"
	"errors"
)

const (
	magicZstd          = 0xFD2FB528
	magicSkippable     = 0x184D2A50
	magicSkippableMask = 0xFFFFFFF0
)

var (
	errFrameShort = errors.New("incomplete frame")
	errFrameBad   = errors.New("invalid frame")
)

// frameLen returns the length of the zstd or skippable frame at the start of b, from its
// block headers. The error is errFrameShort if b is too short for the frame, and
// errFrameBad if this package writes no such frame.
func frameLen(b []byte) (int, error) {
	if len(b) < 8 {
		return 0, errFrameShort
	}
	switch magic := binary.LittleEndian.Uint32(b); {
	case magic&magicSkippableMask == magicSkippable:
		return fits(b, 8+int64(binary.LittleEndian.Uint32(b[4:])))
	case magic != magicZstd:
		return 0, errFrameBad
	}
	desc := b[4]
	const contentChecksum, reserved, dictionary = 4, 8, 3
	if desc&contentChecksum == 0 || desc&(reserved|dictionary) != 0 {
		return 0, errFrameBad
	}
	single := desc&0x20 != 0
	n := int64(5)
	if !single {
		n++ // window descriptor
	}
	switch desc >> 6 { // size of the content size
	case 0:
		if single {
			n++
		}
	case 1:
		n += 2
	case 2:
		n += 4
	case 3:
		n += 8
	}
	for last := false; !last; {
		if n+3 > int64(len(b)) {
			return 0, errFrameShort
		}
		h := uint32(b[n]) | uint32(b[n+1])<<8 | uint32(b[n+2])<<16
		last = h&1 != 0
		n += 3
		switch h >> 1 & 3 {
		case 0, 2: // raw or compressed
			n += int64(h >> 3)
		case 1: // one byte, repeated
			n++
		default:
			return 0, errFrameBad
		}
	}
	return fits(b, n+4) // checksum
}

func fits(b []byte, n int64) (int, error) {
	switch {
	case n > 2*maxFrame:
		return 0, errFrameBad
	case n > int64(len(b)):
		return 0, errFrameShort
	}
	return int(n), nil
}
