package statusline

import (
	"strconv"
	"strings"

	"strandline/internal/text"
	"strandline/internal/usage"
)

// Style says how a line is drawn.
type Style struct {
	Template string // "" for the default
	ASCII    bool   // no character beyond ASCII but the template's own
	Plain    bool   // no colours
	Width    int    // columns, 0: not known
}

// The default line, and what it leaves out where there is little room.
func defaults() []string {
	return []string{
		"{shield} {percent} {tokens} {cycles} {dot} {brain} {health}",
		"{shield} {percent} {tokens} {cycles}",
		"{shield} {percent} {tokens}",
		"{shield} {percent}",
		"{percent}",
	}
}

// Names are what a template may name in braces.
func Names() []string {
	return []string{
		"shield", "percent", "tokens", "window", "bar", "trend", "turns", "zone", "cycles", "brain", "health", "model", "dot",
	}
}

// Render draws a line.
func Render(v Data, st Style) string {
	forms := defaults()
	if st.Template != "" {
		forms = []string{st.Template}
	}
	line := ""
	for _, form := range forms {
		line = fill(form, v, st)
		if st.Width <= 0 || text.Cells(line) <= st.Width {
			return line
		}
	}
	return clip(line, st.Width)
}

// fill puts the values into a template. What is in braces and no name stays.
func fill(template string, v Data, st Style) string {
	values := v.values(st.ASCII)
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, after, closed := strings.Cut(rest, "}")
		value, known := values[name]
		if !closed || !known {
			b.WriteString("{")
			template = rest
			continue
		}
		if code := v.color(name); code != "" && !st.Plain && value != "" {
			value = "\x1b[" + code + "m" + value + "\x1b[0m"
		}
		b.WriteString(value)
		template = after
	}
}

// values are what stands for each name.
func (v Data) values(ascii bool) map[string]string {
	pick := func(rich, plain string) string {
		if ascii {
			return plain
		}
		return rich
	}
	s := v.State
	about := ""
	if s.Estimated {
		about = "~"
	}
	m := map[string]string{
		"shield": v.Capture.glyph(ascii), "zone": s.Zone, "dot": pick("·", "|"), "brain": pick("🧠", "mem"),
		"model": printable(v.Model, ascii), "cycles": pick("⊘", "-"), "health": "?",
		"percent": "?", "tokens": "?", "window": "?", "bar": "", "trend": "", "turns": "",
	}
	if v.HealthKnown {
		m["health"] = strconv.Itoa(usage.Percent(v.Health)) + "%"
	}
	if s.PruneCount > 0 {
		m["cycles"] = pick("⟳", "x") + strconv.Itoa(s.PruneCount)
	}
	if !v.Known {
		return m
	}
	m["percent"] = about + strconv.Itoa(usage.Percent(s.LastPercentage)) + "%"
	m["tokens"] = about + usage.FormatTokens(s.LastTokenEstimate)
	m["window"] = usage.FormatTokens(s.Window)
	m["bar"] = bar(s.LastPercentage, ascii)
	if s.Growth > 0 {
		m["trend"] = "+" + usage.FormatTokens(s.Growth) + "/turn"
		if n, ok := usage.TurnsLeft(s.LastTokenEstimate+s.Output, s.Limit, s.Growth); ok {
			m["turns"] = "~" + strconv.Itoa(n)
		}
	}
	return m
}

func (s CaptureStatus) glyph(ascii bool) string {
	rich, plain := "⏳", "[..]"
	switch s {
	case Captured:
		rich, plain = "🛡️", "[ok]"
	case Failed:
		rich, plain = "⚠️", "[!!]"
	case Unknown, Pending:
	}
	if ascii {
		return plain
	}
	return rich
}

// color is the code of the colour in which a value is shown, "" for none.
func (v Data) color(name string) string {
	switch name {
	case "percent", "tokens", "bar", "zone":
		if !v.Known {
			return ""
		}
		switch usage.Zone(v.State.Zone) {
		case usage.Warning:
			return "33" // yellow
		case usage.Optimize:
			return "31" // red
		case usage.OK:
			return "32" // green
		}
	case "shield":
		if v.Capture == Failed {
			return "33"
		}
	}
	return ""
}

// barWidth is how many cells a bar has.
const barWidth = 10

func bar(part float64, ascii bool) string {
	full, empty := "█", "░"
	if ascii {
		full, empty = "=", "-"
	}
	n := min(max(int(part*barWidth), 0), barWidth)
	return strings.Repeat(full, n) + strings.Repeat(empty, barWidth-n)
}

// printable drops what moves a cursor, and in ASCII everything beyond it.
func printable(s string, ascii bool) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && (r < 0xa0 || ascii) {
			return -1
		}
		return r
	}, s)
}
