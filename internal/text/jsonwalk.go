// Package jsonwalk reads JSON of which only a part is known, value by value. What
// has another shape than the caller expects is passed over, so a newer sender's
// fields do no harm; what is no JSON ends the walk with an error that is kept, so
// that a caller looks once, at the end.
package text

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Walker goes through one JSON text. It is not safe for concurrent use.
type Walker struct {
	dec *jsontext.Decoder
	err error
}

// Span is a stretch of the text's bytes, from inclusive, to exclusive.
type Span struct{ From, To int }

// Of returns the bytes of the stretch.
func (s Span) Of(data []byte) []byte { return data[s.From:s.To] }

// Size is its length in bytes.
func (s Span) Size() int { return s.To - s.From }

// New returns a walker through data, which must not change meanwhile. Invalid
// UTF-8 and repeated names are accepted.
func New(data []byte) *Walker {
	return &Walker{dec: jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))}
}

// Err is the first error, nil while there was none.
func (w *Walker) Err() error { return w.err }

// errMore is text behind the value.
var errMore = errors.New("there is more behind the value")

// End returns the first error; that there is more behind the value is one.
func (w *Walker) End() error {
	if w.err == nil {
		if _, err := w.dec.ReadToken(); !errors.Is(err, io.EOF) {
			w.err = errMore
		}
	}
	return w.err
}

// At is how many bytes were read.
func (w *Walker) At() int { return int(w.dec.InputOffset()) }

// kind is that of the next value, 0 behind an error.
func (w *Walker) kind() jsontext.Kind {
	if w.err != nil {
		return 0
	}
	return w.dec.PeekKind()
}

// IsText reports whether the next value is a string.
func (w *Walker) IsText() bool { return w.kind() == '"' }

// IsList reports whether the next value is an array.
func (w *Walker) IsList() bool { return w.kind() == '[' }

// Skip passes over a value.
func (w *Walker) Skip() {
	if w.err == nil {
		w.err = w.dec.SkipValue()
	}
}

// Value passes over a value and returns where it stands.
func (w *Walker) Value() Span {
	if w.err != nil {
		return Span{}
	}
	raw, err := w.dec.ReadValue()
	if w.err = err; err != nil {
		return Span{}
	}
	return Span{w.At() - len(raw), w.At()}
}

// Raw returns a copy of a value's JSON.
func (w *Walker) Raw() []byte {
	if w.err != nil {
		return nil
	}
	raw, err := w.dec.ReadValue()
	if w.err = err; err != nil {
		return nil
	}
	return bytes.Clone(raw)
}

// Text returns a string, with U+FFFD for what is no UTF-8.
func (w *Walker) Text() string {
	if w.kind() != '"' {
		w.Skip()
		return ""
	}
	tok := w.token()
	if w.err != nil {
		return ""
	}
	return strings.ToValidUTF8(tok.String(), "\uFFFD")
}

// Number returns a number without its fraction, from 0 to 2^31-1.
func (w *Walker) Number() int {
	if w.kind() != '0' {
		w.Skip()
		return 0
	}
	tok := w.token()
	if w.err != nil {
		return 0
	}
	n, err := tok.Float()
	w.err = err
	return int(min(max(n, 0), 1<<31-1))
}

// Truth reports whether the value is true.
func (w *Walker) Truth() bool {
	if w.kind() != 't' {
		w.Skip()
		return false
	}
	w.token()
	return true
}

// Object calls member with each name; it has to read the value.
func (w *Walker) Object(member func(name string)) {
	if w.kind() != '{' {
		w.Skip()
		return
	}
	w.token()
	for w.err == nil && w.dec.PeekKind() != '}' {
		name := w.token()
		if w.err != nil {
			return
		}
		member(name.String())
	}
	w.token()
}

// List calls element for each element; it has to read it.
func (w *Walker) List(element func()) {
	if w.kind() != '[' {
		w.Skip()
		return
	}
	w.token()
	for w.err == nil && w.dec.PeekKind() != ']' {
		element()
	}
	w.token()
}

func (w *Walker) token() jsontext.Token {
	if w.err != nil {
		return jsontext.Token{}
	}
	tok, err := w.dec.ReadToken()
	w.err = err
	return tok
}
