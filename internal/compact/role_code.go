package compact

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// changed lists the files that were changed, the newest first, each with the
// lines written into it last.
func (c *collector) changed() []text.Item {
	items := c.keepFiles()
	wrote := map[string][]string{}
	for _, x := range slices.Backward(c.past.passages) {
		if x.Kind != archive.KindEdit || len(x.Paths) != 1 || wrote[x.Paths[0]] != nil || c.undone(x) {
			continue
		}
		lines := []string{}
		contentLines(x, func(raw string, _ int, old bool) {
			if s := tidy(c.short(raw)); s != "" && !old && len(lines) < keepLines {
				lines = append(lines, s)
			}
		})
		wrote[x.Paths[0]] = lines
	}
	for file, lines := range wrote {
		head := c.short(oneLine(file)) + ", changed "
		for i := range items {
			if strings.HasPrefix(items[i].Text, head) && len(lines) > 0 {
				items[i].Text += "\n" + strings.Join(lines, "\n")
			}
		}
	}
	return items
}

// issues are the open errors, each with what was said of its cause.
func (c *collector) issues() (items []text.Item) {
	for _, x := range c.openFailures() {
		act := c.act(x)
		if act == "" || len(items) == keepErrors {
			continue
		}
		cause := &item{}
		c.cause(cause, x)
		for i, l := range cause.lines {
			if i < 2 {
				act += "\n" + l.text
			}
		}
		items = append(items, c.entry(valueError, len(items), x.Turn, x.Step, act))
	}
	return items
}

// looked lists the files that were read, the newest first.
func (c *collector) looked() (items []text.Item) {
	seen := map[string]bool{}
	for _, x := range slices.Backward(c.past.calls) {
		if x.Kind != archive.CallRead {
			continue
		}
		for _, f := range x.Files {
			if !seen[f] && len(items) < keepLooked {
				seen[f] = true
				items = append(items, text.Item{Text: c.short(oneLine(f)), Handle: c.handle(x.Turn, x.Step)})
			}
		}
	}
	return items
}

// ran lists the last run of each command, the newest first.
func (c *collector) ran() (items []text.Item) {
	seen := map[string]bool{}
	for _, x := range slices.Backward(c.past.calls) {
		key := archive.CommandKey(x.Command)
		if x.Kind != archive.CallCommand || seen[key] || len(items) == keepRan {
			continue
		}
		seen[key] = true
		items = append(items, text.Item{Text: c.act(x), Handle: c.handle(x.Turn, x.Step)})
	}
	return items
}

// tools counts the calls of each tool, the most used first.
func (c *collector) tools() []text.Item {
	counts := map[string]int{}
	for _, x := range c.past.calls {
		if x.Name != "" {
			counts[oneLine(x.Name)]++
		}
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	var words []string
	for _, n := range names {
		words = append(words, fmt.Sprintf("%s %d", text.Cut(n, 40), counts[n]))
	}
	if len(words) == 0 {
		return nil
	}
	return []text.Item{{Text: text.Cut(strings.Join(words, ", "), maxSentenceUnits)}}
}

// codeContext says what the code is, by what the session saw of it: languages by
// the names of files, dependencies by manifests that were read or written,
// frameworks by dependencies.
func (c *collector) codeContext() (items []text.Item) {
	files, langs := map[string]bool{}, map[string]int{}
	for _, x := range c.past.calls {
		if x.Kind != archive.CallRead && x.Kind != archive.CallEdit {
			continue
		}
		for _, f := range x.Files {
			if lang := language(f); lang != "" && !files[f] {
				files[f] = true
				langs[lang]++
			}
		}
	}
	var names []string
	for _, l := range slices.SortedFunc(maps.Keys(langs), func(a, b string) int { return cmp.Or(langs[b]-langs[a], strings.Compare(a, b)) }) {
		names = append(names, fmt.Sprintf("%s (%s)", l, count(langs[l], "file")))
	}
	if len(names) > 0 {
		items = append(items, text.Item{Text: "languages: " + strings.Join(names, ", ")})
	}
	deps, from := c.dependencies()
	var known []string
	for _, d := range deps {
		if f := framework(d); f != "" && !slices.Contains(known, f) {
			known = append(known, f)
		}
	}
	if len(known) > 0 {
		items = append(items, text.Item{Text: "frameworks: " + strings.Join(known, ", ")})
	}
	if len(deps) > 0 {
		items = append(items, text.Item{
			Text: "dependencies in " + strings.Join(from, ", ") + ": " + strings.Join(deps[:min(len(deps), keepDeps)], ", "),
		})
	}
	if checks := c.keepChecks(nil); len(checks) > 0 {
		items = append(items, text.Item{Text: "checked last: " + checks[0].Text, Handle: checks[0].Handle})
	}
	return items
}

// dependencies are the names that manifests hold, and those manifests.
func (c *collector) dependencies() (deps, from []string) {
	for _, x := range slices.Backward(c.past.passages) {
		if len(x.Paths) != 1 || x.Kind != archive.KindOutput && x.Kind != archive.KindEdit {
			continue
		}
		name := path.Base(strings.ReplaceAll(x.Paths[0], "\\", "/"))
		found := false
		contentLines(x, func(raw string, _ int, old bool) {
			d := ""
			if !old {
				d = dependency(name, oneLine(unnumber(raw)))
			}
			if d != "" {
				found = true
				if !slices.Contains(deps, d) {
					deps = append(deps, d)
				}
			}
		})
		if short := c.short(oneLine(x.Paths[0])); found && !slices.Contains(from, short) {
			from = append(from, short)
		}
	}
	return deps, from
}
