package statusline

import (
	"strconv"
	"strings"

	"strandline/internal/text"
	"strandline/internal/usage"
)

// Style describes the terminal and the template.
type Style struct {
	Template string // "" for the default
	ASCII    bool   // only ASCII characters, except in the template
	Plain    bool   // no colours
	Width    int    // columns, 0 if unknown
}

// defaults returns the default template and its shorter forms for narrow terminals.
func defaults() []string {
	return []string{
		"{shield} {percent} {tokens} {cycles} {dot} {brain} {health}",
		"{shield} {percent} {tokens} {cycles}",
		"{shield} {percent} {tokens}",
		"{shield} {percent}",
		"{percent}",
	}
}

// Render returns a line.
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

// clip cuts a line to n columns and resets an open colour.
func clip(s string, n int) string {
	end := text.PrefixCells(s, n)
	out := strings.TrimRight(s[:end], " ")
	if end < len(s) && strings.Contains(out, "\x1b[") {
		out += "\x1b[0m"
	}
	return out
}

// fill replaces the names in a template by their values. Unknown names stay.
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

// values returns the value of each name.
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
		"shield": v.Capture.icon(ascii), "zone": s.Zone, "dot": pick("·", "|"), "brain": pick("🧠", "mem"),
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

// icon returns the character of the shield.
func (s CaptureStatus) icon(ascii bool) string {
	icons := []string{"⏳", "🛡️", "⏳", "⚠️"}
	if ascii {
		icons = []string{"[..]", "[ok]", "[..]", "[!!]"}
	}
	return icons[s]
}

// color returns the ANSI code of the colour of a value, "" for none.
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

// barWidth is the number of columns of a bar.
const barWidth = 10

func bar(part float64, ascii bool) string {
	full, empty := "█", "░"
	if ascii {
		full, empty = "=", "-"
	}
	n := min(max(int(part*barWidth), 0), barWidth)
	return strings.Repeat(full, n) + strings.Repeat(empty, barWidth-n)
}

// printable removes control characters and, in ASCII, all other characters.
func printable(s string, ascii bool) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && (r < 0xa0 || ascii) {
			return -1
		}
		return r
	}, s)
}
