package postgres

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// A limited list holds the newest passages of the whole list, within any bounds. If a
// term is required, lists hold only passages with that term.
func TestListsHoldTheNewest(t *testing.T) {
	dsn := os.Getenv("STRANDLINE_TEST_POSTGRES")
	if dsn == "" {
		t.Skip("no PostgreSQL: run it as scripts/postgres.sh run go test, or set STRANDLINE_TEST_POSTGRES")
	}
	schema := fmt.Sprintf("lists_%d", os.Getpid())
	s, err := Open(t.Context(), dsn, Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := s.pool.Exec(context.Background(), "DROP SCHEMA "+schema+" CASCADE"); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for n := range 7 {
		id := fmt.Sprintf("s%d", n)
		b := archive.Batch{Session: archive.Session{ID: id}, Cursor: archive.Cursor{Session: id, Offset: 1}}
		for i := range 5 + n {
			text := "cache cache cache"
			if i%2 == 0 {
				text = "cached " + strings.Repeat("filler words about something else ", 40)
			}
			if i%3 == 0 {
				text += " planner"
			}
			b.Passages = append(b.Passages, archive.Passage{Session: id, Turn: i, Step: -1, Kind: archive.KindPrompt, Text: text})
		}
		if err := s.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	forms := []archive.Term{{Text: "cache", Forms: "cached caching", Weight: 1}, {Text: "planner", Weight: 1}, {Text: "plan", Prefix: true, Weight: 1}}
	must := slices.Clone(forms)
	must[1].Must = true
	err = s.Read(t.Context(), "test", func(ctx context.Context, x index.Tx) error {
		for _, terms := range [][]archive.Term{forms, must} {
			for _, scope := range []*index.Scope{{Hi: math.MaxInt64}, {Lo: 2 << index.SessionShift, Hi: 5<<index.SessionShift - 1}} {
				whole, err := index.Lists(ctx, x, terms, scope, 0)
				if err != nil {
					return err
				}
				for _, limit := range []int{1, 3, 10, 1000} {
					cut, err := index.Lists(ctx, x, terms, scope, limit)
					if err != nil {
						return err
					}
					for i := range whole {
						if !slices.Equal(cut[i].Strong, index.Newest(whole[i].Strong, limit)) || !slices.Equal(cut[i].Weak, index.Newest(whole[i].Weak, limit)) {
							t.Errorf("%s, at most %d: %v %v of %v %v", terms[i].Text, limit, cut[i].Strong, cut[i].Weak, whole[i].Strong, whole[i].Weak)
						}
						for _, list := range [][]int64{whole[i].Strong, whole[i].Weak} {
							if !slices.IsSorted(list) {
								t.Errorf("%s: %v does not ascend", terms[i].Text, list)
							}
						}
					}
				}
				if terms[1].Must {
					with := append(slices.Clone(whole[1].Strong), whole[1].Weak...)
					for _, id := range append(slices.Clone(whole[0].Strong), whole[0].Weak...) {
						if !slices.Contains(with, id) {
							t.Errorf("%d does not hold the term that must be there", id)
						}
					}
				}
				if len(whole[0].Strong) == 0 || len(whole[0].Weak) == 0 || len(whole[2].Weak) == 0 {
					t.Errorf("lists %+v", whole)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
