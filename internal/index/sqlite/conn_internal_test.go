package sqlite

import (
	"database/sql/driver"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// Values of the driver are stored in variables of built-in and named types. A value of
// another type is an error.
func TestAssign(t *testing.T) {
	text := "x"
	for _, test := range []struct {
		value driver.Value
		want  any // has the type of the variable
		err   error
	}{
		{"x", "x", nil}, {[]byte("x"), "x", nil}, {nil, "", errNull}, {int64(1), "", errColumn},
		{int64(-7), int64(-7), nil}, {int64(7), 7, nil}, {nil, 0, errNull}, {"7", 0, errColumn}, {2.5, int64(0), errColumn},
		{int64(1), true, nil}, {int64(0), false, nil}, {"true", false, errColumn},
		{[]byte("x"), []byte("x"), nil}, {"x", []byte("x"), nil}, {nil, []byte(nil), nil},
		{2.5, 2.5, nil}, {int64(2), 2.0, nil},
		{int64(9), index.ID(9), nil}, {"reply", archive.KindReply, nil}, {nil, index.ID(0), errNull}, {nil, archive.KindReply, errNull},
		{nil, (*string)(nil), nil}, {"x", &text, nil}, {int64(1), (*string)(nil), errColumn},
	} {
		to := reflect.New(reflect.TypeOf(test.want))
		err := assign([]driver.Value{test.value}, []any{to.Interface()})
		if !errors.Is(err, test.err) || test.err == nil && !reflect.DeepEqual(to.Elem().Interface(), test.want) {
			t.Errorf("%T %v for %T: %v, %v, want %v, %v", test.value, test.value, test.want, to.Elem().Interface(), err, test.want, test.err)
		}
	}
	var n int
	if err := assign([]driver.Value{int64(1), int64(2)}, []any{&n}); !errors.Is(err, errColumn) {
		t.Errorf("two columns for one variable: %v", err)
	}
}

// An argument is read back unchanged.
func TestArgumentsRoundTrip(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, arg := range []any{
		"", "a\x00b", strings.Repeat("長", 3000), int64(-1 << 63), 1<<62 + 1, true, false, []byte{0, 255}, 2.5,
		index.ID(5), archive.KindPrompt,
	} {
		to := reflect.New(reflect.TypeOf(arg))
		if found, err := (tx{s, t.Context()}).QueryRow(t.Context(), "SELECT ?", []any{arg}, to.Interface()); err != nil || !found || !reflect.DeepEqual(to.Elem().Interface(), arg) {
			t.Errorf("%T %v came back as %v, %v, %v", arg, arg, to.Elem().Interface(), found, err)
		}
	}
	if _, err := s.exec(t.Context(), "SELECT ?", make(chan int)); err == nil {
		t.Error("a channel is accepted as an argument")
	}
	if found, err := (tx{s, t.Context()}).QueryRow(t.Context(), "SELECT 1 WHERE ?", []any{false}, new(int)); found || err != nil {
		t.Errorf("no row: %v, %v", found, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := (tx{s, t.Context()}).QueryRow(t.Context(), "SELECT 1", nil, new(int)); !errors.Is(err, errClosed) {
		t.Errorf("after Close: %v", err)
	}
}
