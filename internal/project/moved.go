package project

import (
	"strings"

	"strandline/internal/archive"
)

// MovedFrom returns the known project that p was before its folder was moved or
// cloned again: the one with the same remote whose folders no longer exist. Of
// several it returns the one with the same name, if there is exactly one. Call it
// when p is seen for the first time: a p in known was not moved.
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
