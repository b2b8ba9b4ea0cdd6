package cli

// painter colours text for a terminal; its zero value leaves text as it is.
type painter struct{ on bool }

// paint colours only for a terminal, and not where NO_COLOR is set
// (https://no-color.org).
func (a *app) paint() painter {
	_, terminal := a.env.Terminal(a.env.Stdout)
	return painter{on: terminal && a.env.Getenv("NO_COLOR") == "" && a.env.Getenv("TERM") != "dumb"}
}

func (p painter) code(code, s string) string {
	if !p.on || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p painter) bold(s string) string   { return p.code("1", s) }
func (p painter) dim(s string) string    { return p.code("2", s) }
func (p painter) red(s string) string    { return p.code("31", s) }
func (p painter) green(s string) string  { return p.code("32", s) }
func (p painter) yellow(s string) string { return p.code("33", s) }
func (p painter) kind(s string) string   { return p.code("36", s) }
