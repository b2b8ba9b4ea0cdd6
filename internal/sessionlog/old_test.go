package sessionlog

import (
	"bytes"
	"path/filepath"
	"testing"
)

// TestLogsOfEarlierVersions reads, damages, repairs and extends logs that a version wrote
// before damage was read around: format 1, with a blanked line, as appended and sealed.
func TestLogsOfEarlierVersions(t *testing.T) {
	for name, end := range map[string]string{"appended": "unfinished", "sealed": "unfinished line\n"} {
		t.Run(name, func(t *testing.T) {
			old := readFile(t, filepath.Join("testdata", "v1", name+".jsonl.zst"))
			var source []byte
			for i := range 4 {
				source = append(source, jsonLines(uint64(i), 700)...)
			}
			source = append(source, end...)
			want := bytes.Clone(source)
			from, to := lineAt(want, 2)
			blank(want, 0, []span{{int64(from), int64(to)}})
			path := logPath(t)
			writeFile(t, path, old)
			wantLog(t, path, want)

			_, parts := layoutOf(t, old)
			for _, p := range parts {
				for _, at := range []int64{(p.bodyFrom + p.footFrom) / 2, p.footFrom + 60} {
					b := bytes.Clone(old)
					b[at] ^= 4
					writeFile(t, path, b)
					if _, err := Verify(t.Context(), path); err == nil {
						t.Fatalf("damage at byte %d is not seen", at)
					}
					if _, err := Repair(t.Context(), path, someHeader, bytes.NewReader(source)); err != nil {
						t.Fatal(err)
					}
					r, err := OpenReader(path)
					if err != nil {
						t.Fatal(err)
					}
					got := make([]byte, len(want))
					if n, err := r.ReadAt(got, 0); n < len(got) {
						t.Fatal(err)
					}
					// A damaged tombstone that is not applied yet is lost; its line is the source's.
					if !bytes.Equal(got, want) && (name != "appended" || !bytes.Equal(got, source)) {
						t.Fatalf("damage at byte %d: the repaired log differs at byte %d", at, differ(got, want))
					}
					closeLog(t, r)
				}
			}
			writeFile(t, path, old)
			build(t, path, []byte("more\n"))
			wantLog(t, path, append(want, "more\n"...))
		})
	}
}
