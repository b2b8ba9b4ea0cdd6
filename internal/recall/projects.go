package recall

import (
	"strings"

	"strandline/internal/archive"
)

// ProjectsNamed returns the keys of the projects that are called name, or whose
// folder's path holds it, in any case of the letters.
func ProjectsNamed(all []archive.ProjectSummary, name string) []string {
	var keys []string
	for _, p := range all {
		if strings.EqualFold(p.Project.Name, name) || strings.Contains(strings.ToLower(p.Project.Root), strings.ToLower(name)) {
			keys = append(keys, p.Project.Key)
		}
	}
	return keys
}
