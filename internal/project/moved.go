package project

import (
	"strings"

	"strandline/internal/archive"
)

// MovedFrom finds the project among known that p was before its folder was moved
// or cloned anew: one with the same remote whose folders are gone, which exists
// tells. Of several such projects the one that has kept its name is taken; if
// that leaves a choice, none is.
//
// A p that is known already is nobody's new place: both were clones side by
// side. So ask when p is met for the first time.
func MovedFrom(p archive.Project, known []archive.Project, exists func(path string) bool) (archive.Project, bool) {
	if p.Remote == "" {
		return archive.Project{}, false
	}
	var gone, namesake []archive.Project
	for _, k := range known {
		if k.Key == p.Key {
			return archive.Project{}, false
		}
		if k.Remote != p.Remote || exists(k.Root) || exists(strings.TrimPrefix(k.Key, gitKey)) {
			continue
		}
		gone = append(gone, k)
		if k.Name == p.Name {
			namesake = append(namesake, k)
		}
	}
	switch {
	case len(gone) == 1:
		return gone[0], true
	case len(namesake) == 1:
		return namesake[0], true
	}
	return archive.Project{}, false
}
