package synth

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Row is one JSON object under construction, its members in the order in which
// they were added. Raw values are not checked.
type Row []byte

// Str adds a string.
func (r Row) Str(key, value string) Row {
	return quote(r.key(key), value)
}

// Int adds a number.
func (r Row) Int(key string, value int64) Row {
	return strconv.AppendInt(r.key(key), value, 10)
}

// Bool adds true or false.
func (r Row) Bool(key string, value bool) Row {
	return strconv.AppendBool(r.key(key), value)
}

// Raw adds a value that is JSON already.
func (r Row) Raw(key, value string) Row {
	return append(r.key(key), value...)
}

// Obj adds an object.
func (r Row) Obj(key string, value Row) Row {
	return append(r.key(key), value.end()...)
}

// List adds a list of objects.
func (r Row) List(key string, values ...Row) Row {
	r = append(r.key(key), '[')
	for i, v := range values {
		if i > 0 {
			r = append(r, ',')
		}
		r = append(r, v.end()...)
	}
	return append(r, ']')
}

// Strs adds a list of strings.
func (r Row) Strs(key string, values []string) Row {
	r = append(r.key(key), '[')
	for i, v := range values {
		if i > 0 {
			r = append(r, ',')
		}
		r = quote(r, v)
	}
	return append(r, ']')
}

func (r Row) key(key string) Row {
	if len(r) == 0 {
		r = append(r, '{')
	} else {
		r = append(r, ',')
	}
	return append(quote(r, key), ':')
}

func (r Row) end() Row {
	if len(r) == 0 {
		return append(r, '{', '}')
	}
	return append(r, '}')
}

// quote appends a JSON string. Invalid UTF-8 becomes U+FFFD, the only thing
// that AppendQuote reports.
func quote(dst []byte, s string) []byte {
	out, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		out, _ = jsontext.AppendQuote(dst, string([]rune(s)))
	}
	return out
}
