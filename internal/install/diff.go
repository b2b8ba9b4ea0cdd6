package install

import (
	"fmt"
	"strings"
)

// diffContext is the number of unchanged lines around a change.
const diffContext = 3

// Diff returns the changes in unified form, empty if there are none. Line ends
// and byte order marks are not shown.
func (p Plan) Diff() string {
	var b strings.Builder
	for _, f := range p.Files {
		if f.Changed() {
			b.WriteString(f.diff())
		}
	}
	return b.String()
}

func (f FileChange) diff() string {
	from, to := f.Target, f.Target
	if f.Before == nil {
		from = "/dev/null"
	}
	if f.After == nil {
		to = "/dev/null"
	}
	return fmt.Sprintf("--- %s\n+++ %s\n", from, to) + hunks(compare(lines(f.Before), lines(f.After)))
}

func lines(data []byte) []string {
	text := strings.TrimPrefix(string(data), "\ufeff")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.TrimSuffix(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// change is a line of a comparison: kept (' '), gone ('-') or new ('+').
type change struct {
	sign byte
	line string
}

// maxCompare limits the table of a comparison; beyond it, everything between the
// first and the last difference is shown as replaced.
const maxCompare = 4 << 20

// compare finds a shortest way from one text to the other.
func compare(a, b []string) []change {
	head, tail := 0, 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var list []change
	for _, line := range a[:head] {
		list = append(list, change{' ', line})
	}
	list = append(list, between(a[head:len(a)-tail], b[head:len(b)-tail])...)
	for _, line := range a[len(a)-tail:] {
		list = append(list, change{' ', line})
	}
	return list
}

// between compares texts that differ at both ends, by the length of the longest
// common run of what is left from every pair of places.
func between(a, b []string) []change {
	width := len(b) + 1
	var common []int
	if len(a)*width <= maxCompare {
		common = make([]int, (len(a)+1)*width)
		for i := len(a) - 1; i >= 0; i-- {
			for j := len(b) - 1; j >= 0; j-- {
				if a[i] == b[j] {
					common[i*width+j] = common[(i+1)*width+j+1] + 1
				} else {
					common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
				}
			}
		}
	}
	var list []change
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case common != nil && i < len(a) && j < len(b) && a[i] == b[j]:
			list = append(list, change{' ', a[i]})
			i, j = i+1, j+1
		case i < len(a) && (common == nil || j == len(b) || common[(i+1)*width+j] >= common[i*width+j+1]):
			list = append(list, change{'-', a[i]})
			i++
		default:
			list = append(list, change{'+', b[j]})
			j++
		}
	}
	return list
}

// hunks prints the changes with their surroundings.
func hunks(list []change) string {
	var b strings.Builder
	oldLine, newLine := 1, 1
	for at := 0; at < len(list); {
		if list[at].sign == ' ' {
			at++
			oldLine++
			newLine++
			continue
		}
		start := max(0, at-diffContext)
		end := hunkEnd(list, at)
		oldFrom, newFrom := oldLine-(at-start), newLine-(at-start)
		var body strings.Builder
		oldLine, newLine = oldFrom, newFrom
		for _, c := range list[start:end] {
			if c.sign != '+' {
				oldLine++
			}
			if c.sign != '-' {
				newLine++
			}
			fmt.Fprintf(&body, "%c%s\n", c.sign, c.line)
		}
		fmt.Fprintf(&b, "@@ -%s +%s @@\n%s", extent(oldFrom, oldLine), extent(newFrom, newLine), body.String())
		at = end
	}
	return b.String()
}

// hunkEnd returns the end of the hunk whose first change is at: changes that are
// close to each other share it.
func hunkEnd(list []change, at int) int {
	last := at
	for i := at; i < len(list) && i-last <= 2*diffContext; i++ {
		if list[i].sign != ' ' {
			last = i
		}
	}
	return min(len(list), last+1+diffContext)
}

// extent prints the lines from one up to another as "start,count"; no lines are
// said to start at the line before.
func extent(from, to int) string {
	if count := to - from; count > 0 {
		return fmt.Sprintf("%d,%d", from, count)
	}
	return fmt.Sprintf("%d,0", from-1)
}
