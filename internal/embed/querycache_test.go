package embed

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestLatestQueriesAreCached(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q")
	for i := range cacheEntries + 40 {
		queryCache{path, "m"}.put(fmt.Sprint(i), []float32{float32(i), 1})
		if i == cacheEntries { // repeated, it is the newest
			queryCache{path, "m"}.put("20", []float32{20, 1})
		}
	}
	entries := queryCache{path, "m"}.load()
	if len(entries) != cacheEntries {
		t.Fatalf("%d queries are cached, want %d", len(entries), cacheEntries)
	}
	for text, want := range map[string]bool{fmt.Sprint(cacheEntries + 39): true, "60": true, "20": true, "38": false, "0": false} {
		if v, ok := (queryCache{path, "m"}).get(text); ok != want || ok && fmt.Sprint(v[0]) != text {
			t.Errorf("%s: %v, %v", text, v, ok)
		}
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// Vectors of another length replace all others.
	queryCache{path, "m"}.put("x", []float32{1, 2, 3})
	if entries := (queryCache{path, "m"}).load(); len(entries) != 1 || len(entries[0].v) != 3 {
		t.Errorf("%v", entries)
	}
}

func TestDamagedCacheIsIgnored(t *testing.T) {
	good := encodeCache([]cacheEntry{{queryCache{model: "m"}.key("a"), []float32{1, 2}}, {queryCache{model: "m"}.key("b"), []float32{3, 4}}})
	flipped := append([]byte(nil), good...)
	flipped[30] ^= 1
	for name, data := range map[string][]byte{
		"empty": nil, "truncated": good[:len(good)-9], "flipped": flipped, "another kind": []byte("STRVEC\r\n and some more of it"),
	} {
		path := filepath.Join(t.TempDir(), "q")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if entries := (queryCache{path, "m"}).load(); entries != nil {
			t.Errorf("%s: %v", name, entries)
		}
		queryCache{path, "m"}.put("c", []float32{5, 6})
		if v, ok := (queryCache{path, "m"}).get("c"); !ok || v[1] != 6 {
			t.Errorf("%s: not rebuilt: %v", name, v)
		}
	}
	// A folder that cannot be written to is no error.
	queryCache{t.TempDir() + "/no\x00folder/q", "m"}.put("c", []float32{5, 6})
}

func FuzzDecode(f *testing.F) {
	f.Add(encodeCache([]cacheEntry{{queryCache{model: "m"}.key("a"), []float32{1, 2}}}))
	f.Add([]byte(cacheMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries := decodeCache(data)
		if len(entries) == 0 {
			return
		}
		if again := encodeCache(entries); string(again) != string(data) {
			t.Errorf("%d bytes became %d", len(data), len(again))
		}
	})
}
