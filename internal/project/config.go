package project

import "strings"

// gitConfig holds the used values of a repository's configuration file.
type gitConfig struct {
	originURL string // first remote.origin.url, from which git fetches
	worktree  string // last core.worktree
}

// parseConfig parses a file in the syntax of git-config(1). It skips invalid lines
// and ignores includes.
func parseConfig(text string) gitConfig {
	var conf gitConfig
	s := configScanner{rest: strings.TrimPrefix(text, "\ufeff")}
	for s.next() {
		switch {
		case s.section == "core" && s.sub == "" && s.key == "worktree":
			conf.worktree = s.value
		case s.section == "remote" && s.sub == "origin" && s.key == "url" && conf.originURL == "":
			conf.originURL = s.value
		}
	}
	return conf
}

// configScanner iterates over the variables of a git configuration file.
type configScanner struct {
	rest         string
	section, sub string // section lower-cased, sub-section as written
	key, value   string // key lower-cased, value with quotes and escapes resolved
}

// next advances to the next variable with a value. It returns false at the end.
func (s *configScanner) next() bool {
	for {
		s.rest = strings.TrimLeft(s.rest, " \t\r\n\v\f")
		switch {
		case s.rest == "":
			return false
		case s.rest[0] == '#' || s.rest[0] == ';':
			s.skipLine()
		case s.rest[0] == '[':
			s.header()
		case s.variable():
			return true
		}
	}
}

func (s *configScanner) skipLine() { _, s.rest, _ = strings.Cut(s.rest, "\n") }

// header reads [section], [section "sub"] or the old [section.sub]. After an invalid
// header the section is empty.
func (s *configScanner) header() {
	s.section, s.sub = "", ""
	i := strings.IndexAny(s.rest+"\n", "]\"\n")
	section := strings.TrimSpace(s.rest[1:i])
	var sub strings.Builder
	quoted := i < len(s.rest) && s.rest[i] == '"'
	if quoted {
		for i++; i < len(s.rest) && s.rest[i] != '"' && s.rest[i] != '\n'; i++ {
			if s.rest[i] == '\\' && i+1 < len(s.rest) && s.rest[i+1] != '\n' {
				i++
			}
			sub.WriteByte(s.rest[i])
		}
		i++ // the closing quote
	}
	if i >= len(s.rest) || s.rest[i] != ']' {
		s.rest = s.rest[min(i, len(s.rest)):]
		s.skipLine()
		return
	}
	s.rest = s.rest[i+1:]
	s.section, s.sub = strings.ToLower(section), sub.String()
	if !quoted {
		s.section, s.sub, _ = strings.Cut(s.section, ".")
	}
}

// variable reads "key = value" and reports whether there was one.
func (s *configScanner) variable() bool {
	end := strings.IndexAny(s.rest, "=\n")
	if end < 0 || s.rest[end] == '\n' {
		s.skipLine() // a key without a value is a boolean
		return false
	}
	s.key = strings.ToLower(strings.TrimSpace(s.rest[:end]))
	s.rest = s.rest[end+1:]
	s.value = s.readValue()
	return true
}

// readValue reads to the end of the line and trims blanks. Quotes preserve blanks
// and comment characters; a backslash escapes a character or continues the line.
func (s *configScanner) readValue() string {
	var b strings.Builder
	keep := 0 // length without trailing blanks
	quoted := false
	i := 0
	for ; i < len(s.rest) && s.rest[i] != '\n'; i++ {
		c := s.rest[i]
		switch {
		case c == '"':
			quoted = !quoted
			keep = b.Len()
		case c == '\\':
			i++
			if c, ok := unescape(s.rest, &i); ok {
				b.WriteByte(c)
				keep = b.Len()
			}
		case !quoted && (c == '#' || c == ';'):
			s.rest = s.rest[i:]
			s.skipLine()
			return b.String()[:keep]
		case !quoted && (c == ' ' || c == '\t' || c == '\r'):
			if b.Len() > 0 {
				b.WriteByte(c)
			}
		default:
			b.WriteByte(c)
			keep = b.Len()
		}
	}
	s.rest = s.rest[min(i, len(s.rest)):] // a backslash may end the file
	return b.String()[:keep]
}

// unescape returns the character after a backslash, at *i. It returns false for an
// escaped line end, which continues the value.
func unescape(text string, i *int) (byte, bool) {
	switch {
	case *i >= len(text) || text[*i] == '\n':
		return 0, false
	case strings.HasPrefix(text[*i:], "\r\n"):
		*i++
		return 0, false
	}
	if at := strings.IndexByte("ntb", text[*i]); at >= 0 {
		return "\n\t\b"[at], true
	}
	return text[*i], true
}
