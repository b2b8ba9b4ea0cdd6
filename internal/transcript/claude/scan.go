package claude

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// scanner turns lines into rows by one walk over their tokens. It keeps its
// decoder and buffers from line to line, so that memory follows the size of a
// chunk, not of the transcript.
type scanner struct {
	dec  *jsontext.Decoder
	opts []jsontext.Options
	buf  bytes.Buffer
	src  []byte // what dec reads

	rows  []row
	parts []part
}

func newScanner() *scanner {
	s := &scanner{opts: []jsontext.Options{jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)}}
	s.dec = jsontext.NewDecoder(&s.buf, s.opts...)
	return s
}

// scan splits the complete lines of chunk, the first of which has number first,
// into s.rows. They are valid until the next call.
func (s *scanner) scan(chunk []byte, first int) {
	s.rows, s.parts = s.rows[:0], s.parts[:0]
	for line := first; len(chunk) > 0; line++ {
		end := bytes.IndexByte(chunk, '\n')
		if end < 0 {
			return
		}
		s.rows = append(s.rows, row{line: line})
		s.line(&s.rows[len(s.rows)-1], chunk[:end])
		chunk = chunk[end+1:]
	}
}

// line reads one line. A line that is no JSON object, is cut, nests too deeply
// or has something behind its object is malformed as a whole.
func (s *scanner) line(r *row, src []byte) {
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(src)) == 0 {
		r.kind = typeBlank
		return
	}
	r.partFrom = len(s.parts)
	s.reset(src)
	err := s.object(func(key []byte) error { return s.field(r, key) })
	if err != nil || len(bytes.TrimSpace(src[s.dec.InputOffset():])) > 0 {
		s.parts = s.parts[:r.partFrom]
		*r = row{line: r.line, kind: typeMalformed, partFrom: r.partFrom, rawContent: src}
	}
	r.partTo = len(s.parts)
}

// release lets go of the chunk that the rows alias.
func (s *scanner) release() {
	clear(s.rows)
	clear(s.parts)
	s.rows, s.parts = s.rows[:0], s.parts[:0]
	s.reset(nil)
}

// partsOf returns the content blocks of a row.
func (s *scanner) partsOf(r *row) []part { return s.parts[r.partFrom:r.partTo] }

// reset makes the decoder read src, without a copy.
func (s *scanner) reset(src []byte) {
	s.src = src
	s.buf = *bytes.NewBuffer(src)
	s.dec.Reset(&s.buf, s.opts...)
}

// object walks the members of the object that comes next. The function has to
// consume the value of the key it is given.
func (s *scanner) object(member func(key []byte) error) error {
	tok, err := s.dec.ReadToken()
	if err != nil {
		return err
	}
	if tok.Kind() != jsontext.KindBeginObject {
		return errNoObject
	}
	for s.dec.PeekKind() == jsontext.KindString {
		key, err := s.value()
		if err != nil {
			return err
		}
		if err := member(plain(key)); err != nil {
			return err
		}
	}
	_, err = s.dec.ReadToken()
	return err
}

// members is object for a value that may be of any kind: another kind is
// skipped.
func (s *scanner) members(member func(key []byte) error) error {
	if s.dec.PeekKind() != jsontext.KindBeginObject {
		return s.dec.SkipValue()
	}
	return s.object(member)
}

// elements walks an array; another kind of value is skipped.
func (s *scanner) elements(element func() error) error {
	if s.dec.PeekKind() != jsontext.KindBeginArray {
		return s.dec.SkipValue()
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return err
	}
	for {
		switch s.dec.PeekKind() {
		case jsontext.KindEndArray:
			_, err := s.dec.ReadToken()
			return err
		case jsontext.KindInvalid:
			_, err := s.dec.ReadToken()
			if err == nil {
				err = errNoObject
			}
			return err
		}
		if err := element(); err != nil {
			return err
		}
	}
}

// value reads the next value whole; the slice aliases the source, not the
// decoder, and so outlives the next call.
func (s *scanner) value() ([]byte, error) {
	v, err := s.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(s.dec.InputOffset())
	return s.src[end-len(v) : end], nil
}
