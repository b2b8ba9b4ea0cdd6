package codex

import (
	"maps"
	"slices"
	"strings"
)

// file is the change of a file by a patch, with the members that edits have in the common
// form. A deletion has neither edits nor content.
type file struct {
	Path    string  `json:"file_path"`
	Edits   []edit  `json:"edits,omitempty"`
	Content *string `json:"content,omitempty"` // of a new file
	Delete  bool    `json:"delete,omitempty"`
	From    string  `json:"moved_from,omitempty"`
}

// edit replaces one part of a file.
type edit struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
}

// patchFiles reads a patch of the model.
func patchFiles(patch string) (files []file) {
	var lines []string // of the file's changes
	end := func() {
		if len(files) == 0 {
			return
		}
		f := &files[len(files)-1]
		if f.Content != nil {
			var b strings.Builder
			for _, l := range lines {
				b.WriteString(strings.TrimPrefix(l, "+") + "\n")
			}
			*f.Content = b.String()
		} else if !f.Delete {
			f.Edits = hunks(lines)
		}
		lines = nil
	}
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		head, path, ok := strings.Cut(line, ": ")
		if !ok || !strings.HasPrefix(head, "*** ") {
			if strings.HasPrefix(line, "*** End Patch") {
				break
			}
			if len(files) > 0 && !strings.HasPrefix(line, "*** ") {
				lines = append(lines, line)
			}
			continue
		}
		f := file{Path: strings.TrimSpace(path)}
		switch head {
		case "*** Add File":
			f.Content = new(string)
		case "*** Delete File":
			f.Delete = true
		case "*** Update File":
		case "*** Move to":
			if n := len(files); n > 0 {
				files[n-1].From, files[n-1].Path = files[n-1].Path, f.Path
			}
			continue
		default:
			continue
		}
		end()
		files = append(files, f)
	}
	end()
	return files
}

// changedFiles returns the changes in an event, by path.
func changedFiles(changes map[string]change) (files []file) {
	for _, path := range slices.Sorted(maps.Keys(changes)) {
		c := changes[path]
		f := file{Path: path}
		switch c.Type {
		case "add":
			f.Content = &c.Content
		case "delete":
			f.Delete = true
		default:
			f.Edits = hunks(strings.Split(strings.TrimSuffix(c.Diff, "\n"), "\n"))
			if c.Move != nil && *c.Move != "" {
				f.Path, f.From = *c.Move, path
			}
		}
		files = append(files, f)
	}
	return files
}

// hunks returns the edits in the lines of a diff. Each begins with "@@".
func hunks(lines []string) (edits []edit) {
	var before, after []string
	end := func() {
		if len(before)+len(after) > 0 {
			edits = append(edits, edit{Old: strings.Join(before, "\n"), New: strings.Join(after, "\n")})
		}
		before, after = nil, nil
	}
	for _, l := range lines {
		switch {
		case strings.HasPrefix(l, "@@"), strings.HasPrefix(l, `\ No newline`):
			end()
		case strings.HasPrefix(l, "-"):
			before = append(before, l[1:])
		case strings.HasPrefix(l, "+"):
			after = append(after, l[1:])
		default:
			l = strings.TrimPrefix(l, " ")
			before, after = append(before, l), append(after, l)
		}
	}
	end()
	return edits
}
