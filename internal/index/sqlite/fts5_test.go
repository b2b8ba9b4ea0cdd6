package sqlite_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"strandline/internal/index/sqlite"
)

// The blocks here are written by hand, as documented in fts5_index.c. Another test compares
// real blocks with the results of MATCH.

func TestSegments(t *testing.T) {
	second := []byte("\x00\x00\x00\x02" + "\xff\x00\x00\x01" + // cookie, version
		"\x02\x03\x85\x00" + // two levels, three segments, a counter of two bytes
		"\x00\x01" + "\x07\x01\x03\x05\x06\x00\x00\x09" +
		"\x00\x02" + "\x01\x01\x02\x01\x02\x02\x05\x20" + "\x02\x04\x81\x00\x03\x04\x00\x00\x10")
	want := []sqlite.Segment{
		{ID: 7, First: 1, Last: 3}, {ID: 1, First: 1, Last: 2, Tombstones: 2}, {ID: 2, First: 4, Last: 128},
	}
	if have, err := sqlite.Segments(second); err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("segments %v, %v", have, err)
	}
	first := []byte("\x00\x00\x00\x02" + "\x01\x01\x05" + "\x00\x01" + "\x07\x01\x03")
	if have, err := sqlite.Segments(first); err != nil || !reflect.DeepEqual(have, want[:1]) {
		t.Errorf("without deleted rowids: %v, %v", have, err)
	}
	if have, err := sqlite.Segments([]byte("\x00\x00\x00\x00\x00\x00\x00")); err != nil || len(have) > 0 {
		t.Errorf("an empty index: %v, %v", have, err)
	}
	merged := []byte("\x00\x00\x00\x02" + "\x02\x02\x05" + "\x01\x01" + "\x04\x00\x00" + "\x00\x01" + "\x07\x01\x03")
	if have, err := sqlite.Segments(merged); err != nil || !reflect.DeepEqual(have, want[:1]) {
		t.Errorf("with an empty segment of a merge: %v, %v", have, err)
	}
	for name, block := range map[string][]byte{
		"nothing": nil, "a cookie": second[:4], "no end": second[:len(second)-1], "more bytes": append(slices.Clone(second), 0),
		"no first leaf":     []byte("\x00\x00\x00\x02" + "\x01\x01\x05" + "\x00\x01" + "\x07\x00\x03"),
		"last before first": []byte("\x00\x00\x00\x02" + "\x01\x01\x05" + "\x00\x01" + "\x07\x04\x03"),
		"a level too many":  []byte("\x00\x00\x00\x02" + "\x02\x01\x05" + "\x00\x01" + "\x07\x01\x03"),
		"a segment missing": []byte("\x00\x00\x00\x02" + "\x01\x02\x05" + "\x00\x01" + "\x07\x01\x03"),
	} {
		if have, err := sqlite.Segments(block); !errors.Is(err, sqlite.ErrFormat) {
			t.Errorf("%s: %v, %v", name, have, err)
		}
	}
}

func TestRows(t *testing.T) {
	s := sqlite.Segment{ID: 3, First: 1, Last: 9, Tombstones: 4}
	if row := s.Leaf(5); row != 3<<37|5 {
		t.Errorf("leaf 5 is in row %d", row)
	}
	if first, last := s.TombstoneRows(); first != (3+1<<16)<<37 || last != first+3 {
		t.Errorf("deleted rowids from %d to %d", first, last)
	}
}

// leaf holds the end of a list (4096, 4097), "0ab" (1, 300), "0abc" (no rowids), "0b" (2).
func leaf() []byte {
	body := "\xa0\x00\x01" + // the end of a list
		"\x03" + "0ab" + "\x01\x82\x2b" + // a whole term
		"\x03\x01" + "c" + // three bytes of the previous term and one more
		"\x01\x01" + "b" + "\x02"
	index := []byte{4 + 3, 7, 3} // offset of the first term, then differences
	return slices.Concat([]byte{0, 4, 0, byte(4 + len(body))}, []byte(body), index)
}

func TestLeaf(t *testing.T) {
	l, err := sqlite.ParseLeaf(leaf())
	if err != nil {
		t.Fatal(err)
	}
	ids := func(d sqlite.Doclist) []int64 {
		out, err := d.Append(nil)
		if err != nil {
			t.Error(err)
		}
		return out
	}
	head, more, err := l.Head()
	if err != nil || more || !slices.Equal(ids(head), []int64{4096, 4097}) {
		t.Errorf("head %v, more %v, %v", head, more, err)
	}
	for _, test := range []struct {
		word  string
		there bool
		ids   []int64
		more  bool
	}{
		{"ab", true, []int64{1, 300}, false}, {"abc", true, nil, false}, {"b", true, []int64{2}, true},
		{"a", false, nil, false}, {"aa", false, nil, false}, {"abb", false, nil, false}, {"abcd", false, nil, false}, {"c", false, nil, false}, {"", false, nil, false},
	} {
		d, more, err := l.Find(sqlite.Key(test.word))
		if err != nil || (d != nil) != test.there || more != test.more || !slices.Equal(ids(d), test.ids) {
			t.Errorf("%q: %v, more %v, %v", test.word, d, more, err)
		}
	}
	for _, test := range []struct {
		prefix string
		want   []string
	}{
		{"", []string{"[1 300] false false", "[] false false", "[2] false true"}},
		{"a", []string{"[1 300] false false", "[] false false"}},
		{"ab", []string{"[1 300] true false", "[] false false"}},
		{"abc", []string{"[] true false"}},
		{"b", []string{"[2] true true"}},
		{"0", nil}, {"abcd", nil}, {"aa", nil}, {"c", nil},
	} {
		var have []string
		err := l.Begin(sqlite.Key(test.prefix), func(whole bool, d sqlite.Doclist, more bool) bool {
			have = append(have, fmt.Sprint(ids(d), whole, more))
			return true
		})
		if err != nil || !slices.Equal(have, test.want) {
			t.Errorf("%q*: %q, %v", test.prefix, have, err)
		}
	}
	// A leaf without terms continues a list and does not end it.
	l, err = sqlite.ParseLeaf([]byte{0, 4, 0, 6, 5, 1})
	if err != nil {
		t.Fatal(err)
	}
	if head, more, err := l.Head(); err != nil || !more || !slices.Equal(ids(head), []int64{5, 6}) {
		t.Errorf("head %v, more %v, %v", head, more, err)
	}
	for name, block := range map[string][]byte{
		"nothing": nil, "a header": {0, 4, 0}, "an end after the block": {0, 4, 0, 9, 1}, "an end within the header": {0, 4, 0, 3, 1},
	} {
		if _, err := sqlite.ParseLeaf(block); !errors.Is(err, sqlite.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDoclist(t *testing.T) {
	large := sqlite.Doclist("\xbf\xff\xff\xff\xff\xff\xff\xff\xff") // nine bytes
	if ids, err := large.Append([]int64{7}); err != nil || !slices.Equal(ids, []int64{7, math.MaxInt64}) {
		t.Errorf("%v, %v", ids, err)
	}
	for name, d := range map[string]sqlite.Doclist{
		"a mark that a row was deleted": {5, 0, 3}, "half a number": {5, 0x81}, "nine bytes below zero": sqlite.Doclist("\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
	} {
		if ids, err := d.Append(nil); !errors.Is(err, sqlite.ErrFormat) {
			t.Errorf("%s: %v, %v", name, ids, err)
		}
	}
}

func TestTombstones(t *testing.T) {
	four := []byte{4, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0}
	if ids, err := sqlite.AppendTombstones([]int64{3}, four); err != nil || !slices.Equal(ids, []int64{3, 0, 9, 256}) {
		t.Errorf("%v, %v", ids, err)
	}
	eight := []byte{8, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0}
	if ids, err := sqlite.AppendTombstones(nil, eight); err != nil || !slices.Equal(ids, []int64{1 << 32}) {
		t.Errorf("%v, %v", ids, err)
	}
	if _, err := sqlite.AppendTombstones(nil, eight[:7]); !errors.Is(err, sqlite.ErrFormat) {
		t.Errorf("half a page: %v", err)
	}
}

// Decoding any block terminates, and its rowids ascend.
func FuzzBlocks(f *testing.F) {
	f.Add(leaf(), "ab")
	f.Add([]byte("\x00\x00\x00\x02"+"\x01\x01\x05"+"\x00\x01"+"\x07\x01\x03"), "")
	f.Add([]byte{0, 4, 0, 6, 5, 1}, "x")
	f.Add([]byte{4, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 9}, "日本")
	f.Fuzz(func(t *testing.T, block []byte, word string) {
		if segments, err := sqlite.Segments(block); err == nil && len(segments) > len(block) {
			t.Errorf("%d segments in %d bytes", len(segments), len(block))
		}
		if ids, err := sqlite.AppendTombstones(nil, block); err == nil && len(ids) > len(block) {
			t.Errorf("%d rowids in %d bytes", len(ids), len(block))
		}
		l, err := sqlite.ParseLeaf(block)
		if err != nil {
			return
		}
		head, _, _ := l.Head() // empty after an error
		found, _, _ := l.Find(sqlite.Key(word))
		lists := []sqlite.Doclist{head, found}
		_ = l.Begin(sqlite.Key(word), func(_ bool, d sqlite.Doclist, _ bool) bool { // the terms before an error are checked
			lists = append(lists, d)
			return true
		})
		for _, d := range lists {
			if ids, err := d.Append(nil); err == nil && !slices.IsSorted(ids) {
				t.Errorf("rowids %v", ids)
			}
		}
	})
}
