#include "textflag.h"

// func within(words *byte, rows int, q *[8]uint64, limit int) (row, distance int)
//
// Six population counts for each row of sixteen bytes. The compiler would look
// before each whether the processor can count, and keep every register in memory
// for the case that it cannot.
TEXT ·within(SB), NOSPLIT, $0-48
	MOVQ words+0(FP), SI
	MOVQ rows+8(FP), CX
	MOVQ q+16(FP), AX
	MOVQ 0(AX), R8   // signs
	MOVQ 8(AX), R9
	MOVQ 16(AX), R10 // the weights' bits of value 1
	MOVQ 24(AX), R11
	MOVQ 32(AX), R12 // of value 2
	MOVQ 40(AX), R13
	MOVQ 48(AX), R14 // of value 4
	MOVQ 56(AX), R15
	TESTQ CX, CX
	JLE  none

next:
	MOVQ 0(SI), AX
	MOVQ 8(SI), BX
	XORQ R8, AX
	XORQ R9, BX
	MOVQ AX, DI
	MOVQ BX, DX
	ANDQ R14, DI
	ANDQ R15, DX
	POPCNTQ DI, DI
	POPCNTQ DX, DX
	ADDQ DX, DI
	ADDQ DI, DI
	MOVQ AX, DX
	ANDQ R12, DX
	POPCNTQ DX, DX
	ADDQ DX, DI
	MOVQ BX, DX
	ANDQ R13, DX
	POPCNTQ DX, DX
	ADDQ DX, DI
	ADDQ DI, DI
	ANDQ R10, AX
	ANDQ R11, BX
	POPCNTQ AX, AX
	POPCNTQ BX, BX
	ADDQ AX, DI
	ADDQ BX, DI
	CMPQ DI, limit+24(FP)
	JLE  found
	ADDQ $16, SI
	DECQ CX
	JNZ  next

none:
	MOVQ rows+8(FP), AX
	MOVQ AX, row+32(FP)
	MOVQ $0, distance+40(FP)
	RET

found:
	MOVQ rows+8(FP), AX
	SUBQ CX, AX
	MOVQ AX, row+32(FP)
	MOVQ DI, distance+40(FP)
	RET
