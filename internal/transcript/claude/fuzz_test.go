package claude

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"strandline/internal/archive"
)

func seed(f *testing.F) {
	for _, x := range fixtures(f) {
		x.transcripts(func(_ archive.Session, data []byte) {
			f.Add(data, 3)
			f.Add(data[:len(data)*2/3], 1)
		})
	}
	f.Add([]byte("{\"type\":\"user\",\"message\":\"\xff\\ud800\"}\n\x00\n"), 1)
}

// FuzzRead reads any bytes whole and in two pieces: the line count is right, and the
// rows are valid and the same.
func FuzzRead(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		data = data[:bytes.LastIndexByte(data, '\n')+1]
		lines := bytes.Count(data, []byte("\n"))
		whole, pieces := newStore(), newStore()
		whole.read(t, base, nil, data)
		pieces.read(t, base, nil, cutAt(data, cut)...)
		if whole.session.Lines != lines {
			t.Fatalf("%d lines, want %d", whole.session.Lines, lines)
		}
		if a, b := whole.dump(), pieces.dump(); a != b {
			t.Fatalf("cut after line %d:\n%s", cut, firstDifference(b, a))
		}
		invariants(t, whole)
	})
}

// FuzzBlocks reads the blocks of any bytes.
func FuzzBlocks(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte, first int) {
		last := first
		for _, b := range Blocks(data, first) {
			if b.Line < last || !utf8.ValidString(b.Text) {
				t.Fatalf("block %+v after line %d", b, last)
			}
			last = b.Line
		}
		Peek(data)
	})
}

// FuzzState decodes any bytes as a state; an accepted state can be encoded.
func FuzzState(f *testing.F) {
	for _, x := range fixtures(f) {
		x.transcripts(func(base archive.Session, data []byte) {
			f.Add(newStore().read(f, base, nil, data).State)
		})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var st state
		if !st.decode(data) {
			return
		}
		once := st.encode()
		var again state
		if !again.decode(once) || !bytes.Equal(once, again.encode()) {
			t.Fatalf("state %x does not survive", once)
		}
	})
}
