package terms

import (
	"strings"

	"strandline/internal/archive"
)

// Asks returns what an English question asks for that can be seen in a passage
// without understanding it. "when" asks only at the beginning; elsewhere it says
// under which condition, as commits do ("fix the panic when the file is gone").
func Asks(query string) (asks archive.Asks) {
	words := strings.Fields(strings.ToLower(query))
	for i, w := range words {
		w = strings.TrimRight(w, "?,.")
		before := ""
		if i > 0 {
			before = words[i-1]
		}
		switch w {
		case "when":
			if i == 0 {
				asks |= archive.AsksTime
			}
		case "long":
			if before == "how" {
				asks |= archive.AsksTime | archive.AsksNumber
			}
		case "many", "much", "old", "often":
			if before == "how" {
				asks |= archive.AsksNumber
			}
		case "year", "month", "day", "date", "weekday":
			if before == "what" || before == "which" {
				asks |= archive.AsksTime
			}
		case "version", "number", "port":
			if before == "what" || before == "which" {
				asks |= archive.AsksNumber
			}
		}
	}
	return asks
}

// Names returns what a term, as Index gives it, names behind the one before it: a
// time, a number or both.
func Names(before, term []byte) archive.Asks {
	if len(term) == 0 {
		return 0
	}
	if c := term[0]; '0' <= c && c <= '9' {
		if len(term) == 4 && (c == '1' && term[1] == '9' || c == '2' && term[1] == '0') {
			return archive.AsksTime | archive.AsksNumber // most likely a year
		}
		return archive.AsksNumber
	}
	switch string(term) {
	case "yesterday", "today", "tonight", "tomorrow", "ago", "recently", "weekend",
		"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
		"january", "february", "april", "june", "july", "august", "september", "october", "november", "december":
		return archive.AsksTime
	case "night", "week", "month", "year", "spring", "summer", "autumn", "winter":
		switch string(before) {
		case "last", "next", "this", "thi": // as a plural's ending is folded
			return archive.AsksTime
		}
	case "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "couple", "dozen", "twice", "several":
		return archive.AsksNumber
	}
	return 0
}
