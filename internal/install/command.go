package install

import (
	"path/filepath"
	"slices"
	"strings"

	"strandline/internal/text"
)

// program is the name of the binary, without ".exe".
const program = "strandline"

// word is a word of a shell command with its position, or a separator such as ";"
// or "|".
type word struct {
	text       string // quotes and escapes resolved
	start, end int
	separator  bool
}

// words splits a command as a POSIX shell does, without expansions. With literal, a
// backslash is an ordinary character, as in Windows paths.
func words(command string, literal bool) []word {
	var list []word
	var text strings.Builder
	start := -1
	flush := func(end int) {
		if start >= 0 {
			list = append(list, word{text: text.String(), start: start, end: end})
		}
		text.Reset()
		start = -1
	}
	var quote byte
	for i := 0; i < len(command); i++ {
		c, at := command[i], i
		switch {
		case quote == 0 && strings.IndexByte(" \t\r\n;|&<>()", c) >= 0:
			flush(i)
			if strings.IndexByte(" \t\r", c) < 0 {
				list = append(list, word{text: string(c), start: i, end: i + 1, separator: true})
			}
			continue
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == c:
			quote = 0
		case c == '\\' && !literal && quote != '\'' && i+1 < len(command):
			i++
			text.WriteByte(command[i])
		default:
			text.WriteByte(c)
		}
		if start < 0 {
			start = at
		}
	}
	flush(len(command))
	return list
}

// Quote returns path as one word of a shell command. For Windows it uses slashes,
// because some shells there drop backslashes.
func Quote(path, goos string) string {
	special := func(r rune) bool {
		return r <= 0x7f && !text.IsAlnum(byte(r)) && !strings.ContainsRune("_@%+=:,./-", r)
	}
	if goos == "windows" {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	switch {
	case !strings.ContainsFunc(path, special):
		return path
	case goos == "windows":
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// call is the part of a command that runs Strandline.
type call struct {
	path       string // of the binary, as in the command
	start, end int    // offsets in the command, with quotes
}

// findCall finds Strandline in a command whose first program is the Strandline
// binary with the given first argument. Environment assignments and exec may
// precede it. It does not find Strandline later in the command.
func findCall(command string, args []string, argument, exe, goos string) (call, bool) {
	if args != nil { // the client runs it without a shell
		c := call{path: command, end: len(command)}
		return c, len(args) > 0 && args[0] == argument && isProgram(command, exe, goos)
	}
	literal := goos == "windows" && strings.Contains(command, `\`)
	list := words(command, literal)
	at := slices.IndexFunc(list, func(w word) bool { return w.separator || !isPrefix(w.text) })
	if at < 0 || at+1 >= len(list) || list[at].separator || list[at+1].text != argument {
		return call{}, false
	}
	c := call{path: list[at].text, start: list[at].start, end: list[at].end}
	return c, isProgram(c.path, exe, goos)
}

// isPrefix reports whether a word may precede the program of a command.
func isPrefix(text string) bool {
	name, _, ok := strings.Cut(text, "=")
	return text == "exec" || text == "env" || ok && name != "" && !strings.ContainsAny(name, `/\.-`)
}

// isProgram reports whether path is exe or has the name of the Strandline binary.
func isProgram(path, exe, goos string) bool {
	if samePath(path, exe, goos) {
		return true
	}
	if goos == "windows" {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	base := filepath.ToSlash(path)
	base = strings.ToLower(base[strings.LastIndexByte(base, '/')+1:])
	return strings.TrimSuffix(base, ".exe") == program
}

// byName reports whether path is a bare name, to be found in PATH.
func byName(path string) bool { return !strings.ContainsAny(path, `/\`) }

// samePath reports whether path is exe.
func samePath(path, exe, goos string) bool {
	if goos == "windows" {
		return strings.EqualFold(strings.ReplaceAll(path, `\`, "/"), strings.ReplaceAll(exe, `\`, "/"))
	}
	return path == exe
}

// absolute reports whether path is absolute on a system.
func absolute(path, goos string) bool {
	if goos != "windows" {
		return strings.HasPrefix(path, "/")
	}
	return strings.HasPrefix(path, `\\`) || len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
}
