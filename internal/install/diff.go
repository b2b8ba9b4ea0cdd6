package install

import (
	"bytes"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff returns the changes in unified form, "" if there are none. It ignores line
// ends and byte order marks.
func (p Plan) Diff() string {
	var b strings.Builder
	for _, f := range p.Files {
		if !f.Changed() {
			continue
		}
		from, to := f.Target, f.Target
		if f.Before == nil {
			from = "/dev/null"
		}
		if f.After == nil {
			to = "/dev/null"
		}
		_, text, _ := bytes.Cut(diff.Diff(from, normalize(f.Before), to, normalize(f.After)), []byte("\n"))
		b.Write(text)
	}
	return b.String()
}

// normalize returns a file's text with a line end "\n" after every line.
func normalize(data []byte) []byte {
	text := bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	if text = bytes.TrimSuffix(text, []byte("\n")); len(text) > 0 {
		text = append(text, '\n')
	}
	return text
}
