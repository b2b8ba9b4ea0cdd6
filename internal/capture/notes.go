package capture

import (
	"bytes"
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
	plansFolder  = "plans"  // in the client's folder, named by a word of the transcript's rows
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
// below the client's folder, and follows no links.
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
			archive.ValidID(name) && !strings.HasSuffix(name, transcriptExt) && !isLink(dir) {
			out = append(out, Source{Path: path, Session: main.Session, Rel: folder + "/" + name, Cwd: main.Cwd, folder: main.Slug()})
		}
	}
	addAll := func(dir, folder string) {
		entries, _ := os.ReadDir(dir) // missing for most sessions
		for _, e := range entries {
			add(dir, folder, e.Name())
		}
	}
	for _, name := range planNames(main.Path) {
		add(filepath.Join(client, plansFolder), plansFolder, name+".md")
	}
	add(filepath.Join(client, todosFolder), todosFolder, main.Session+"-agent-"+main.Session+".json")
	addAll(filepath.Join(client, tasksFolder, main.Session), tasksFolder)
	if memory {
		addAll(filepath.Join(project, memoryFolder), memoryFolder)
	}
	return out
}

// planNames returns the names of a session's plans: the "slug" of its first and last rows.
func planNames(transcript string) (names []string) {
	f, info, err := openSource(transcript)
	if err != nil {
		return nil
	}
	defer f.Close()
	for _, from := range []int64{0, max(0, info.Size()-firstPeek)} {
		buf := make([]byte, firstPeek)
		n, err := f.ReadAt(buf, from)
		if err != nil && err != io.EOF {
			return names
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
	return names
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
