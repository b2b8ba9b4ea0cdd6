package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// wordStore returns a store whose full-text index has leaves of a few dozen bytes, so that
// short lists extend over several leaves.
func wordStore(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	wordSQL(t, s, "INSERT INTO words (words, rank) VALUES ('pgsz', 64)")
	wordSQL(t, s, "INSERT INTO words (words, rank) VALUES ('hashsize', 256)")
	wordSQL(t, s, "INSERT INTO words (words, rank) VALUES ('automerge', 3)")
	return s
}

func wordSQL(t interface{ Fatal(args ...any) }, s *Store, query string, args ...any) {
	if _, err := s.exec(context.Background(), query, args...); err != nil {
		t.Fatal(query, err)
	}
}

// The lists read from blocks equal the results of MATCH, after any sequence of inserts,
// deletes and merges, and within any bounds and limit.
func TestPostingsEqualMatch(t *testing.T) {
	s := wordStore(t)
	vocabulary := strings.Fields("a ab abc abd b cache cached caches caching zebra zebra² ab² x.y 東京")
	rapid.Check(t, func(r *rapid.T) {
		wordSQL(r, s, "DELETE FROM words WHERE rowid > 0")
		for range rapid.IntRange(0, 12).Draw(r, "transactions") {
			wordSQL(r, s, "BEGIN")
			for range rapid.IntRange(1, 60).Draw(r, "rows") {
				row := rapid.Int64Range(1, 200).Draw(r, "row") << rapid.SampledFrom([]int{0, 4, 30}).Draw(r, "shift")
				wordSQL(r, s, "DELETE FROM words WHERE rowid = ?", row)
				if rapid.IntRange(0, 5).Draw(r, "insert") > 0 {
					text := strings.Join(rapid.SliceOfNDistinct(rapid.SampledFrom(vocabulary), 1, 6, rapid.ID[string]).Draw(r, "words"), " ")
					wordSQL(r, s, "INSERT INTO words (rowid, terms) VALUES (?, ?)", row, text)
				}
			}
			wordSQL(r, s, "COMMIT")
			switch rapid.IntRange(0, 8).Draw(r, "maintenance") {
			case 0:
				wordSQL(r, s, "INSERT INTO words (words) VALUES ('optimize')")
			case 1:
				wordSQL(r, s, "INSERT INTO words (words, rank) VALUES ('merge', 2)") // leaves an unfinished merge
			}
		}
		x := tx{s, t.Context()}
		scope := &index.Scope{Hi: math.MaxInt64}
		if rapid.Bool().Draw(r, "bounds") {
			scope.Lo, scope.Hi = rapid.Int64Range(0, 300).Draw(r, "lo"), rapid.Int64Range(0, 3000).Draw(r, "hi")
		}
		limit := rapid.SampledFrom([]int{0, 0, 1, 7, 40}).Draw(r, "limit")
		p, err := tx{s, t.Context()}.newPostings(t.Context(), scope.Lo, scope.Hi, limit)
		if err != nil {
			r.Fatal(err)
		}
		words := append(slices.Clone(vocabulary), "absent", "zz", "0", "abcd")
		have, err := p.lists(t.Context(), words)
		if err != nil {
			r.Fatal(err)
		}
		for i, w := range words {
			want, err := x.list(t.Context(), quote(w), scope, limit)
			if err != nil {
				r.Fatal(err)
			}
			if !slices.Equal(have[i], want) {
				r.Fatalf("%s from %d to %d, at most %d: %v\nMATCH finds %v", w, scope.Lo, scope.Hi, limit, have[i], want)
			}
		}
		for _, prefix := range []string{"a", "ab", "abd", "cach", "cached", "z", "zebra", "x", "東", "0", "zz"} {
			have, err := p.prefix(t.Context(), prefix)
			if err != nil {
				r.Fatal(err)
			}
			want, err := x.list(t.Context(), quote(prefix)+" *", scope, limit)
			if err != nil {
				r.Fatal(err)
			}
			if !slices.Equal(have, want) {
				r.Fatalf("%s* from %d to %d, at most %d: %v\nMATCH finds %v", prefix, scope.Lo, scope.Hi, limit, have, want)
			}
		}
	})
}

// A list of thousands of rows is read from its end if the limit is small.
func TestPostingsOfALongList(t *testing.T) {
	s := wordStore(t)
	wordSQL(t, s, "BEGIN")
	for i := range 3000 {
		wordSQL(t, s, "INSERT INTO words (rowid, terms) VALUES (?, ?)", int64(i+1)<<4, fmt.Sprintf("common w%d", i%7))
	}
	wordSQL(t, s, "COMMIT")
	wordSQL(t, s, "INSERT INTO words (words) VALUES ('optimize')")
	for _, limit := range []int{0, 1, 100, 2999, 3000, 5000} {
		p, err := tx{s, t.Context()}.newPostings(t.Context(), 0, math.MaxInt64, limit)
		if err != nil {
			t.Fatal(err)
		}
		lists, err := p.lists(t.Context(), []string{"common"})
		if err != nil {
			t.Fatal(err)
		}
		beginning, err := p.prefix(t.Context(), "com")
		if err != nil {
			t.Fatal(err)
		}
		want := 3000
		if limit > 0 {
			want = min(want, limit)
		}
		for _, ids := range append(lists, beginning) {
			if len(ids) != want || ids[len(ids)-1] != 3000<<4 {
				t.Errorf("limit %d: %d rows up to %d", limit, len(ids), ids[len(ids)-1])
			}
		}
	}
}

// The newest rows of a prefix are the newest rows of all its words.
func TestPostingsOfManyWords(t *testing.T) {
	s := wordStore(t)
	wordSQL(t, s, "BEGIN")
	for i := range 900 {
		wordSQL(t, s, "INSERT INTO words (rowid, terms) VALUES (?, ?)", int64(i+1)<<4, fmt.Sprintf("parse%d parse%d parsed", i%97, i%89))
	}
	wordSQL(t, s, "COMMIT")
	for row := int64(1); row <= 900; row += 3 {
		wordSQL(t, s, "DELETE FROM words WHERE rowid = ?", row<<4)
	}
	p, err := tx{s, t.Context()}.newPostings(t.Context(), 0, math.MaxInt64, 40)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := p.prefix(t.Context(), "pars")
	if err != nil {
		t.Fatal(err)
	}
	var want []int64
	for row := int64(900); len(want) < 40; row-- {
		if row%3 != 1 {
			want = append(want, row<<4)
		}
	}
	slices.Reverse(want)
	if !slices.Equal(ids, want) {
		t.Errorf("%v\nwant %v", ids, want)
	}
}

// If the blocks have an unknown format, a search uses MATCH and finds the same.
func TestListsWithoutBlocks(t *testing.T) {
	s := wordStore(t)
	for i, text := range []string{"cache eviction", "cached² planner", "planner", "cache² planner caching"} {
		wordSQL(t, s, "INSERT INTO words (rowid, terms) VALUES (?, ?)", i+1, text)
	}
	x, scope := tx{s, t.Context()}, &index.Scope{Hi: math.MaxInt64}
	terms := []archive.Term{{Text: "cache", Forms: "cached caching", Weight: 1}, {Text: "planner", Weight: 1}, {Text: "cach", Prefix: true, Weight: 1}}
	known, err := index.Lists(t.Context(), x, terms, scope, 100)
	if err != nil {
		t.Fatal(err)
	}
	// FTS5 ignores bytes after its structure.
	wordSQL(t, s, "UPDATE words_data SET block = block || x'00' WHERE id = ?", StructureRow)
	if _, err := (tx{s, t.Context()}).newPostings(t.Context(), 0, 1, 0); !errors.Is(err, ErrFormat) {
		t.Fatalf("a structure with trailing bytes: %v", err)
	}
	asked, err := index.Lists(t.Context(), x, terms, scope, 100)
	if err != nil {
		t.Fatal(err)
	}
	for i := range known {
		if !slices.Equal(known[i].Strong, asked[i].Strong) || !slices.Equal(known[i].Weak, asked[i].Weak) {
			t.Errorf("%s: %v %v from the blocks, %v %v from MATCH", known[i].Term.Text, known[i].Strong, known[i].Weak, asked[i].Strong, asked[i].Weak)
		}
	}
	if len(known[0].Strong) != 2 || len(known[0].Weak) != 2 || len(known[1].Weak) != 3 || len(known[2].Weak) != 3 {
		t.Errorf("lists %+v", known)
	}
}
