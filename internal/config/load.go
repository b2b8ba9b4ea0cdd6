package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"slices"

	"github.com/BurntSushi/toml"

	"strandline/internal/archive"
	"strandline/internal/state"
)

// ProjectFile is the name of a project's settings file, in its root.
const ProjectFile = ".strandline.toml"

// Load returns the effective settings. The Config is never nil and always usable:
// Load skips an invalid value, uses the next source and lists the value in
// Problems. The error, an archive.Error, is the first problem that is not a
// warning; hooks ignore it.
func Load(in Inputs) (*Config, error) {
	if in.Env == nil {
		in.Env = func(string) string { return "" }
	}
	if in.OS == "" {
		in.OS = runtime.GOOS
	}
	if in.ReadFile == nil {
		in.ReadFile = func(path string) ([]byte, error) { return state.ReadRegular(path, MaxFile) }
	}
	c := &Config{Paths: findPaths(in)}
	if c.Home == "" {
		c.reject(false, "the home folder is not known; set HOME or STRANDLINE_HOME")
	}
	l := loader{in: in, config: c}
	l.project = l.readFile(c.ProjectFile, true)
	l.user = l.readFile(c.ConfigFile, false)
	all := keys(c)
	for _, k := range all {
		l.resolve(k)
	}
	l.warnUnknown(all)
	err := c.firstError()
	return c, err
}

// reject adds a problem.
func (c *Config) reject(warning bool, format string, args ...any) {
	c.problems = append(c.problems, Problem{fmt.Sprintf(format, args...), warning})
}

// loader holds the sources of one Load.
type loader struct {
	in            Inputs
	config        *Config
	project, user map[string]string
}

// candidate is a value for a key from one source.
type candidate struct {
	value, source string
	project       bool
	older         bool // an environment name of an older system
}

// resolve stores the first valid candidate, in the order of precedence.
func (l *loader) resolve(k key) {
	list := []candidate{{value: l.in.Flags[k.name], source: "flag"}}
	for _, name := range []string{envName(k.name), k.old} {
		list = append(list, candidate{value: l.in.Env(name), source: "env " + name, older: name == k.old})
	}
	list = append(list,
		candidate{value: l.project[k.name], source: l.config.ProjectFile, project: true},
		candidate{value: l.user[k.name], source: l.config.ConfigFile},
		candidate{value: k.value, source: "default"})
	for _, cand := range list {
		if cand.value == "" {
			continue
		}
		before := *l.config
		shown, err := k.parse(cand.value)
		var why string
		refused, ranged := errors.AsType[rangeError](err)
		switch {
		case cand.older && ranged && refused.nearest != "":
			// The systems that had these variables took any value.
			l.config.reject(true, "%s = %q (%s) is out of range: %s is used", k.name, quoted(k.name, cand.value), cand.source, refused.nearest)
			shown, _ = k.parse(refused.nearest)
			l.config.entries = append(l.config.entries, Entry{Key: k.name, Value: shown, Source: cand.source})
			return
		case err != nil:
			why = fmt.Sprintf("is not valid: allowed is %v", err)
		case cand.project && k.project == denied:
			why = "is ignored: a project may not set it: set it in your own settings"
		case cand.project && k.project == offOnly && shown != "false":
			why = "is ignored: a project may not set it: a project may only switch it off"
		default:
			l.config.entries = append(l.config.entries, Entry{Key: k.name, Value: shown, Source: cand.source})
			return
		}
		*l.config = before
		// A problem in a project's file is a warning, because a repository must not be able
		// to break the commands.
		l.config.reject(cand.project, "%s = %q (%s) %s", k.name, quoted(k.name, cand.value), cand.source, why)
	}
}

// quoted returns a value as errors print it. Addresses may hold a password.
func quoted(name, value string) string {
	if name == "postgres.url" {
		return "…"
	}
	return archive.Clip(value, 60)
}

// readFile reads one settings file. A missing one is empty.
func (l *loader) readFile(path string, project bool) map[string]string {
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
		l.config.reject(project, "%s cannot be read: %v", path, err)
		return nil
	}
	return values
}

// warnUnknown records a warning for each key that does not exist.
func (l *loader) warnUnknown(all []key) {
	for _, f := range []struct {
		values map[string]string
		source string
	}{{l.in.Flags, "flag"}, {l.project, l.config.ProjectFile}, {l.user, l.config.ConfigFile}} {
		for _, name := range slices.Sorted(maps.Keys(f.values)) {
			if !slices.ContainsFunc(all, func(k key) bool { return k.name == name }) {
				l.config.reject(true, "%s (%s) is not a setting", archive.Clip(name, 60), f.source)
			}
		}
	}
}

// firstError returns the first problem that is not a warning.
func (c *Config) firstError() error {
	for _, p := range c.problems {
		if !p.Warning {
			return archive.Invalid(p.Msg, "strandline config shows every setting and where it comes from")
		}
	}
	return nil
}

// MaxFile is the size limit of a settings file in bytes.
const MaxFile = 64 << 10

// parseTOML returns the values of a settings file as text, by section.key.
func parseTOML(data []byte) (map[string]string, error) {
	var tree map[string]any
	if err := toml.Unmarshal(data, &tree); err != nil {
		return nil, err
	}
	values := map[string]string{}
	flatten(values, "", tree)
	return values, nil
}

func flatten(values map[string]string, prefix string, tree map[string]any) {
	for name, v := range tree {
		if section, ok := v.(map[string]any); ok {
			flatten(values, prefix+name+".", section)
		} else { // lists and times become texts that every parser refuses
			values[prefix+name] = fmt.Sprint(v)
		}
	}
}
