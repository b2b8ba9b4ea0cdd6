package archive

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Handle is a short name of a session, a turn or a step: "7f3a12cd", "7f3a12cd/12",
// "7f3a12cd/12.3", "7f3a12cd~a2c37f95/0.1". Session is a prefix of the session ID (8
// characters unless more are needed) and, for a sub-agent, of both IDs around the tilde.
type Handle struct {
	Session string
	Turn    int // -1: the whole session
	Step    int // -1: the whole turn
}

// Owner returns the ID of the main session that a sub-agent's session or an older
// generation belongs to; for a main session, its own ID.
func Owner(id string) string {
	if at := strings.IndexAny(id, "~@"); at >= 0 {
		return id[:at]
	}
	return id
}

// IsAgentID reports whether id is that of a sub-agent's session.
func IsAgentID(id string) bool { return strings.Contains(id, "~") }

// ShortID returns the first 8 characters of a session ID, or the first 13 of one that
// begins with its time (UUID version 7): those of sessions of the same minute differ only
// then. For a sub-agent it shortens both IDs; an older generation keeps its "@n".
func ShortID(id string) string {
	id, gen, older := strings.Cut(id, "@")
	parent, agent, isAgent := strings.Cut(id, "~")
	s := shortID(parent)
	if isAgent {
		s += "~" + shortID(agent)
	}
	if older {
		s += "@" + gen
	}
	return s
}

func shortID(id string) string {
	if len(id) == 36 && id[8] == '-' && id[14] == '7' {
		return id[:13]
	}
	return id[:min(len(id), 8)]
}

// String formats the handle.
func (h Handle) String() string {
	switch {
	case h.Turn < 0:
		return h.Session
	case h.Step < 0:
		return h.Session + "/" + strconv.Itoa(h.Turn)
	}
	return h.Session + "/" + strconv.Itoa(h.Turn) + "." + strconv.Itoa(h.Step)
}

// Handle returns the short handle of the place.
func (r Ref) Handle() string {
	return Handle{Session: ShortID(r.Session), Turn: r.Turn, Step: r.Step}.String()
}

// ParseHandle parses a handle or a session ID or prefix, with optional surrounding white
// space. It fails with CodeInvalid.
func ParseHandle(s string) (Handle, error) {
	session, place, hasPlace := strings.Cut(strings.TrimSpace(s), "/")
	h := Handle{Session: session, Turn: -1, Step: -1}
	var err error
	if hasPlace {
		turn, step, hasStep := strings.Cut(place, ".")
		h.Turn, err = index(turn)
		if err == nil && hasStep {
			h.Step, err = index(step)
		}
	}
	if err != nil || !validSession(session) {
		return Handle{}, Invalid(fmt.Sprintf("%q is not a handle", Clip(s, 60)),
			"write <session>/<turn> or <session>/<turn>.<step>, as search and sessions print them, e.g. 7f3a12cd/12.3")
	}
	return h, nil
}

// index parses a number from 0 to 2^31-1 without a sign.
func index(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), err
}

func validSession(s string) bool {
	base, gen, older := strings.Cut(s, "@")
	if older {
		if n, err := index(gen); err != nil || n == 0 {
			return false // generations count from 1
		}
	}
	parent, agent, isAgent := strings.Cut(base, "~")
	return ValidID(parent) && (!isAgent || ValidID(agent))
}

// ValidID reports whether s can be the ID of a session or an agent: 1 to 128 ASCII
// letters, digits, dots, dashes and underscores, not starting with a dot. Such an ID is a
// file name that stays in its folder and is not hidden.
func ValidID(s string) bool {
	return s != "" && len(s) <= 128 && s[0] != '.' && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	})
}

// Clip shortens s to at most n bytes at a rune boundary and appends an ellipsis, which is
// not counted.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n = max(n, 0); n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n] + "…"
}
