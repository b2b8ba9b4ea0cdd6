package redact

import (
	"strings"

	"strandline/internal/text"
)

// maxRows is the number of rows below the header of a table that are read.
const maxRows = 64

// header matches the values below a name in the first line of a table: CSV, TSV or
// Markdown. The name contains the word at offset at and fills its cell.
func (n named) header(s string, at int) []finding {
	end := at + len(n.word)
	end += run(s[end:min(len(s), end+maxName)], text.IsLetter)
	mark, start := cell(s, at, end)
	if mark == 0 || n.weak || n.word == "cred" || !n.secretName(s, start, at, end) {
		return nil
	}
	if n.word == "key" && !secretKey(strings.ToLower(strings.TrimRight(s[start:at], "_- "))) {
		return nil
	}
	from := max(0, start-maxHeader)
	from += strings.LastIndexByte(s[from:start], '\n') + 1
	line := lineAt(s, from)
	if line[0] == mark && mark != '|' || from+len(line) < end || strings.ContainsAny(line, "(){}[]=<>$") {
		return nil
	}
	return n.column(s, from+len(line), mark, strings.Count(s[from:start], string(mark)), strings.Count(line, string(mark)))
}

// column matches the cells with the given number of marks before them in the lines
// that begin after offset from and have as many marks as the header.
func (n named) column(s string, from int, mark byte, before, marks int) (found []finding) {
	for range maxRows {
		from += run(s[from:min(len(s), from+2)], isBreak)
		line := lineAt(s, from)
		if strings.Count(line, string(mark)) != marks {
			break
		}
		i := from
		for range before {
			i += strings.IndexByte(s[i:], mark) + 1
		}
		i += run(s[i:from+len(line)], isMark)
		v := s[i:min(from+len(line), i+maxSpoken-1)]
		v = v[:run(v, func(c byte) bool { return c != mark && c > ' ' && strings.IndexByte("\"'`*", c) < 0 })]
		if f, ok := n.saidAs(s, i, len(v), false); ok {
			found = append(found, f)
		}
		from += len(line)
	}
	return found
}

// cell returns the mark that divides the cells of the line with the name that ends
// at offset end, if the name is the end of a cell, and the offset of the cell.
func cell(s string, at, end int) (mark byte, start int) {
	after := end + run(s[end:min(len(s), end+maxGap)], isCellEdge)
	if after == len(s) || strings.IndexByte(",;|\t\r\n", s[after]) < 0 {
		return 0, 0
	}
	for start = at; start > 0 && at-start < maxName && (isURLSafe(s[start-1]) || isCellEdge(s[start-1])); {
		start--
	}
	mark = s[after]
	if isBreak(mark) && start > 0 {
		mark = s[start-1]
	}
	if start > 0 && s[start-1] != mark && s[start-1] != '\n' || isBreak(mark) || strings.IndexByte(",;|\t", mark) < 0 {
		return 0, 0
	}
	return mark, start + run(s[start:at], isCellEdge)
}

func isCellEdge(c byte) bool { return c == ' ' || c == '"' || c == '*' }

// lineAt returns the line at offset i.
func lineAt(s string, i int) string {
	line := s[i:min(len(s), i+maxHeader)]
	return line[:run(line, func(c byte) bool { return !isBreak(c) })]
}

// oneTimeCode matches the digits of "your verification code is 123456".
func oneTimeCode(s string, at int) (finding, bool) {
	before := s[at-runBefore(s[:at], func(c byte) bool { return isURLSafe(c) }) : at]
	if !listed("verification security authentication confirmation login access sms otp 2fa mfa passcode pin one-time backup recovery unlock", strings.ToLower(before)) {
		return finding{}, false
	}
	i := at + len(" code")
	i += run(s[i:], func(c byte) bool { return c == ':' || c == ' ' || c == '*' || c == 'i' || c == 's' })
	n := run(s[i:min(len(s), i+12)], func(c byte) bool { return text.IsDigit(c) || c == '-' })
	digits := mixOf(s[i : i+n]).digit
	return finding{"one-time-code", i, i + n}, digits >= 4 && digits <= 8 && borderAfter(s, i+n)
}
