package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"

	"strandline/internal/archive"
)

// ProjectFile is the name of a project's settings file, in its root.
const ProjectFile = ".strandline.toml"

// Load finds the effective settings. The Config is never nil and always usable:
// a value that is not accepted leaves the next best one in force and is listed
// in Problems. The error, an archive.Error, names the first of those that are
// no warnings; a hook goes on all the same.
func Load(in Inputs) (*Config, error) {
	if in.Env == nil {
		in.Env = func(string) string { return "" }
	}
	if in.OS == "" {
		in.OS = runtime.GOOS
	}
	if in.ReadFile == nil {
		in.ReadFile = readRegular
	}
	c := &Config{Paths: findPaths(in)}
	if c.Home == "" {
		c.problems = append(c.problems, Problem{
			Key: "home", Source: "environment", Msg: "the home folder is not known; set HOME or STRANDLINE_HOME",
		})
	}
	l := loader{in: in, config: c, keys: keys()}
	l.project = l.file(c.ProjectFile, true)
	l.user = l.file(c.ConfigFile, false)
	for _, k := range l.keys {
		l.resolve(k)
	}
	l.unknown()
	err := c.err()
	return c, err
}

// loader holds what one Load has read.
type loader struct {
	in            Inputs
	config        *Config
	keys          []key
	project, user map[string]string
}

// candidate is a value for a key from one source.
type candidate struct {
	value, source string
	project       bool
}

// resolve takes the first candidate that is accepted.
func (l *loader) resolve(k key) {
	var list []candidate
	add := func(value, source string, project bool) {
		if value != "" {
			list = append(list, candidate{value, source, project})
		}
	}
	add(l.in.Flags[k.name], "flag", false)
	add(l.in.Env(envName(k.name)), "env "+envName(k.name), false)
	for _, name := range k.old {
		add(l.in.Env(name), "env "+name, false)
	}
	add(l.project[k.name], l.config.ProjectFile, true)
	add(l.user[k.name], l.config.ConfigFile, false)
	add(k.value, "default", false)
	for _, cand := range list {
		before := *l.config
		shown, err := k.parse(l.config, cand.value)
		if err == nil && cand.project && !k.permits(shown) {
			*l.config = before
			err = errDenied(k)
		}
		if err != nil {
			l.reject(k.name, cand, err)
			continue
		}
		l.config.entries = append(l.config.entries, Entry{Key: k.name, Value: shown, Source: cand.source, Note: k.note})
		return
	}
}

// permits reports whether a project may set the key to a value.
func (k key) permits(shown string) bool {
	return k.project == allowed || k.project == offOnly && shown == "false"
}

var errProject = errors.New("not for a project to set")

func errDenied(k key) error {
	if k.project == offOnly {
		return fmt.Errorf("%w: a project may only switch it off", errProject)
	}
	return fmt.Errorf("%w: set it in your own settings", errProject)
}

// told is a value as an error repeats it: addresses may hold a password.
func told(name, value string) string {
	if name == "postgres.url" {
		return "…"
	}
	return archive.Clip(value, 60)
}

// reject records a problem. One that a project's file made is a warning: a
// repository must not be able to break the commands.
func (l *loader) reject(name string, cand candidate, err error) {
	msg := fmt.Sprintf("%s = %q (%s) is not valid: allowed is %v", name, told(name, cand.value), cand.source, err)
	if errors.Is(err, errProject) {
		msg = fmt.Sprintf("%s = %q (%s) is ignored: %v", name, told(name, cand.value), cand.source, err)
	}
	l.config.problems = append(l.config.problems, Problem{
		Key: name, Value: cand.value, Source: cand.source, Msg: msg, Warning: cand.project,
	})
}

// file reads one settings file; a missing one is empty.
func (l *loader) file(path string, project bool) map[string]string {
	if path == "" {
		return nil
	}
	data, err := l.in.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var values map[string]string
	if err == nil {
		values, err = parseTOML(data)
	}
	if err != nil {
		l.config.problems = append(l.config.problems, Problem{
			Source: path, Msg: fmt.Sprintf("%s cannot be read: %v", path, err), Warning: project,
		})
		return nil
	}
	return values
}

// unknown warns of keys that do not exist: a misspelt one has no effect.
func (l *loader) unknown() {
	if len(l.in.Flags)+len(l.project)+len(l.user) == 0 {
		return
	}
	known := map[string]bool{}
	for _, k := range l.keys {
		known[k.name] = true
	}
	for _, f := range []struct {
		values map[string]string
		source string
	}{{l.in.Flags, "flag"}, {l.project, l.config.ProjectFile}, {l.user, l.config.ConfigFile}} {
		for _, name := range sortedKeys(f.values) {
			if !known[name] {
				l.config.problems = append(l.config.problems, Problem{
					Key: name, Value: f.values[name], Source: f.source, Warning: true,
					Msg: fmt.Sprintf("%s (%s) is no setting", archive.Clip(name, 60), f.source),
				})
			}
		}
	}
}

// err is the first problem that is no warning.
func (c *Config) err() error {
	for _, p := range c.problems {
		if !p.Warning {
			return archive.Invalid(p.Msg, "strandline config shows every setting and where it comes from")
		}
	}
	return nil
}

func projectFile(root string) string {
	if root == "" {
		return ""
	}
	return filepath.Join(root, ProjectFile)
}
