package embed

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestOnlyTheLatestAreRemembered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q")
	for i := range kept + 40 {
		remember(path, "m", fmt.Sprint(i), []float32{float32(i), 1})
		if i == kept { // asked again, it is the newest
			remember(path, "m", "20", []float32{20, 1})
		}
	}
	entries := load(path)
	if len(entries) != kept {
		t.Fatalf("%d queries are remembered, want %d", len(entries), kept)
	}
	for text, want := range map[string]bool{fmt.Sprint(kept + 39): true, "60": true, "20": true, "38": false, "0": false} {
		if v, ok := remembered(path, "m", text); ok != want || ok && fmt.Sprint(v[0]) != text {
			t.Errorf("%s: %v, %v", text, v, ok)
		}
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// A model whose vectors have another length now begins anew.
	remember(path, "m", "x", []float32{1, 2, 3})
	if entries := load(path); len(entries) != 1 || len(entries[0].v) != 3 {
		t.Errorf("%v", entries)
	}
}

func TestADamagedFileIsNone(t *testing.T) {
	good := encode([]entry{{keyOf("m", "a"), []float32{1, 2}}, {keyOf("m", "b"), []float32{3, 4}}})
	flipped := append([]byte(nil), good...)
	flipped[30] ^= 1
	for name, data := range map[string][]byte{
		"empty": nil, "truncated": good[:len(good)-9], "flipped": flipped, "another kind": []byte("STRVEC\r\n and some more of it"),
	} {
		path := filepath.Join(t.TempDir(), "q")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if entries := load(path); entries != nil {
			t.Errorf("%s: %v", name, entries)
		}
		remember(path, "m", "c", []float32{5, 6})
		if v, ok := remembered(path, "m", "c"); !ok || v[1] != 6 {
			t.Errorf("%s: not written anew: %v", name, v)
		}
	}
	// A folder that cannot be written to costs the memory, not the search.
	remember(t.TempDir()+"/no\x00folder/q", "m", "c", []float32{5, 6})
}

func FuzzDecode(f *testing.F) {
	f.Add(encode([]entry{{keyOf("m", "a"), []float32{1, 2}}}))
	f.Add([]byte(cacheMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := decode(data)
		if err != nil || len(entries) == 0 {
			return
		}
		if again := encode(entries); string(again) != string(data) {
			t.Errorf("%d bytes became %d", len(data), len(again))
		}
	})
}
