package capture_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"strandline/internal/capture"
)

// The first hook of a session looks whether it is a copy of one of 1,000 forgotten ones.
func BenchmarkForgottenCopy(b *testing.B) {
	const copied = "7f3a12cd-0001-4222-8333-000000000001"
	w := newWorld(b)
	rows := binary.LittleEndian.AppendUint64(nil, 1)
	for i := range uint64(2000) {
		rows = binary.LittleEndian.AppendUint64(rows, i<<50)
	}
	for i := range 1000 {
		if err := w.capture.KeepForgottenRows(fmt.Sprintf("%08x-0000-4000-8000-000000000000", i), rows); err != nil {
			b.Fatal(err)
		}
	}
	w.write(w.path(copied), []byte(`{"type":"user","uuid":"11111111-0000-4000-8000-000000000001","message":{"role":"user","content":"hello"}}`+"\n"))
	src := capture.Source{Path: w.path(copied), Session: copied}
	b.ReportAllocs()
	for b.Loop() {
		if isNew, err := w.capture.HasNewBytes(src, 10); err != nil || !isNew {
			b.Fatal(isNew, err)
		}
	}
}
