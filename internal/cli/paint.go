package cli

// painter colours text for a terminal; its zero value leaves text as it is.
type painter struct{ on bool }

// paint colours only for a terminal, and not where NO_COLOR is set
// (https://no-color.org).
func (a *commands) paint() painter {
	_, terminal := a.env.Terminal(a.env.Stdout)
	return painter{on: terminal && a.app.Getenv("NO_COLOR") == "" && a.app.Getenv("TERM") != "dumb"}
}

// The colours of the painter, as parameters of the terminal's sequence.
const (
	colourOff    = "0"
	colourBold   = "1"
	colourDim    = "2"
	colourRed    = "31"
	colourGreen  = "32"
	colourYellow = "33"
	colourKind   = "36"
	colourMatch  = "1;33"
)

// ours reports that a colour is one of the painter's.
func ours(params string) bool {
	switch params {
	case colourOff, colourBold, colourDim, colourRed, colourGreen, colourYellow, colourKind, colourMatch:
		return true
	}
	return false
}

func colourSequence(params string) string { return "\x1b[" + params + "m" }

func (p painter) colour(params, s string) string {
	if !p.on || s == "" {
		return s
	}
	return colourSequence(params) + s + colourSequence(colourOff)
}

func (p painter) bold(s string) string   { return p.colour(colourBold, s) }
func (p painter) dim(s string) string    { return p.colour(colourDim, s) }
func (p painter) red(s string) string    { return p.colour(colourRed, s) }
func (p painter) green(s string) string  { return p.colour(colourGreen, s) }
func (p painter) yellow(s string) string { return p.colour(colourYellow, s) }
func (p painter) kind(s string) string   { return p.colour(colourKind, s) }
