package usage

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// encodeJSON writes a session as encoding/json would. A hook encodes one session
// and ends, and of that package's first value most of the time goes into learning
// the type.
func (s *Session) encodeJSON() ([]byte, error) {
	e := encoder{b: []byte{'{'}}
	e.text("sessionId", s.SessionID)
	e.integer("lastTokenEstimate", s.LastTokenEstimate)
	e.part("lastPercentage", s.LastPercentage)
	e.integer("pruneCount", int64(s.PruneCount))
	e.flag("warningIssued", s.WarningIssued)
	e.integer("lastCheck", s.LastCheck)
	e.name("history")
	e.history(s.History)
	for _, m := range []struct {
		name  string
		value any
	}{
		{"estimated", s.Estimated}, {"model", s.Model}, {"window", s.Window}, {"windowFrom", s.WindowFrom}, {"told", s.ClientWindow},
		{"toldModel", s.ClientModel}, {"seen", s.MaxTokens}, {"threshold", s.Threshold}, {"hard", s.Hard}, {"next", s.Limit},
		{"compacts", s.Compacts}, {"growth", s.Growth}, {"zone", s.Zone}, {"reportedZone", s.ReportedZone},
		{"reportedStep", int64(s.ReportedStep)}, {"output", s.Output}, {"line", int64(s.Line)}, {"cutLine", int64(s.CompactionLine)},
		{"generation", int64(s.Generation)}, {"counted", s.Counted}, {"base", s.Base}, {"chars", s.Chars}, {"charsTo", s.CharsTo},
		{"captured", s.Captured}, {"doubt", s.CaptureFailed},
	} {
		e.unlessZero(m.name, m.value)
	}
	e.integer("version", int64(s.Version))
	return append(e.b, '}'), e.err
}

// encoder appends the members of an object.
type encoder struct {
	b   []byte
	err error
}

func (e *encoder) name(name string) {
	if last := e.b[len(e.b)-1]; last != '{' {
		e.b = append(e.b, ',')
	}
	e.b = append(e.b, '"')
	e.b = append(e.b, name...) // ours, with nothing to escape
	e.b = append(e.b, '"', ':')
}

func (e *encoder) integer(name string, n int64) {
	e.name(name)
	e.b = strconv.AppendInt(e.b, n, 10)
}

func (e *encoder) part(name string, f float64) {
	e.name(name)
	e.b = strconv.AppendFloat(e.b, f, 'f', -1, 64)
}

func (e *encoder) flag(name string, on bool) {
	e.name(name)
	e.b = strconv.AppendBool(e.b, on)
}

func (e *encoder) text(name, s string) {
	e.name(name)
	b, err := jsontext.AppendQuote(e.b, s)
	if err != nil { // not UTF-8
		e.err = err
		return
	}
	e.b = b
}

// unlessZero leaves a value out that says nothing.
func (e *encoder) unlessZero(name string, value any) {
	switch v := value.(type) {
	case string:
		if v != "" {
			e.text(name, v)
		}
	case int64:
		if v != 0 {
			e.integer(name, v)
		}
	case bool:
		if v {
			e.flag(name, v)
		}
	}
}

func (e *encoder) history(points []Point) {
	if points == nil {
		e.b = append(e.b, "null"...)
		return
	}
	e.b = append(e.b, '[')
	for i, p := range points {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		e.b = append(e.b, '{')
		e.integer("ts", p.TS)
		e.integer("tokens", p.Tokens)
		e.part("pct", p.Pct)
		e.integer("turns", int64(p.Turns))
		e.b = append(e.b, '}')
	}
	e.b = append(e.b, ']')
}
