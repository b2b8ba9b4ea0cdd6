package archive

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// ProjectNames returns unique names of the projects in a list, by key: the name of
// a folder, "owner/repository" or more elements of the path where that repeats, and
// "repository:tree" for a work tree that is a separate project because git no longer
// knows it.
func ProjectNames(list []Project) map[string]string {
	names, used := map[string]string{}, map[string]int{}
	elements := map[string][]string{}
	for _, p := range list {
		if _, ok := elements[p.Key]; !ok {
			elements[p.Key] = nameElements(p)
		}
	}
	for depth := 1; depth <= maxNameElements; depth++ {
		clear(used)
		for key, e := range elements {
			if _, done := names[key]; !done {
				used[lastElements(e, depth)]++
			}
		}
		for key, e := range elements {
			name := lastElements(e, depth)
			if _, done := names[key]; !done && (used[name] == 1 || depth == maxNameElements || depth >= len(e)) {
				names[key] = cmp.Or(name, key)
			}
		}
	}
	return names
}

// maxNameElements is the most path elements in the name of a project.
const maxNameElements = 4

// nameElements returns the elements of the path that names a project: that of its remote,
// else that of its folder. A work tree is part of the last.
func nameElements(p Project) []string {
	full := cmp.Or(p.Remote, p.Root, p.Name, p.Key)
	tree := ""
	if p.Remote == "" {
		if repository, name, ok := WorktreeOf(p.Root); ok {
			full, tree = repository, ":"+name
		}
	}
	e := strings.FieldsFunc(full, func(r rune) bool { return r == '/' || r == '\\' })
	if len(e) == 0 {
		return nil
	}
	e[len(e)-1] += tree
	if p.Remote != "" && p.Name != "" && len(e) > 1 && !strings.EqualFold(e[len(e)-1], path.Base(p.Name)) {
		e = append(slices.Clip(e), path.Base(p.Name)) // a clone in a folder of another name
	}
	return e
}

func lastElements(e []string, n int) string { return strings.Join(e[max(len(e)-n, 0):], "/") }

// Title returns the name for display: that of the project, followed by the work tree.
func (p Project) Title() string {
	name := cmp.Or(p.Name, p.Key)
	if p.Worktree != "" {
		name += ":" + path.Base(strings.ReplaceAll(p.Worktree, `\`, "/"))
	}
	return name
}

// WorktreeOf splits the path of a folder that tools make work trees in: the repository
// "/src/app" and the tree "3" of "/src/app/.worktrees/3".
func WorktreeOf(root string) (repository, tree string, ok bool) {
	root = strings.ReplaceAll(root, `\`, "/")
	for _, mark := range []string{"/.worktrees/", "/.claude/worktrees/", "/worktrees/"} {
		if repository, tree, ok := strings.Cut(root, mark); ok && repository != "" && tree != "" {
			return repository, tree, true
		}
	}
	return "", "", false
}
