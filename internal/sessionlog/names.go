package sessionlog

import (
	"path"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/text"
)

// Sessions, slugs and the elements of side files' paths become file names in the
// archive. They come from payloads and from folders of other programs. A name that
// is not valid and safe on every system is replaced by its safe characters, a tilde
// and its hash.

const (
	maxName = 200 // bytes; with the extensions it is valid on every file system

	logExt        = ".zst"
	transcriptExt = ".jsonl" + logExt
)

// sessionName returns the file and folder name of a session.
func sessionName(s string) string {
	return cleanName(s, plainName(s, "") && !endsLikeGeneration(s) && !hasLogExt(s))
}

// folderName returns the name of another folder: of a client, a project, or above a side
// file.
func folderName(s string) string { return cleanName(s, plainName(s, " +@=,()") && !hasLogExt(s)) }

// fileName returns the name of a side file, before a generation and the extension.
func fileName(s string) string {
	ext := path.Ext(s)
	return cleanName(s, plainName(s, " +@=,()") && !endsLikeGeneration(s) && !endsLikeGeneration(strings.TrimSuffix(s, ext)))
}

func cleanName(s string, ok bool) string {
	if ok || isReplacement(s) {
		return s
	}
	readable := strings.Map(func(r rune) rune {
		if r < 0x80 && text.IsAlnum(byte(r)) || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, s)
	sum := strconv.FormatUint(xxhash.Sum64String(s), 16)
	return readable[:min(len(readable), 60)] + "~" + strings.Repeat("0", 16-len(sum)) + sum
}

// plainName reports whether s is a safe file name: letters, digits, ".-_" and the extra
// characters, without a dot or space at either end, and not a device name of Windows.
func plainName(s, extra string) bool {
	if s == "" || len(s) > maxName || strings.Trim(s, ". ") != s {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !text.IsAlnum(c) && c != '-' && c != '_' && c != '.' && strings.IndexByte(extra, c) < 0 {
			return false
		}
	}
	stem, _, _ := strings.Cut(s, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL":
		return false
	}
	port := len(stem) == 4 && (strings.HasPrefix(stem, "COM") || strings.HasPrefix(stem, "LPT"))
	return !port || stem[3] < '0' || stem[3] > '9'
}

// isReplacement reports whether s has the form of a replaced name, so that a name read
// from the archive is not replaced again.
func isReplacement(s string) bool {
	head, sum, ok := strings.Cut(s, "~")
	return ok && len(head) <= 60 && len(sum) == 16 && strings.Trim(sum, "0123456789abcdef") == "" &&
		strings.IndexFunc(head, func(r rune) bool {
			return r >= 0x80 || !text.IsAlnum(byte(r)) && r != '-' && r != '_'
		}) < 0
}

// hasLogExt reports whether s has an extension of logs and their temporary files, which
// folders must not have.
func hasLogExt(s string) bool {
	switch strings.ToLower(path.Ext(s)) {
	case logExt, ".tmp", ".lock":
		return true
	}
	return false
}

// endsLikeGeneration reports whether s ends with ".g" and digits.
func endsLikeGeneration(s string) bool {
	ext := path.Ext(s)
	return len(ext) > 2 && (ext[1] == 'g' || ext[1] == 'G') && strings.Trim(ext[2:], "0123456789") == ""
}

// withGeneration inserts the generation before the extension; the first has none.
func withGeneration(name string, gen int) string {
	if gen < 2 {
		return name
	}
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + ".g" + strconv.Itoa(gen) + ext
}

// cutGeneration is the inverse of withGeneration.
func cutGeneration(name string) (string, int) {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	if endsLikeGeneration(name) {
		stem, ext = name, ""
	}
	if !endsLikeGeneration(stem) {
		return name, 1
	}
	mark := path.Ext(stem)
	gen, err := strconv.Atoi(mark[2:])
	if err != nil || gen < 2 || mark != ".g"+strconv.Itoa(gen) {
		return name, 1
	}
	return strings.TrimSuffix(stem, mark) + ext, gen
}

// relName returns the path of a side file below its session's folder, with slashes.
func relName(rel string) string {
	parts := strings.FieldsFunc(rel, func(r rune) bool { return r == '/' || r == '\\' })
	const maxDepth = 8 // deeper paths become one name
	if len(parts) == 0 || len(parts) > maxDepth {
		return cleanName(rel, false)
	}
	for i, p := range parts[:len(parts)-1] {
		parts[i] = folderName(p)
	}
	parts[len(parts)-1] = fileName(parts[len(parts)-1])
	return strings.Join(parts, "/")
}
