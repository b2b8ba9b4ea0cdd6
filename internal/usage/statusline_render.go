package usage

import (
	"slices"
	"strconv"
	"strings"

	"strandline/internal/text"
)

// lineStyle describes the terminal and the template.
type lineStyle struct {
	template string // "" for the default
	ascii    bool   // only ASCII characters, except in the template
	plain    bool   // no colours
	width    int    // columns; 0 or less if unknown
}

// defaultTemplates returns the default template and its shorter forms for narrow
// terminals.
func defaultTemplates() []string {
	return []string{
		"{shield} {percent} {tokens} {cycles} {dot} {brain} {health}", "{shield} {percent} {tokens} {cycles}",
		"{shield} {percent} {tokens}", "{shield} {percent}", "{percent}",
	}
}

// render returns the line, at most as wide as the terminal.
func (v lineValues) render(st lineStyle) string {
	forms := defaultTemplates()
	if st.template != "" {
		forms = []string{st.template}
	}
	line := ""
	for _, form := range forms {
		line = v.fill(form, st)
		if st.width <= 0 || text.Cells(line) <= st.width {
			return line
		}
	}
	end := text.PrefixCells(line, st.width)
	short := strings.TrimRight(line[:end], " ")
	if end < len(line) && strings.Contains(short, "\x1b[") {
		short += "\x1b[0m" // resets an open colour
	}
	return short
}

// fill replaces the names in a template by their values. Unknown names stay.
func (v lineValues) fill(template string, st lineStyle) string {
	values := v.byName(st.ascii)
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
		if code := v.color(name); code != "" && !st.plain && value != "" {
			value = "\x1b[" + code + "m" + value + "\x1b[0m"
		}
		b.WriteString(value)
		template = after
	}
}

// byName returns the value of each name of a template.
func (v lineValues) byName(ascii bool) map[string]string {
	pick := func(rich, plain string) string {
		if ascii {
			return plain
		}
		return rich
	}
	m := map[string]string{
		"shield": pick([]string{"⏳", "🛡️", "⚠️"}[v.capture], []string{"[..]", "[ok]", "[!!]"}[v.capture]),
		"zone":   v.Zone, "dot": pick("·", "|"), "brain": pick("🧠", "mem"),
		"model": printable(v.modelName, ascii), "cycles": pick("⊘", "-"), "health": "?",
		"percent": "?", "tokens": "?", "window": "?", "bar": "", "trend": "", "turns": "",
	}
	if v.healthKnown {
		m["health"] = strconv.Itoa(Percent(v.health)) + "%"
	}
	if v.PruneCount > 0 {
		m["cycles"] = pick("⟳", "x") + strconv.Itoa(v.PruneCount)
	}
	if !v.known {
		return m
	}
	m["percent"] = v.approx() + strconv.Itoa(Percent(v.LastPercentage)) + "%"
	m["tokens"] = v.approx() + FormatTokens(v.LastTokenEstimate)
	m["window"] = FormatTokens(v.Window)
	m["bar"] = bar(v.LastPercentage, pick("█", "="), pick("░", "-"))
	if v.Growth > 0 {
		m["trend"] = "+" + FormatTokens(v.Growth) + "/turn"
		if n, ok := TurnsLeft(v.LastTokenEstimate+v.Output, v.Limit, v.Growth); ok {
			m["turns"] = "~" + strconv.Itoa(n)
		}
	}
	return m
}

// color returns the ANSI code of the colour of a value, "" for none.
func (v lineValues) color(name string) string {
	const red, green, yellow = "31", "32", "33"
	switch {
	case v.known && slices.Contains([]string{"percent", "tokens", "bar", "zone"}, name):
		return map[Zone]string{OK: green, Warning: yellow, Optimize: red}[Zone(v.Zone)]
	case name == "shield" && v.capture == captureFailed:
		return yellow
	}
	return ""
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
