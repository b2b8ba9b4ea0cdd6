package sessionlog

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"
)

// TestRealTranscripts appends real transcripts in pieces of every size, as hooks do, and
// reads them back byte for byte, before and after sealing.
func TestRealTranscripts(t *testing.T) {
	files := transcripts(t)
	if len(files) == 0 {
		t.Skip("STRANDLINE_EVAL_DATA names no folder with transcripts")
	}
	if testing.Short() {
		files = files[:min(10, len(files))]
	}
	var raw, small, sealed int64
	for i, file := range files {
		want := readFile(t, file)
		rnd := rand.New(rand.NewPCG(uint64(i), 9))
		m := &memFile{}
		for done := 0; done < len(want); {
			l, err := openMem(m, len(m.b))
			if err != nil {
				t.Fatal(err)
			}
			n := min(1+rnd.IntN(1<<(4+rnd.IntN(17))), len(want)-done)
			add(t, l, want[done:done+n])
			done += n
			if Compare(bytes.NewReader(want), int64(len(want)), l.Position()) == Rewritten {
				t.Fatalf("%s: not recognised at byte %d", file, done)
			}
		}
		path := logPath(t)
		writeFile(t, path, m.b)
		wantLog(t, path, want)
		rep, err := Seal(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
		wantLog(t, path, want)
		raw, small, sealed = raw+rep.Raw, small+rep.Before, sealed+rep.After
	}
	t.Logf("%d transcripts, %d bytes: ratio %.2f as appended, %.2f sealed", len(files), raw, float64(raw)/float64(small), float64(raw)/float64(sealed))
}
