package index_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/index"
)

func TestSpanQueries(t *testing.T) {
	all := archive.Span{TurnFrom: 1, TurnTo: 4, BeforeLine: 90, Limit: 10, Newest: true}
	for name, c := range map[string]struct {
		mark index.Marked
		span archive.Span
		want string
	}{
		"all of a session":   {index.Question, archive.Span{}, "SELECT a FROM t r WHERE r.session = ? AND x IN (?, ?) ORDER BY r.turn, r.step [7 u v]"},
		"a span":             {index.Question, all, "SELECT a FROM t r WHERE r.session = ? AND r.turn >= ? AND r.turn < ? AND r.line < ? AND x IN (?, ?) ORDER BY r.turn DESC, r.step DESC LIMIT ? [7 1 4 90 u v 10]"},
		"with counted marks": {index.Dollar, all, "SELECT a FROM t r WHERE r.session = $1 AND r.turn >= $2 AND r.turn < $3 AND r.line < $4 AND x IN ($5, $6) ORDER BY r.turn DESC, r.step DESC LIMIT $7 [7 1 4 90 u v 10]"},
	} {
		t.Run(name, func(t *testing.T) {
			q := index.NewSpan(c.mark, "a", "t r", "r.line", 7, c.span)
			q.And("x IN (?, ?)", "u", "v")
			query, args := q.End("turn, step", c.span)
			if got := fmt.Sprint(query, " ", args); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

// fakeWriter notes what it stores, up to the part that fails.
type fakeWriter struct {
	due   bool
	fails string
	done  []string
}

var errPart = errors.New("the disk is full")

func (w *fakeWriter) part(name string) error {
	if w.done = append(w.done, name); name == w.fails {
		return errPart
	}
	return nil
}

func (w *fakeWriter) Due(context.Context) (bool, error) { return w.due, nil }
func (w *fakeWriter) Session(context.Context) error     { return w.part("session") }
func (w *fakeWriter) Turns(context.Context) error       { return w.part("turns") }
func (w *fakeWriter) Steps(context.Context) error       { return w.part("steps") }
func (w *fakeWriter) Calls(context.Context) error       { return w.part("calls") }
func (w *fakeWriter) Files(context.Context) error       { return w.part("files") }
func (w *fakeWriter) Tasks(context.Context) error       { return w.part("tasks") }
func (w *fakeWriter) Compactions(context.Context) error { return w.part("compactions") }
func (w *fakeWriter) Passages(context.Context) error    { return w.part("passages") }
func (w *fakeWriter) Identities(context.Context) error  { return w.part("identities") }
func (w *fakeWriter) Cursor(context.Context) error      { return w.part("cursor") }

func TestStoreBatch(t *testing.T) {
	const all = "session turns steps calls files tasks compactions passages identities cursor"
	for name, c := range map[string]struct {
		w    fakeWriter
		done string
		says string
	}{
		"due":               {fakeWriter{due: true}, all, ""},
		"stored already":    {fakeWriter{}, "", ""},
		"a part that fails": {fakeWriter{due: true, fails: "calls"}, "session turns steps calls", "store calls of s1: the disk is full"},
	} {
		t.Run(name, func(t *testing.T) {
			err := index.StoreBatch(t.Context(), "s1", &c.w)
			if got := strings.Join(c.w.done, " "); got != c.done {
				t.Errorf("stored %s, want %s", got, c.done)
			}
			if (err != nil) != (c.says != "") || err != nil && (err.Error() != c.says || !errors.Is(err, errPart)) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}
