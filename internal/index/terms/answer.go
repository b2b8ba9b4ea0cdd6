package terms

import (
	"strings"

	"strandline/internal/archive"
)

// AnswerType returns what the answer to an English question contains, if the words of
// a passage can show it: a time or a number. "when" is a question only as the first
// word; elsewhere it states a condition ("fix the panic when the file is missing").
func AnswerType(query string) (answer archive.AnswerType) {
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
				answer |= archive.AnswerTime
			}
		case "long":
			if before == "how" {
				answer |= archive.AnswerTime | archive.AnswerNumber
			}
		case "many", "much", "old", "often":
			if before == "how" {
				answer |= archive.AnswerNumber
			}
		case "year", "month", "day", "date", "weekday":
			if before == "what" || before == "which" {
				answer |= archive.AnswerTime
			}
		case "version", "number", "port":
			if before == "what" || before == "which" {
				answer |= archive.AnswerNumber
			}
		}
	}
	return answer
}

// AnswerIn returns the answer types that a term satisfies after the term before it. Both
// are as Index returns them.
func AnswerIn(before, term []byte) archive.AnswerType {
	if len(term) == 0 {
		return 0
	}
	if c := term[0]; '0' <= c && c <= '9' {
		if len(term) == 4 && (c == '1' && term[1] == '9' || c == '2' && term[1] == '0') {
			return archive.AnswerTime | archive.AnswerNumber // most likely a year
		}
		return archive.AnswerNumber
	}
	switch string(term) {
	case "yesterday", "today", "tonight", "tomorrow", "ago", "recently", "weekend",
		"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
		"january", "february", "april", "june", "july", "august", "september", "october", "november", "december":
		return archive.AnswerTime
	case "night", "week", "month", "year", "spring", "summer", "autumn", "winter":
		switch string(before) {
		case "last", "next", "this", "thi": // "thi": "this" as a folded plural
			return archive.AnswerTime
		}
	case "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "couple", "dozen", "twice", "several":
		return archive.AnswerNumber
	}
	return 0
}
