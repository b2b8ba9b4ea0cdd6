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

// defaultParts returns the templates of the line's parts. A part without a value is left
// out; a narrow terminal shows fewer parts.
func defaultParts() []string { return []string{"{shield} {percent}", "{tokens}/{limit}", "{left}"} }

// minLine is the shortest form of the line.
const minLine = "{percent}"

// render returns the line, at most as wide as the terminal.
func (v lineValues) render(st lineStyle) string {
	values := v.byName(st.ascii)
	fits := func(line string) bool { return st.width <= 0 || text.Cells(line) <= st.width }
	var line string
	if st.template != "" {
		line = v.fill(st.template, values, st)
	} else {
		parts := v.parts(values, st)
		for ; len(parts) > 1 && !fits(strings.Join(parts, st.separator())); parts = parts[:len(parts)-1] {
		}
		if line = strings.Join(parts, st.separator()); !fits(line) && values["percent"] != "" {
			line = v.fill(minLine, values, st)
		}
	}
	if fits(line) {
		return line
	}
	end := text.PrefixCells(line, st.width)
	short := strings.TrimRight(line[:end], " ")
	if end < len(line) && strings.Contains(short, "\x1b[") {
		short += "\x1b[0m" // resets an open colour
	}
	return short
}

func (st lineStyle) separator() string {
	if st.ascii {
		return " | "
	}
	return " · "
}

// parts returns the parts of the default line that have values.
func (v lineValues) parts(values map[string]string, st lineStyle) (out []string) {
	for i, part := range defaultParts() {
		if i == 0 && values["percent"] == "" {
			part = "{shield}"
		}
		if i > 0 && (values["percent"] == "" || part == "{left}" && values["left"] == "") {
			continue
		}
		out = append(out, v.fill(part, values, st))
	}
	return out
}

// fill replaces the names in a template by their values. Unknown names stay.
func (v lineValues) fill(template string, values map[string]string, st lineStyle) string {
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
		"percent": "", "tokens": "", "window": "", "limit": "", "bar": "", "trend": "", "turns": "", "left": "",
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
	m["window"] = FormatTokens(v.Window)
	if v.LastTokenEstimate == 0 { // before the first response
		return m
	}
	used := share(v.LastTokenEstimate, v.Limit)
	m["percent"] = v.approx() + strconv.Itoa(Percent(used)) + "%"
	m["tokens"] = v.approx() + wholeTokens(v.LastTokenEstimate)
	m["limit"] = wholeTokens(v.Limit)
	m["bar"] = bar(used, pick("█", "="), pick("░", "-"))
	if v.Growth > 0 {
		m["trend"] = "+" + FormatTokens(v.Growth) + "/turn"
		if n, ok := TurnsLeft(v.LastTokenEstimate+v.Output, v.Limit, v.Growth); ok {
			m["turns"] = "~" + strconv.Itoa(n)
			m["left"] = turnsLeft(n, v.Compacts)
		}
	}
	return m
}

// maxLeft is the largest number of turns that the line announces: a forecast further ahead
// says little.
const maxLeft = 99

// turnsLeft returns how many turns fit before the client compacts.
func turnsLeft(n int, compacts bool) string {
	switch {
	case n > maxLeft:
		return ""
	case n == 0 && compacts:
		return "compaction next"
	case n == 0:
		return "window full"
	}
	return "~" + text.Count(n, "turn")
}

// wholeTokens formats a number of tokens without a fraction from 10K on.
func wholeTokens(n int64) string {
	if n >= 10_000 && n < 999_500 {
		n = (n + 500) / 1000 * 1000
	}
	return FormatTokens(n)
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
