package text

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// EncodeJSON returns the JSON of the struct at v as encoding/json does: of strings,
// booleans, numbers, JSON values, and pointers, interfaces, slices and structs of them. A
// hook encodes one value and exits; encoding/json spends 0.2 ms on the first value of a type.
func EncodeJSON(v any) ([]byte, error) { return AppendJSON(nil, v) }

// AppendJSON appends the JSON of the struct at v to b, as EncodeJSON, in one line. The error
// reports invalid UTF-8, which is written as U+FFFD.
func AppendJSON(b []byte, v any) ([]byte, error) {
	w := writer{b: b}
	w.value(reflect.ValueOf(v).Elem())
	return w.b, w.err
}

// Decode reads the next value into the variable at v. A struct has fields as for EncodeJSON,
// times, and maps with string keys; an interface takes a string, a number or a boolean.
// Decode skips unknown names and values of another type than their field. The error is about
// the first of the latter.
func (r *JSONReader) Decode(v any) error {
	d := decoder{JSONReader: r}
	d.value(reflect.ValueOf(v).Elem())
	return d.err
}

type member struct {
	name      string
	omitEmpty bool
	index     []int // of the field, of embedded structs first
}

// structs caches the members of struct types.
var structs sync.Map //nolint:gochecknoglobals // from types to values that are computed from the type alone

// membersOf returns the JSON members of a struct type, in the order of the fields. Those of
// embedded structs are last.
func membersOf(t reflect.Type) (members []member) {
	if known, ok := structs.Load(t); ok {
		members, _ = known.([]member) // nothing else is stored
		return members
	}
	for _, f := range reflect.VisibleFields(t) {
		if name, option, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			members = append(members, member{name, option == "omitempty", f.Index})
		}
	}
	slices.SortStableFunc(members, func(a, b member) int { return len(a.index) - len(b.index) })
	structs.Store(t, members)
	return members
}

// writer appends values to b.
type writer struct {
	b   []byte
	err error // the first
}

func (w *writer) value(v reflect.Value) {
	switch v.Kind() { //nolint:exhaustive // no other kinds occur
	case reflect.String:
		b, err := jsontext.AppendQuote(w.b, v.String())
		w.b, w.err = b, errors.Join(w.err, err)
	case reflect.Bool:
		w.b = strconv.AppendBool(w.b, v.Bool())
	case reflect.Int, reflect.Int64:
		w.b = strconv.AppendInt(w.b, v.Int(), 10)
	case reflect.Float64:
		w.b = strconv.AppendFloat(w.b, v.Float(), 'f', -1, 64)
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			w.b = append(w.b, "null"...)
			return
		}
		w.value(v.Elem())
	case reflect.Slice:
		w.slice(v)
	default:
		w.b = append(w.b, '{')
		for _, m := range membersOf(v.Type()) {
			if field := v.FieldByIndex(m.index); !m.omitEmpty || !isEmpty(field) {
				w.b = append(append(append(w.b, '"'), m.name...), '"', ':')
				w.value(field)
				w.b = append(w.b, ',')
			}
		}
		w.end('}')
	}
}

func (w *writer) slice(v reflect.Value) {
	switch {
	case v.IsNil():
		w.b = append(w.b, "null"...)
	case isRaw(v.Type()):
		raw := jsontext.Value(v.Bytes())
		if bytes.ContainsAny(raw, "\r\n") {
			raw = raw.Clone()
			w.err = errors.Join(w.err, raw.Compact())
		}
		w.b = append(w.b, raw...)
	default:
		w.b = append(w.b, '[')
		for i := range v.Len() {
			w.value(v.Index(i))
			w.b = append(w.b, ',')
		}
		w.end(']')
	}
}

// isEmpty reports whether omitempty leaves a value out.
func isEmpty(v reflect.Value) bool {
	return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
}

// isRaw reports whether a type holds a JSON value as it is.
func isRaw(t reflect.Type) bool { return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 }

// end writes a closing bracket in place of the comma after the last item, if there
// is one.
func (w *writer) end(bracket byte) { w.b = append(bytes.TrimSuffix(w.b, []byte(",")), bracket) }

// decoder reads values into fields.
type decoder struct {
	*JSONReader
	err error // the first
}

func (r *decoder) value(v reflect.Value) {
	switch kind := v.Kind(); {
	case kind == reflect.Struct && r.IsObject():
		members := membersOf(v.Type())
		r.Object(func(name []byte) {
			if i := slices.IndexFunc(members, func(m member) bool { return m.name == string(name) }); i >= 0 {
				r.value(v.FieldByIndex(members[i].index))
			} else {
				r.Skip()
			}
		})
	case isRaw(v.Type()):
		v.SetBytes(bytes.Clone(r.Value()))
	case kind == reflect.Slice && r.IsArray():
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		r.Array(func() {
			v.Grow(1)
			v.SetLen(v.Len() + 1)
			r.value(v.Index(v.Len() - 1))
		})
	case kind == reflect.Map && r.IsObject():
		v.Set(reflect.MakeMap(v.Type()))
		r.Object(func(name []byte) {
			key, one := reflect.ValueOf(string(name)).Convert(v.Type().Key()), reflect.New(v.Type().Elem()).Elem()
			r.value(one)
			v.SetMapIndex(key, one)
		})
	case kind == reflect.Pointer && !r.isNull():
		v.Set(reflect.New(v.Type().Elem()))
		r.value(v.Elem())
	default:
		if err := setScalar(v, r.Value()); err != nil && r.err == nil {
			r.err = err
		}
	}
}

func setScalar(v reflect.Value, raw []byte) error {
	s := string(raw)
	switch kind := v.Kind(); {
	case s == "null":
	case v.Type() == reflect.TypeFor[time.Time]():
		t, err := time.Parse(time.RFC3339Nano, strings.Trim(s, `"`))
		v.Set(reflect.ValueOf(t))
		return err
	case kind == reflect.String && strings.HasPrefix(s, `"`):
		v.SetString(string(Unquote(raw)))
	case kind == reflect.Bool && (s == "true" || s == "false"):
		v.SetBool(s == "true")
	case v.CanInt():
		n, err := strconv.ParseInt(s, 10, 64)
		v.SetInt(n)
		return err
	case v.CanFloat():
		f, err := strconv.ParseFloat(s, 64)
		v.SetFloat(f)
		return err
	case kind == reflect.Interface && s != "" && s[0] != '{' && s[0] != '[':
		setAny(v, s)
	default:
		return fmt.Errorf("JSON %.20q for a value of type %v", s, v.Type())
	}
	return nil
}

// setAny sets an interface to a string, a number or a boolean.
func setAny(v reflect.Value, s string) {
	var x any = s == "true"
	if s[0] == '"' {
		x = string(Unquote([]byte(s)))
	} else if f, err := strconv.ParseFloat(s, 64); err == nil {
		x = f
	}
	v.Set(reflect.ValueOf(x))
}
