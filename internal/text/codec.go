package text

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// EncodeJSON returns the JSON of the struct at v as encoding/json does: of strings,
// booleans, numbers, and slices and structs of them. A hook encodes one value and
// exits; encoding/json spends 0.2 ms on the first value of a type.
func EncodeJSON(v any) ([]byte, error) {
	w := writer{types: types{}}
	w.value(reflect.ValueOf(v).Elem())
	return w.b, w.err
}

// Decode reads the next value into the struct at v, which has fields as for
// EncodeJSON and times. It skips unknown names and values of another type than
// their field. The error is about the first of the latter.
func (r *JSONReader) Decode(v any) error {
	d := decoder{JSONReader: r, types: types{}}
	d.value(reflect.ValueOf(v).Elem())
	return d.err
}

// types caches the JSON members of struct types, in the order of the fields.
type types map[reflect.Type][]member

type member struct {
	name      string
	omitEmpty bool
}

func (c types) members(t reflect.Type) []member {
	members, ok := c[t]
	for i := 0; !ok && i < t.NumField(); i++ {
		name, option, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		members = append(members, member{name, option == "omitempty"})
	}
	c[t] = members
	return members
}

// writer appends values to b.
type writer struct {
	b     []byte
	types types
	err   error // the first
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
	case reflect.Slice:
		if v.IsNil() {
			w.b = append(w.b, "null"...)
			return
		}
		w.b = append(w.b, '[')
		for i := range v.Len() {
			w.value(v.Index(i))
			w.b = append(w.b, ',')
		}
		w.end(']')
	default:
		w.b = append(w.b, '{')
		for i, m := range w.types.members(v.Type()) {
			if !m.omitEmpty || !v.Field(i).IsZero() {
				w.b = append(append(append(w.b, '"'), m.name...), '"', ':')
				w.value(v.Field(i))
				w.b = append(w.b, ',')
			}
		}
		w.end('}')
	}
}

// end writes a closing bracket in place of the comma after the last item, if there
// is one.
func (w *writer) end(bracket byte) { w.b = append(bytes.TrimSuffix(w.b, []byte(",")), bracket) }

// decoder reads values into fields.
type decoder struct {
	*JSONReader
	types types
	err   error // the first
}

func (r *decoder) value(v reflect.Value) {
	switch {
	case v.Kind() == reflect.Struct && r.IsObject():
		members := r.types.members(v.Type())
		r.Object(func(name []byte) {
			if i := slices.IndexFunc(members, func(m member) bool { return m.name == string(name) }); i >= 0 {
				r.value(v.Field(i))
			} else {
				r.Skip()
			}
		})
	case v.Kind() == reflect.Slice && r.IsArray():
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		r.Array(func() {
			v.Grow(1)
			v.SetLen(v.Len() + 1)
			r.value(v.Index(v.Len() - 1))
		})
	default:
		if err := setScalar(v, r.Value()); err != nil && r.err == nil {
			r.err = err
		}
	}
}

func setScalar(v reflect.Value, raw []byte) error {
	s := string(raw)
	switch kind := v.Kind(); {
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
	case kind != reflect.Slice || s != "null":
		return fmt.Errorf("JSON %.20q for a value of type %v", s, v.Type())
	}
	return nil
}
