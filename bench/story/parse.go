package story

import (
	"fmt"
	"slices"
	"strings"
)

// section is one part of a story.
type section struct {
	kind     string
	arg      string
	body     string
	parallel bool // to the previous call
	line     int
}

// kinds lists the section kinds.
func kinds() []string {
	return []string{"prompt", "think", "say", "bash", "read", "write", "edit", "grep", "todo", "agent", "report", "compact", "done"}
}

// calls lists the kinds that are tool calls.
func calls() []string {
	return []string{"bash", "read", "write", "edit", "grep", "todo", "agent"}
}

func parse(text string) ([]section, error) {
	var sections []section
	var body []string
	flush := func() {
		if n := len(sections); n > 0 {
			sections[n-1].body = strings.Trim(strings.Join(body, "\n"), "\n")
		}
		body = body[:0]
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSuffix(line, "\n")
		head, ok := strings.CutPrefix(line, "@@ ")
		if !ok {
			if len(sections) == 0 && strings.TrimSpace(line) != "" {
				return nil, fmt.Errorf("line %d: text before the first section", n)
			}
			body = append(body, line)
			continue
		}
		flush()
		kind, arg, _ := strings.Cut(head, " ")
		kind, parallel := strings.CutPrefix(kind, "+")
		if !slices.Contains(kinds(), kind) {
			return nil, fmt.Errorf("line %d: unknown section %q", n, kind)
		}
		if parallel && !slices.Contains(calls(), kind) {
			return nil, fmt.Errorf("line %d: %s is not a tool call", n, kind)
		}
		sections = append(sections, section{kind: kind, arg: strings.TrimSpace(arg), parallel: parallel, line: n})
	}
	flush()
	return sections, nil
}
