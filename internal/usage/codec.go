package usage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// encode returns the JSON of a session as encoding/json does, and a newline. A hook
// encodes one session and exits; encoding/json spends 0.2 ms on the first value of
// a type.
func (s *Session) encode() ([]byte, error) {
	var b bytes.Buffer
	w := writer{jsontext.NewEncoder(&b), types{}}
	err := w.value(reflect.ValueOf(s).Elem())
	return b.Bytes(), err
}

// decode reads the JSON of a session. It skips unknown names.
func (s *Session) decode(data []byte) error {
	r := reader{jsontext.NewDecoder(bytes.NewReader(data)), types{}}
	if err := r.value(reflect.ValueOf(s).Elem()); err != nil {
		return err
	}
	if _, err := r.d.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("data after the JSON value")
	}
	return nil
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

// writer writes strings, booleans, numbers, and slices and structs of them.
type writer struct {
	e     *jsontext.Encoder
	types types
}

func (w writer) value(v reflect.Value) error {
	switch v.Kind() { //nolint:exhaustive // no other kinds occur
	case reflect.String:
		return w.e.WriteToken(jsontext.String(v.String()))
	case reflect.Bool:
		return w.e.WriteToken(jsontext.Bool(v.Bool()))
	case reflect.Int, reflect.Int64:
		return w.e.WriteToken(jsontext.Int(v.Int()))
	case reflect.Float64:
		return w.e.WriteToken(jsontext.Float(v.Float()))
	case reflect.Slice:
		return w.slice(v)
	default:
		return w.object(v)
	}
}

func (w writer) slice(v reflect.Value) error {
	if v.IsNil() {
		return w.e.WriteToken(jsontext.Null)
	}
	err := w.e.WriteToken(jsontext.BeginArray)
	for i := 0; err == nil && i < v.Len(); i++ {
		err = w.value(v.Index(i))
	}
	if err != nil {
		return err
	}
	return w.e.WriteToken(jsontext.EndArray)
}

func (w writer) object(v reflect.Value) error {
	err := w.e.WriteToken(jsontext.BeginObject)
	for i, m := range w.types.members(v.Type()) {
		if m.omitEmpty && v.Field(i).IsZero() {
			continue
		}
		if err == nil {
			err = w.e.WriteToken(jsontext.String(m.name))
		}
		if err == nil {
			err = w.value(v.Field(i))
		}
	}
	if err != nil {
		return err
	}
	return w.e.WriteToken(jsontext.EndObject)
}

// reader reads what writer writes.
type reader struct {
	d     *jsontext.Decoder
	types types
}

func (r reader) value(v reflect.Value) error {
	t, err := r.d.ReadToken()
	if err != nil {
		return err
	}
	kind := v.Kind()
	switch t.Kind() {
	case '"':
		if kind == reflect.String {
			v.SetString(t.String())
			return nil
		}
	case 't', 'f':
		if kind == reflect.Bool {
			v.SetBool(t.Bool())
			return nil
		}
	case '0':
		return readNumber(t, v)
	case '[':
		if kind == reflect.Slice {
			return r.slice(v)
		}
	case '{':
		if kind == reflect.Struct {
			return r.object(v)
		}
	case 'n':
		if kind == reflect.Slice {
			return nil
		}
	}
	return fmt.Errorf("JSON %v for a value of type %v", t.Kind(), v.Type())
}

func readNumber(t jsontext.Token, v reflect.Value) error {
	if v.CanInt() {
		n, err := t.Int()
		v.SetInt(n)
		return err
	}
	if !v.CanFloat() {
		return fmt.Errorf("JSON number for a value of type %v", v.Type())
	}
	f, err := t.Float()
	v.SetFloat(f)
	return err
}

func (r reader) slice(v reflect.Value) error {
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	for n := 0; r.d.PeekKind() != ']'; n++ {
		v.Grow(1)
		v.SetLen(n + 1)
		if err := r.value(v.Index(n)); err != nil {
			return err
		}
	}
	_, err := r.d.ReadToken()
	return err
}

func (r reader) object(v reflect.Value) error {
	members := r.types.members(v.Type())
	for r.d.PeekKind() != '}' {
		name, err := r.d.ReadToken()
		if err == nil {
			err = r.member(v, members, name.String())
		}
		if err != nil {
			return err
		}
	}
	_, err := r.d.ReadToken()
	return err
}

func (r reader) member(v reflect.Value, members []member, name string) error {
	for i, m := range members {
		if m.name == name {
			return r.value(v.Field(i))
		}
	}
	return r.d.SkipValue()
}
