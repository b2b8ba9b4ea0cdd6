package httpapi

import (
	"reflect"
	"time"
)

// redacted returns v with every string in it redacted, whatever its route. Values
// that v refers to are changed in place; each response has its own.
func redacted(v any, clean func(string) string) any {
	if v == nil {
		return nil
	}
	out := reflect.New(reflect.TypeOf(v)).Elem()
	out.Set(reflect.ValueOf(v))
	redactIn(out, clean)
	return out.Interface()
}

// redactIn redacts the strings in a settable value.
func redactIn(v reflect.Value, clean func(string) string) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(clean(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			redactIn(v.Elem(), clean)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				redactIn(v.Field(i), clean)
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return // raw bytes are redacted by their routes
		}
		for i := range v.Len() {
			redactIn(v.Index(i), clean)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			item := reflect.New(v.Type().Elem()).Elem()
			item.Set(v.MapIndex(key))
			redactIn(item, clean)
			v.SetMapIndex(key, item)
		}
	case reflect.Interface:
		if v.IsNil() || !v.CanSet() {
			return
		}
		item := reflect.New(v.Elem().Type()).Elem()
		item.Set(v.Elem())
		redactIn(item, clean)
		v.Set(item)
	}
}
