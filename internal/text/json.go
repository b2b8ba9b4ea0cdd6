package text

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// JSONReader reads one JSON text value by value, for callers that know only a
// part of its fields. A value of an unexpected type is skipped and read as zero.
// After the first syntax error every method returns zero, so callers check Err
// or End once, after the last value. A JSONReader is not safe for concurrent use.
type JSONReader struct {
	dec  *jsontext.Decoder
	opts []jsontext.Options
	buf  bytes.Buffer // what dec reads; it holds data without a copy
	data []byte
	err  error
}

// Span is a range of bytes: From inclusive, To exclusive.
type Span struct{ From, To int }

// Of returns the bytes of data in the span.
func (s Span) Of(data []byte) []byte { return data[s.From:s.To] }

// Size returns the span's length in bytes.
func (s Span) Size() int { return s.To - s.From }

// NewJSONReader returns a reader of data, which must not change while it is
// read. Invalid UTF-8 and duplicate names are accepted.
func NewJSONReader(data []byte) *JSONReader {
	r := &JSONReader{opts: []jsontext.Options{jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)}}
	r.dec = jsontext.NewDecoder(&r.buf, r.opts...)
	r.Reset(data)
	return r
}

// Reset makes the reader start over with data and clears its error.
func (r *JSONReader) Reset(data []byte) {
	r.data, r.err = data, nil
	r.buf = *bytes.NewBuffer(data)
	r.dec.Reset(&r.buf, r.opts...)
}

// Err returns the first error.
func (r *JSONReader) Err() error { return r.err }

// End returns the first error, or an error if anything but white space follows
// the last value.
func (r *JSONReader) End() error {
	if r.err == nil {
		if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
			r.err = errors.New("unexpected data after the JSON value")
		}
	}
	return r.err
}

func (r *JSONReader) kind() jsontext.Kind {
	if r.err != nil {
		return jsontext.KindInvalid
	}
	return r.dec.PeekKind()
}

// IsString reports whether the next value is a string.
func (r *JSONReader) IsString() bool { return r.kind() == jsontext.KindString }

// IsArray reports whether the next value is an array.
func (r *JSONReader) IsArray() bool { return r.kind() == jsontext.KindBeginArray }

// IsObject reports whether the next value is an object.
func (r *JSONReader) IsObject() bool { return r.kind() == jsontext.KindBeginObject }

// isNull reports whether the next value is null.
func (r *JSONReader) isNull() bool { return r.kind() == jsontext.KindNull }

// Skip skips the next value.
func (r *JSONReader) Skip() {
	if r.err == nil {
		r.err = r.dec.SkipValue()
	}
}

// Span skips the next value and returns its position.
func (r *JSONReader) Span() Span {
	if r.err != nil {
		return Span{}
	}
	raw, err := r.dec.ReadValue()
	if r.err = err; err != nil {
		return Span{}
	}
	end := int(r.dec.InputOffset())
	return Span{end - len(raw), end}
}

// Offset returns the end of the parsed input, in bytes.
func (r *JSONReader) Offset() int { return int(r.dec.InputOffset()) }

// Value skips the next value and returns its JSON, a part of the data.
func (r *JSONReader) Value() []byte { return r.Span().Of(r.data) }

// Text reads a string. Invalid UTF-8 becomes U+FFFD.
func (r *JSONReader) Text() string {
	if raw := r.Value(); len(raw) > 0 && raw[0] == '"' {
		return string(Unquote(raw))
	}
	return ""
}

// Int reads a number, without its fraction and limited to 0 to 2^31-1.
func (r *JSONReader) Int() int {
	n, _ := strconv.ParseFloat(string(r.Value()), 64) // 0 for any other value
	return int(min(max(n, 0), 1<<31-1))
}

// Bool reads a boolean.
func (r *JSONReader) Bool() bool {
	is := r.kind() == jsontext.KindTrue
	r.Skip()
	return is
}

// Object calls member with the name of each member of an object; member reads or
// skips the value. The name is valid until member returns.
func (r *JSONReader) Object(member func(name []byte)) {
	if !r.IsObject() {
		r.Skip()
		return
	}
	r.skipToken()
	for r.IsString() {
		if name := r.Value(); r.err == nil {
			member(Unquote(name))
		}
	}
	r.skipToken()
}

// Array calls element for each element of an array; element reads or skips it.
func (r *JSONReader) Array(element func()) {
	if !r.IsArray() {
		r.Skip()
		return
	}
	r.skipToken()
	for r.err == nil && r.dec.PeekKind() != jsontext.KindEndArray {
		element()
	}
	r.skipToken()
}

// skipToken skips one token: a bracket or a brace.
func (r *JSONReader) skipToken() {
	if r.err == nil {
		_, r.err = r.dec.ReadToken()
	}
}

// Unquote returns the text of a JSON string as valid UTF-8. The result is a part
// of raw if nothing is escaped or invalid.
func Unquote(raw []byte) []byte {
	n := 0 // most strings are short and plain: faster than two passes
	for n < min(len(raw), 48) && raw[n] < utf8.RuneSelf && raw[n] != '\\' {
		n++
	}
	if rest := raw[n:]; len(rest) == 0 || bytes.IndexByte(rest, '\\') < 0 && utf8.Valid(rest) {
		return raw[1 : len(raw)-1]
	}
	out, _ := jsontext.AppendUnquote(make([]byte, 0, len(raw)), raw) // an error reports invalid UTF-8, replaced by U+FFFD
	return out
}
