package install

import (
	"bytes"
	"errors"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// tomlText is a TOML document that is edited as text: all other lines stay as they are,
// comments and order included. An edit that would change another value is refused.
type tomlText struct{ src []byte }

var errTOML = errors.New("another value would change")

func (t *tomlText) decode(v any) error { return toml.Unmarshal(t.src, v) }

// lines returns the lines with their line ends.
func (t *tomlText) lines() [][]byte { return bytes.SplitAfter(t.src, []byte("\n")) }

// eol returns the line end of the document.
func (t *tomlText) eol() string {
	if bytes.Contains(t.src, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// append adds a table after the last line and an empty one.
func (t *tomlText) append(table string, path []string) error {
	eol, src := t.eol(), string(t.src)
	if src != "" && !strings.HasSuffix(src, "\n") {
		src += eol
	}
	if src != "" {
		src += eol
	}
	return t.replace([]byte(src+strings.ReplaceAll(table, "\n", eol)), path)
}

// header returns the keys of a table's header line, nil for another line.
func header(line []byte) []string {
	text := bytes.TrimSpace(line)
	if !bytes.HasPrefix(text, []byte("[")) {
		return nil
	}
	var v map[string]any
	meta, err := toml.Decode(string(text), &v)
	if keys := meta.Keys(); err == nil && len(keys) > 0 {
		return keys[len(keys)-1]
	}
	return nil
}

// headers returns the keys of each line's header, nil for other lines and within strings of
// several lines.
func headers(lines [][]byte) [][]string {
	list := make([][]string, len(lines))
	open := ""
	for i, line := range lines {
		if text := string(line); open == "" {
			list[i] = header(line)
			for _, quotes := range []string{`"""`, "'''"} {
				if strings.Count(text, quotes)%2 == 1 {
					open = quotes
				}
			}
		} else if strings.Contains(text, open) {
			open = ""
		}
	}
	return list
}

// within returns the lines from..to of the first table below path, or exactly at it if
// exact. Empty lines and comments at its end belong to the next table.
func (t *tomlText) within(exact bool, path ...string) (from, to int, ok bool) {
	lines := t.lines()
	heads := headers(lines)
	for i, h := range heads {
		if len(h) < len(path) || exact && len(h) > len(path) || !slices.Equal(h[:len(path)], path) {
			continue
		}
		end := i + 1
		for j := end; j < len(lines) && heads[j] == nil; j++ {
			if text := bytes.TrimSpace(lines[j]); len(text) > 0 && text[0] != '#' {
				end = j + 1
			}
		}
		return i, end, true
	}
	return 0, 0, false
}

// has reports whether a table's header begins with path.
func (t *tomlText) has(path ...string) bool {
	_, _, ok := t.within(false, path...)
	return ok
}

// cut removes a table and the tables below it.
func (t *tomlText) cut(path ...string) error {
	found := false
	src := t.src
	for {
		from, to, ok := t.within(false, path...)
		if !ok {
			break
		}
		found = true
		t.cutLines(from, to)
	}
	after := t.src
	t.src = src
	if !found {
		return errTOML // an inline table or dotted keys
	}
	return t.replace(after, path)
}

// cutEmpty removes the header of a table without values and without tables below it.
func (t *tomlText) cutEmpty(path ...string) error {
	from, to, ok := t.within(true, path...)
	if !ok || to != from+1 {
		return nil
	}
	src := t.src
	t.cutLines(from, to)
	after := t.src
	t.src = src
	return t.replace(after, path)
}

// cutLines removes lines, and the empty line before them if another one or the end follows.
func (t *tomlText) cutLines(from, to int) {
	lines := t.lines()
	empty := func(i int) bool { return i >= len(lines) || len(bytes.TrimSpace(lines[i])) == 0 }
	if from > 0 && empty(from-1) && empty(to) {
		from--
	}
	t.src = bytes.Join(slices.Delete(lines, from, to), nil)
}

// setLine replaces the value of a key that has its own line in a table.
func (t *tomlText) setLine(table []string, key, value string) error {
	from, to, ok := t.within(true, table...)
	lines := t.lines()
	assign := regexp.MustCompile(`^(\s*` + regexp.QuoteMeta(key) + `\s*=\s*)("(?:[^"\\]|\\.)*"|'[^']*')(.*)$`)
	for i := from; ok && i < to; i++ {
		if m := assign.FindSubmatch(bytes.TrimRight(lines[i], "\r\n")); m != nil {
			end := lines[i][len(bytes.TrimRight(lines[i], "\r\n")):]
			lines[i] = slices.Concat(m[1], []byte(value), m[3], end)
			return t.replace(bytes.Join(lines, nil), append(slices.Clip(table), key))
		}
	}
	return errTOML
}

// replace makes after the document, if it differs only in the value at path.
func (t *tomlText) replace(after []byte, path []string) error {
	var old, changed map[string]any
	if err := t.decode(&old); err != nil {
		return err
	}
	if err := toml.Unmarshal(after, &changed); err != nil {
		return err
	}
	forget(old, path)
	forget(changed, path)
	if !reflect.DeepEqual(old, changed) {
		return errTOML
	}
	t.src = after
	return nil
}

// forget removes the value at path and the tables that become empty.
func forget(table map[string]any, path []string) {
	if below, ok := table[path[0]].(map[string]any); ok && len(path) > 1 {
		below = maps.Clone(below)
		forget(below, path[1:])
		if table[path[0]] = below; len(below) > 0 {
			return
		}
	}
	delete(table, path[0])
}
