package codex

import (
	"bytes"
	"strconv"
)

// window returns the context window in tokens that the last row naming one reports, 0 if
// none does, and the number of tokens at which Codex compacts: it reports 95 % of a model's
// window, and compacts at 90 %. The text of a message cannot be taken for it, as its quotes
// are escaped.
func window(rows []byte) (size, compactsAt int64) {
	const name = `"model_context_window":`
	at := bytes.LastIndex(rows, []byte(name))
	if at < 0 {
		return 0, 0
	}
	digits := rows[at+len(name):]
	end := bytes.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	n, err := strconv.ParseInt(string(digits[:max(end, 0)]), 10, 64)
	if err != nil {
		return 0, 0 // null
	}
	return n, n / 19 * 18
}
