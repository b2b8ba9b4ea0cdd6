package recall

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Request is a query with its filters. Parse makes one from typed text.
type Request struct {
	Query    string   // as typed, with filters
	Text     string   // the words, without filters, with quotes
	Phrases  []string // quoted text that every hit contains
	Session  string   // handle or prefix of the only session, or ""
	Project  string   // value of project:, which the caller resolves into Projects
	Projects []string // project keys; empty for all
	Files    []string // parts of paths; a hit touches one of them
	Branch   string   // value of branch:, which the caller resolves into Branches
	Branches []string // git branches; empty for all
	Clients  []string // names of clients; empty for all
	Kinds    []archive.PassageKind
	Failed   bool           // only calls that failed
	Since    time.Time      // zero: no limit
	Until    time.Time      // zero: no limit
	When     *When          // time words removed from Text; used if Since and Until are zero
	Agents   bool           // include sub-agents' sessions
	Dead     bool           // include branches before a rewind
	Regex    *regexp.Regexp // what the texts of hits match, or nil; see Recall.Regex
	AsTyped  bool           // without corrections
	Limit    int            // largest number of hits, 0 for DefaultLimit
	// PerSession is the largest number of hits of a session, 0 for no limit. Result.More
	// counts the others.
	PerSession int
}

// DefaultLimit is the default number of hits, MaxLimit the largest.
const (
	DefaultLimit = 10
	MaxLimit     = 1000
)

// MaxQuery is the largest part of a query that is used, in bytes.
const MaxQuery = 16 << 10

// Parse parses a query of words, "quoted phrases" and filters:
//
//	project:NAME   in another project, "all" for all projects
//	file:PATH      touches a file; a part of the path is enough
//	kind:KIND      prompt, reply, thinking, command, edit, output or summary
//	failed:true    of a command or another call that failed
//	regex:EXPR     matches a regular expression, in the logs
//	branch:NAME    in a session on a git branch; a part of the name is enough
//	since:TIME     at or after 7d, 2h, 3w, yesterday, 2026-11-01 …
//	until:TIME     before; a day or a month is included whole
//	session:ID     of one session, by handle or prefix
//
// kind and file accept several values with commas between them. A value with blanks
// is quoted. Anything else with a colon is text, such as "std::map" or a URL. Time
// words such as "yesterday" become When. In a long query, only filters before and after
// the text count, and quotes and time words are text. Relative times count from now, and
// dates are in its location. An invalid value gives an *archive.Error with CodeInvalid.
func Parse(q string, now time.Time) (Request, error) {
	req := Request{Query: q}
	q = text.Prefix(q, MaxQuery)
	if isLong(q) {
		err := req.parseLong(q, now)
		return req, err
	}
	var words []string
	for q != "" {
		var token string
		token, q = nextToken(q)
		name, value, ok := cutFilter(token)
		if !ok {
			if token != "" {
				words = append(words, token)
			}
			if p, quoted := unquote(token); quoted && strings.TrimSpace(p) != "" {
				req.Phrases = append(req.Phrases, p)
			}
			continue
		}
		if err := req.set(name, value, now); err != nil {
			return Request{}, err
		}
	}
	if req.Since.IsZero() && req.Until.IsZero() {
		words, req.When = cutTime(words, now)
	}
	req.Text = strings.Join(words, " ")
	return req, nil
}

// nextToken splits q after its first token, which ends at white space outside quotes.
// A quote that is not closed is an ordinary character.
func nextToken(q string) (token, rest string) {
	q = strings.TrimLeftFunc(q, unicode.IsSpace)
	for i, r := range q {
		if unicode.IsSpace(r) {
			return q[:i], q[i:]
		}
		if r == '"' && (i == 0 || q[i-1] == ':') {
			if end := strings.IndexByte(q[i+1:], '"'); end >= 0 {
				at := i + 1 + end + 1
				return q[:at], q[at:]
			}
		}
	}
	return q, ""
}

// unquote returns the text between the quotes around s.
func unquote(s string) (string, bool) {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1], true
	}
	return s, false
}

// cutFilter splits a token into a filter's name and value. A value that starts with a
// colon or two slashes makes the token text: "file::read", "file://…".
func cutFilter(token string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(token, ":")
	name = strings.ToLower(name)
	if !ok || example(name) == "" || strings.HasPrefix(value, ":") || strings.HasPrefix(value, "//") {
		return "", "", false
	}
	value, _ = unquote(value)
	return name, strings.TrimSpace(value), true
}

// set applies one filter.
func (r *Request) set(name, value string, now time.Time) (err error) {
	if value == "" {
		return archive.Invalid(fmt.Sprintf("the filter %s: has no value", name), "write it without a blank after the colon, e.g. "+example(name))
	}
	switch name {
	case "project":
		r.Project = value
	case "session":
		r.Session = value
		_, err = archive.ParseHandle(value)
	case "file":
		parts := archive.Convert(strings.Split(value, ","), strings.TrimSpace)
		r.Files = append(r.Files, archive.Select(parts, func(f string) bool { return f != "" })...)
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
		r.Until, err = Until(value, now)
	case "regex":
		r.Regex, err = Pattern(value)
	case "branch":
		r.Branch = value
	case "failed":
		if r.Failed, err = strconv.ParseBool(value); err != nil {
			err = archive.Invalid(fmt.Sprintf("failed: is true or false, not %q", archive.Clip(value, 40)), "write "+example(name))
		}
	}
	return err
}

// example returns an example of a filter, or "" if there is no such filter.
func example(name string) string {
	return map[string]string{
		"kind": "kind:command", "since": "since:7d", "until": "until:7d", "session": "session:7f3a12cd", "file": "file:store.go", "project": "project:all",
		"branch": "branch:main", "failed": "failed:true", "regex": "regex:func.*Error",
	}[name]
}

// ParseKind parses the name of a passage kind, in singular or plural.
func ParseKind(s string) (archive.PassageKind, error) {
	typed := strings.ToLower(strings.TrimSpace(s))
	singular := strings.TrimSuffix(typed, "s")
	if stem, ok := strings.CutSuffix(typed, "ies"); ok {
		singular = stem + "y"
	}
	kinds := archive.QueryKinds()
	if kind := archive.PassageKind(singular); slices.Contains(kinds, kind) {
		return kind, nil
	}
	names := archive.Convert(kinds, func(k archive.PassageKind) string { return string(k) })
	return "", archive.Invalid(fmt.Sprintf("%q is not a kind of passage", archive.Clip(s, 40)), "kinds are "+strings.Join(names, ", "))
}

// ProjectsNamed returns the keys of the projects that are called name, or else of those
// whose name ends with it as an element ("cli" in "entireio/cli") or whose folder contains
// it, ignoring case.
func ProjectsNamed(all []archive.ProjectSummary, name string) []string {
	named := archive.Select(all, func(p archive.ProjectSummary) bool { return strings.EqualFold(p.Project.Name, name) })
	if len(named) == 0 {
		named = archive.Select(all, func(p archive.ProjectSummary) bool {
			return strings.EqualFold(path.Base(p.Project.Name), name) || strings.Contains(strings.ToLower(p.Project.Root), strings.ToLower(name))
		})
	}
	return archive.Convert(named, func(p archive.ProjectSummary) string { return p.Project.Key })
}
