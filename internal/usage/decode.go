package usage

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// errShape says that a value is not of the kind that its name asks for.
var errShape = errors.New("a value of another kind")

// parse reads what encodeJSON wrote, for the reason that it was written by hand:
// a hook reads one session. Names that are not known are passed over.
func (s *Session) parse(data []byte) error {
	d := &decoder{in: jsontext.NewDecoder(bytes.NewReader(data))}
	d.object(func(name string) bool {
		switch name {
		case "sessionId":
			d.text(&s.SessionID)
		case "lastPercentage":
			d.part(&s.LastPercentage)
		case "history":
			d.history(&s.History)
		case "model":
			d.text(&s.Model)
		case "windowFrom":
			d.text(&s.WindowFrom)
		case "toldModel":
			d.text(&s.ClientModel)
		case "zone":
			d.text(&s.Zone)
		case "reportedZone":
			d.text(&s.ReportedZone)
		default:
			return s.parseFlag(d, name) || s.parseNumber(d, name)
		}
		return true
	})
	if _, err := d.in.ReadToken(); d.err == nil && !errors.Is(err, io.EOF) {
		d.err = errShape // something follows
	}
	return d.err
}

func (s *Session) parseFlag(d *decoder, name string) bool {
	var to *bool
	switch name {
	case "warningIssued":
		to = &s.WarningIssued
	case "estimated":
		to = &s.Estimated
	case "compacts":
		to = &s.Compacts
	case "counted":
		to = &s.Counted
	case "doubt":
		to = &s.CaptureFailed
	default:
		return false
	}
	d.flag(to)
	return true
}

func (s *Session) parseNumber(d *decoder, name string) bool {
	if to := s.small(name); to != nil {
		var n int64
		d.integer(&n)
		*to = int(n)
		return true
	}
	to := s.large(name)
	if to != nil {
		d.integer(to)
	}
	return to != nil
}

// small returns the field of a number that is no count of tokens or bytes.
func (s *Session) small(name string) *int {
	switch name {
	case "pruneCount":
		return &s.PruneCount
	case "reportedStep":
		return &s.ReportedStep
	case "line":
		return &s.Line
	case "cutLine":
		return &s.CompactionLine
	case "generation":
		return &s.Generation
	case "version":
		return &s.Version
	}
	return nil
}

func (s *Session) large(name string) *int64 {
	switch name {
	case "lastTokenEstimate":
		return &s.LastTokenEstimate
	case "lastCheck":
		return &s.LastCheck
	case "window":
		return &s.Window
	case "told":
		return &s.ClientWindow
	case "seen":
		return &s.MaxTokens
	case "threshold":
		return &s.Threshold
	case "hard":
		return &s.Hard
	case "next":
		return &s.Limit
	case "growth":
		return &s.Growth
	case "output":
		return &s.Output
	case "base":
		return &s.Base
	case "chars":
		return &s.Chars
	case "charsTo":
		return &s.CharsTo
	case "captured":
		return &s.Captured
	}
	return nil
}

// decoder reads the members of an object until the first error, which it keeps.
type decoder struct {
	in  *jsontext.Decoder
	err error
}

// token reads the next token, which has to be of a kind.
func (d *decoder) token(kinds ...jsontext.Kind) (t jsontext.Token) {
	if d.err != nil {
		return t
	}
	if t, d.err = d.in.ReadToken(); d.err != nil {
		return t
	}
	for _, k := range kinds {
		if t.Kind() == k {
			return t
		}
	}
	d.err = errShape
	return t
}

// object calls member for each name, until there is none or something is wrong. A
// member that returns false was not read.
func (d *decoder) object(member func(name string) bool) {
	for d.token('{'); d.err == nil && d.in.PeekKind() != '}'; {
		if name := d.token('"'); d.err == nil && !member(name.String()) {
			d.err = d.in.SkipValue()
		}
	}
	d.token('}')
}

func (d *decoder) text(to *string) {
	if t := d.token('"'); d.err == nil {
		*to = t.String()
	}
}

func (d *decoder) flag(to *bool) {
	if t := d.token('t', 'f'); d.err == nil {
		*to = t.Bool()
	}
}

func (d *decoder) part(to *float64) {
	if t := d.token('0'); d.err == nil {
		*to, d.err = t.Float()
	}
}

func (d *decoder) integer(to *int64) {
	if t := d.token('0'); d.err == nil {
		*to, d.err = t.Int()
	}
}

func (d *decoder) history(to *[]Point) {
	if t := d.token('[', 'n'); d.err != nil || t.Kind() == 'n' {
		return
	}
	*to = []Point{}
	for d.err == nil && d.in.PeekKind() != ']' {
		var p Point
		d.object(func(name string) bool {
			switch name {
			case "ts":
				d.integer(&p.TS)
			case "tokens":
				d.integer(&p.Tokens)
			case "pct":
				d.part(&p.Pct)
			case "turns":
				var n int64
				d.integer(&n)
				p.Turns = int(n)
			default:
				return false
			}
			return true
		})
		*to = append(*to, p)
	}
	d.token(']')
}
