package index

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"strandline/internal/archive"
)

func TestSpanQueries(t *testing.T) {
	all := archive.Span{TurnFrom: 1, TurnTo: 4, BeforeLine: 90, Limit: 10, Newest: true}
	for name, c := range map[string]struct {
		span archive.Span
		want string
	}{
		"all of a session": {archive.Span{}, "SELECT a FROM t r WHERE r.session = ? AND x IN (?, ?) ORDER BY r.turn, r.step [7 u v]"},
		"a span":           {all, "SELECT a FROM t r WHERE r.session = ? AND r.turn >= ? AND r.turn < ? AND r.line < ? AND x IN (?, ?) ORDER BY r.turn DESC, r.step DESC LIMIT ? [7 1 4 90 u v 10]"},
	} {
		t.Run(name, func(t *testing.T) {
			q := newSpan("a", "t", "r.line", 7, c.span)
			in(q, "x", []string{"u", "v"})
			in(q, "y", []string{})
			query, args := q.end("turn, step", c.span)
			if got := fmt.Sprint(query, " ", args); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

// fakeTx records the tables that are written, up to the one that fails.
type fakeTx struct {
	Tx
	cursor int64 // of the session
	fails  string
	done   []string
}

var errPart = errors.New("the disk is full")

func (t *fakeTx) part(name string) error {
	if t.done = append(t.done, name); name == t.fails {
		return errPart
	}
	return nil
}

func (t *fakeTx) QueryRow(_ context.Context, query string, _ []any, dest ...any) (bool, error) {
	if strings.Contains(query, "FROM cursors") {
		*int64At(dest[1]) = t.cursor
		return true, nil
	}
	*int64At(dest[0]) = 1
	return true, nil
}

func (t *fakeTx) Exec(_ context.Context, query string, _ ...any) (int64, error) {
	return 1, t.part(strings.Fields(query)[1])
}

func (t *fakeTx) Put(_ context.Context, table Table, _ iter.Seq[[]any]) error {
	return t.part(table.Name)
}

func (t *fakeTx) Claim(context.Context, int64, string) error { return nil }

func (t *fakeTx) PutPassages(context.Context, int64, bool, []archive.Passage) error {
	return t.part("passages")
}

func TestApplyStoresEveryPart(t *testing.T) {
	const all = "sessions turns steps calls files tasks compactions passages identities cursors"
	for name, c := range map[string]struct {
		tx   fakeTx
		done string
		says string
	}{
		"due":               {fakeTx{}, all, ""},
		"stored already":    {fakeTx{cursor: 9}, "", ""},
		"a part that fails": {fakeTx{fails: "calls"}, "sessions turns steps calls", "store calls of s1: the disk is full"},
	} {
		t.Run(name, func(t *testing.T) {
			write := func(ctx context.Context, _ string, fn func(ctx context.Context, tx Tx) error) error {
				return fn(ctx, &c.tx)
			}
			err := New(write, write, Dialect{}).Apply(t.Context(), archive.Batch{Session: archive.Session{ID: "s1"}, Cursor: archive.Cursor{Offset: 9}})
			if got := strings.Join(c.tx.done, " "); got != c.done {
				t.Errorf("stored %s, want %s", got, c.done)
			}
			if (err != nil) != (c.says != "") || err != nil && (err.Error() != c.says || !errors.Is(err, errPart)) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

// int64At returns a destination of a query as an *int64.
func int64At(dest any) *int64 {
	p, ok := dest.(*int64)
	if !ok {
		panic("the query scans another type")
	}
	return p
}
