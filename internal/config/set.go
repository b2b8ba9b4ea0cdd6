package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/state"
)

// Set writes one key into the settings file at path and keeps its comments and
// order. It replaces the file atomically, and returns an error if it cannot change
// the key alone.
func Set(path, name, value string) error {
	literal, err := tomlLiteral(name, value)
	if err != nil {
		return err
	}
	return change(path, name, literal)
}

// Unset removes one key from the settings file at path, as Set writes one. A file without
// the key stays as it is.
func Unset(path, name string) error {
	if !slices.ContainsFunc(keys(&Config{}), func(k key) bool { return k.name == name }) {
		return unknownKey(name)
	}
	return change(path, name, "")
}

// unknownKey is the error for a name that is not a setting.
func unknownKey(name string) error {
	return archive.NotFound(fmt.Sprintf("%q is not a setting", archive.Clip(name, 60)), "`strandline config` lists them")
}

// change writes a TOML value, or removes the key if it is "".
func change(path, name, literal string) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // keep a symbolic link
	}
	old, err := state.ReadRegular(path, MaxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &archive.Error{Code: archive.CodeDenied, Msg: "cannot read " + path, Err: err, Hint: "check that it is a regular file and its permissions"}
	}
	before, err := parseTOML(old)
	if err != nil {
		return &archive.Error{Code: archive.CodeInvalid, Msg: path + " is not valid TOML", Hint: "correct it by hand", Err: err}
	}
	want, hint := maps.Clone(before), "write it by hand: ["+section(name)+"] "+leaf(name)+" = "+literal
	if want[name] = strings.Trim(literal, `"`); literal == "" {
		if _, set := before[name]; !set {
			return nil
		}
		delete(want, name)
		hint = "remove it by hand"
	}
	text := edit(string(old), name, literal)
	after, err := parseTOML([]byte(text))
	if err != nil || !maps.Equal(after, want) {
		return archive.Invalid("cannot change "+name+" in "+path, hint)
	}
	if err := state.ReplaceSynced(path, []byte(text)); err != nil {
		return &archive.Error{
			Code: archive.CodeDenied, Msg: "cannot write " + path, Err: err,
			Hint: "check the permissions of its folder and the free space; STRANDLINE_<SECTION>_<KEY> in the environment works without a file",
		}
	}
	return nil
}

// tomlLiteral validates a value and returns it in TOML syntax.
func tomlLiteral(name, value string) (string, error) {
	all := keys(&Config{})
	i := slices.IndexFunc(all, func(k key) bool { return k.name == name })
	if i < 0 {
		return "", unknownKey(name)
	}
	shown, err := all[i].parse(value)
	if err != nil {
		return "", archive.Invalid(fmt.Sprintf("%s = %q is not valid: allowed is %v", name, quoted(name, value), err), "")
	}
	if _, err := strconv.Atoi(shown); err == nil || shown == "true" || shown == "false" {
		return shown, nil
	}
	return strconv.Quote(shown), nil
}

func section(name string) string { s, _, _ := strings.Cut(name, "."); return s }

func leaf(name string) string { _, l, _ := strings.Cut(name, "."); return l }

// edit changes the key's line in its section, or removes it if literal is "". Without
// such a line it appends one to the section, or the section.
func edit(text, name, literal string) string {
	eol := "\n"
	if strings.Contains(text, "\r\n") {
		eol = "\r\n"
	}
	line := leaf(name) + " = " + literal
	assign := regexp.MustCompile(`^(\s*` + regexp.QuoteMeta(leaf(name)) + `\s*=\s*)("[^"\\]*"|'[^']*'|[^\s#"']+)(\s*(?:#.*)?)$`)
	lines := strings.Split(text, eol)
	in, last := false, -1
	for i, l := range lines {
		trimmed := strings.TrimSpace(l)
		if strings.HasPrefix(trimmed, "[") {
			head, _, _ := strings.Cut(trimmed, "#")
			in = strings.TrimSpace(head) == "["+section(name)+"]"
		}
		if !in {
			continue
		}
		if m := assign.FindStringSubmatch(l); m != nil && literal == "" {
			return strings.Join(slices.Delete(lines, i, i+1), eol)
		} else if m != nil {
			lines[i] = m[1] + literal + m[3]
			return strings.Join(lines, eol)
		}
		if trimmed != "" {
			last = i
		}
	}
	if last >= 0 {
		return strings.Join(slices.Insert(lines, last+1, line), eol)
	}
	if text = strings.TrimRight(text, "\r\n"); text != "" {
		text += eol + eol
	}
	return text + "[" + section(name) + "]" + eol + line + eol
}
