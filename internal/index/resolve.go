package index

import (
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// maxCandidates is how many sessions an ambiguous handle's message names.
const maxCandidates = 8

// Choose picks the one id that prefix means.
func Choose(prefix string, ids []string) (string, error) {
	want := splitID(prefix)
	var fit []string
	for _, id := range ids {
		if id == prefix {
			return id, nil
		}
		if splitID(id).startsWith(want) {
			fit = append(fit, id)
		}
	}
	switch len(fit) {
	case 0:
		return "", UnknownSession(prefix)
	case 1:
		return fit[0], nil
	}
	more := ""
	if n := len(fit) - maxCandidates; n > 0 {
		fit, more = fit[:maxCandidates], fmt.Sprintf(" and %d more", n)
	}
	return "", &archive.Error{
		Code: archive.CodeAmbiguous,
		Msg:  fmt.Sprintf("more than one session begins with %q", archive.Clip(prefix, 60)),
		Hint: "write more of the id: " + strings.Join(shortened(fit), ", ") + more,
	}
}

// shortened returns ids as handles write them, if that tells them apart.
func shortened(ids []string) []string {
	short := make([]string, len(ids))
	for i, id := range ids {
		short[i] = archive.ShortID(id)
		if slices.Contains(short[:i], short[i]) {
			return ids
		}
	}
	return short
}

type idParts struct{ parent, agent, generation string }

func splitID(id string) (p idParts) {
	id, p.generation, _ = strings.Cut(id, "@")
	p.parent, p.agent, _ = strings.Cut(id, "~")
	return p
}

// startsWith reports whether an id may be meant by the parts that were typed.
func (p idParts) startsWith(typed idParts) bool {
	return p.generation == typed.generation &&
		(p.agent == "") == (typed.agent == "") &&
		strings.HasPrefix(p.parent, typed.parent) && strings.HasPrefix(p.agent, typed.agent)
}

// Parent is the beginning that all ids have which prefix may mean.
func Parent(prefix string) string { return splitID(prefix).parent }

// UnknownSession is the error for a session that the archive does not hold.
func UnknownSession(id string) error {
	return archive.NotFound(fmt.Sprintf("there is no session %q in the archive", archive.Clip(id, 60)),
		"list them with: strandline sessions")
}
