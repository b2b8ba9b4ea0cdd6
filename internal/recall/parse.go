package recall

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"strandline/internal/archive"
)

// Parse reads a query. Words are looked for, "quoted words" have to stand
// together, and these filters may stand anywhere:
//
//	project:NAME   in another project, "all" in all of them
//	file:PATH      that touched a file; a part of the path is enough
//	kind:KIND      prompt, reply, command, edit, output or summary
//	since:TIME     not older than 7d, 2h, 3w, yesterday, 2026-11-01 …
//	until:TIME     not newer
//	session:ID     of one session, by handle or prefix
//
// kind and file take several values with commas between. A value with blanks
// stands in quotes. Everything else with a colon is text, such as "std::map" or
// a URL. Words such as "yesterday" become When. now is the moment that relative times count from; its location is that
// of dates. A filter with a value that makes no sense is an *archive.Error with
// CodeInvalid.
func Parse(q string, now time.Time) (Request, error) {
	req := Request{Query: q}
	if len(q) > MaxQuery {
		q = strings.ToValidUTF8(q[:MaxQuery], "")
	}
	var text []string
	for q != "" {
		var piece string
		piece, q = nextPiece(q)
		name, value, ok := filter(piece)
		if !ok {
			if piece = strings.TrimSpace(piece); piece != "" {
				text = append(text, piece)
			}
			if p, quoted := unquote(piece); quoted && strings.TrimSpace(p) != "" {
				req.Phrases = append(req.Phrases, p)
			}
			continue
		}
		if err := req.set(name, value, now); err != nil {
			return Request{}, err
		}
	}
	if req.Since.IsZero() && req.Until.IsZero() {
		text, req.When = readTime(text, now)
	}
	req.Text = strings.Join(text, " ")
	return req, nil
}

// nextPiece cuts the first piece off q: up to white space, where quotes keep
// white space inside. A quote that is never closed is an ordinary character.
func nextPiece(q string) (piece, rest string) {
	q = strings.TrimLeftFunc(q, unicode.IsSpace)
	for i := 0; i < len(q); {
		r, size := utf8.DecodeRuneInString(q[i:])
		if unicode.IsSpace(r) {
			return q[:i], q[i:]
		}
		if r == '"' && (i == 0 || q[i-1] == ':') {
			if end := strings.IndexByte(q[i+1:], '"'); end >= 0 {
				at := i + 1 + end + 1
				return q[:at], q[at:]
			}
		}
		i += size
	}
	return q, ""
}

// unquote returns what stands between the quotes that s begins and ends with.
func unquote(s string) (string, bool) {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1], true
	}
	return s, false
}

// filter splits a piece into a filter's name and its value. A value that begins
// with a colon or two slashes makes the piece text: "file::read", "file://…".
func filter(piece string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(piece, ":")
	if !ok || strings.HasPrefix(value, ":") || strings.HasPrefix(value, "//") {
		return "", "", false
	}
	switch name = strings.ToLower(name); name {
	case "project", "file", "kind", "since", "until", "session":
		value, _ = unquote(value)
		return name, strings.TrimSpace(value), true
	}
	return "", "", false
}

// set applies one filter.
func (r *Request) set(name, value string, now time.Time) (err error) {
	if value == "" {
		return archive.Invalid(fmt.Sprintf("the filter %s: has no value", name), "write it without a blank behind the colon, e.g. "+example(name))
	}
	switch name {
	case "project":
		r.Project = value
	case "session":
		if _, err := archive.ParseHandle(value); err != nil {
			return err
		}
		r.Session = value
	case "file":
		for f := range strings.SplitSeq(value, ",") {
			if f = strings.TrimSpace(f); f != "" {
				r.Files = append(r.Files, f)
			}
		}
	case "kind":
		for k := range strings.SplitSeq(value, ",") {
			kind, err := ParseKind(k)
			if err != nil {
				return err
			}
			r.Kinds = append(r.Kinds, kind)
		}
	case "since":
		r.Since, err = ParseTime(value, now)
	case "until":
		r.Until, err = ParseTime(value, now)
	}
	return err
}

func example(name string) string {
	switch name {
	case "kind":
		return "kind:command"
	case "since", "until":
		return name + ":7d"
	case "session":
		return "session:7f3a12cd"
	case "file":
		return "file:store.go"
	}
	return "project:all"
}

// ParseKind reads the name of a kind of passage; a plural will do.
func ParseKind(s string) (archive.PassageKind, error) {
	want := strings.ToLower(strings.TrimSpace(s))
	names := make([]string, 0, 6)
	for _, k := range archive.PassageKinds() {
		if want == string(k) || want == string(k)+"s" || k == archive.KindReply && want == "replies" || k == archive.KindSummary && want == "summaries" {
			return k, nil
		}
		names = append(names, string(k))
	}
	return "", archive.Invalid(fmt.Sprintf("%q is not a kind of passage", archive.Clip(s, 40)), "kinds are "+strings.Join(names, ", "))
}
