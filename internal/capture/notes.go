package capture

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// Notes are files that the client keeps for a session outside of the session's folder: its
// plans, its lists of tasks, and the memory of its project. They are archived as side files;
// a changed one begins a generation.
const (
	memoryFolder = "memory" // beside the transcripts of a project
	plansFolder  = "plans"  // in the client's folder or that of a setting, named by a word of the transcript's rows
	todosFolder  = "todos"  // in the client's folder, named by the session
	tasksFolder  = "tasks"  // in the client's folder, a folder per session
)

// Limits of a session's notes. Others are left out.
const (
	maxNotes = 200
	maxNote  = 1 << 20
)

// isNote reports whether a side file is a note.
func isNote(rel string) bool {
	folder, _, _ := strings.Cut(rel, "/")
	return slices.Contains([]string{memoryFolder, plansFolder, todosFolder, tasksFolder}, folder)
}

// notes lists a session's notes, with the project's memory if memory is set. It looks only
// below the client's folder and, for plans, below the session's, and follows no links.
func notes(main Source, memory bool) (out []Source) {
	project := filepath.Dir(main.Path)
	client := filepath.Dir(filepath.Dir(project))
	if filepath.Base(filepath.Dir(project)) != projectsFolder {
		return nil // a copy of the client's folder, or part of one
	}
	add := func(dir, folder, name string) {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if err == nil && info.Mode().IsRegular() && info.Size() > 0 && info.Size() <= maxNote && len(out) < maxNotes &&
			archive.ValidID(name) && !strings.HasSuffix(name, TranscriptExt) && !isLink(dir) {
			out = append(out, Source{Path: path, Session: main.Session, Rel: folder + "/" + name, Cwd: main.Cwd, folder: main.Slug()})
		}
	}
	addAll := func(dir, folder string) {
		entries, _ := os.ReadDir(dir) // missing for most sessions
		for _, e := range entries {
			add(dir, folder, e.Name())
		}
	}
	names, cwd := planNames(main.Path)
	for _, name := range names {
		for _, dir := range planFolders(client, cwd) {
			add(dir, plansFolder, name+".md")
		}
	}
	add(filepath.Join(client, todosFolder), todosFolder, main.Session+"-agent-"+main.Session+".json")
	addAll(filepath.Join(client, tasksFolder, main.Session), tasksFolder)
	if memory {
		addAll(filepath.Join(project, memoryFolder), memoryFolder)
	}
	return out
}

// planFolders returns the folders of plans: the client's, and those that the setting
// plansDirectory of the user or the project names, which are below the session's folder.
func planFolders(client, cwd string) []string {
	dirs := []string{filepath.Join(client, plansFolder)}
	if !filepath.IsAbs(cwd) {
		return dirs
	}
	project := filepath.Join(cwd, ".claude")
	for _, path := range []string{filepath.Join(client, "settings.json"), filepath.Join(project, "settings.json"), filepath.Join(project, "settings.local.json")} {
		var settings struct {
			Plans string `json:"plansDirectory"`
		}
		raw, err := os.ReadFile(path)
		if err == nil && json.Unmarshal(raw, &settings) == nil && filepath.IsLocal(settings.Plans) {
			dirs = append(dirs, filepath.Join(cwd, settings.Plans))
		}
	}
	return dirs
}

// planNames returns the names of a session's plans, the "slug" of its first and last rows,
// and the session's folder.
func planNames(transcript string) (names []string, cwd string) {
	f, info, err := openSource(transcript)
	if err != nil {
		return nil, ""
	}
	defer f.Close()
	for _, from := range []int64{0, max(0, info.Size()-firstPeek)} {
		buf := make([]byte, firstPeek)
		n, err := f.ReadAt(buf, from)
		if err != nil && err != io.EOF {
			return names, cwd
		}
		if _, after, ok := bytes.Cut(buf[:n], []byte(`"cwd":`)); ok && cwd == "" {
			_ = json.NewDecoder(bytes.NewReader(after)).Decode(&cwd) // "" if the row is cut there
		}
		for rest := buf[:n]; ; {
			_, after, ok := bytes.Cut(rest, []byte(`"slug":"`))
			name, more, closed := bytes.Cut(after, []byte(`"`))
			if !ok || !closed {
				break
			}
			if s := string(name); archive.ValidID(s) && !strings.Contains(s, ".") && !slices.Contains(names, s) {
				names = append(names, s)
			}
			rest = more
		}
	}
	return names, cwd
}

// notePath returns where a note is restored to, below the client's folder of projects.
func notePath(projects, project, session, rel string) string {
	client := projects
	if filepath.Base(projects) == projectsFolder {
		client = filepath.Dir(projects)
	}
	folder, name, _ := strings.Cut(rel, "/")
	switch folder {
	case memoryFolder:
		return filepath.Join(project, memoryFolder, filepath.FromSlash(name))
	case tasksFolder:
		return filepath.Join(client, tasksFolder, session, filepath.FromSlash(name))
	}
	return filepath.Join(client, folder, filepath.FromSlash(name))
}
