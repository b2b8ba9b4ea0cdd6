package app

import (
	"time"

	"strandline/internal/archive"
)

// Project is a project as scripts read it. Sessions and times of the keys in
// Aliases, which were merged into this one, are counted here.
type Project struct {
	Key      string    `json:"key"`
	Name     string    `json:"name,omitempty"`
	Root     string    `json:"root,omitempty"`
	Remote   string    `json:"remote,omitempty"`
	Aliases  []string  `json:"aliases"`
	Sessions int       `json:"sessions"`
	Agents   int       `json:"agents"`
	Turns    int       `json:"turns"`
	Bytes    int64     `json:"bytes"`
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
}

// NewProject is a project with what is kept of it.
func NewProject(p archive.ProjectSummary) Project {
	return Project{
		Key: p.Project.Key, Name: p.Project.Name, Root: p.Project.Root, Remote: p.Project.Remote,
		Aliases:  append([]string{}, p.Aliases...), // a list, even where it is empty
		Sessions: p.Sessions, Agents: p.Agents, Turns: p.Turns, Bytes: p.Bytes, First: p.First, Last: p.Last,
	}
}

// Projects are a list of them.
func Projects(list []archive.ProjectSummary) []Project {
	out := make([]Project, 0, len(list))
	for _, p := range list {
		out = append(out, NewProject(p))
	}
	return out
}
