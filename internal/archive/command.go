package archive

import "strings"

// CommandKey names a shell command without what changes from run to run: folder
// changes in front, redirections, pipes, what is echoed behind it. Of several
// lines the first counts.
func CommandKey(cmd string) string {
	cmd, _, _ = strings.Cut(cmd, "\n")
	for strings.HasPrefix(cmd, "cd ") {
		_, rest, ok := strings.Cut(cmd, "&&")
		if !ok {
			break
		}
		cmd = strings.TrimSpace(rest)
	}
	for _, end := range []string{" 2>&1", " | ", " > ", "; echo", " && echo"} {
		if at := strings.Index(cmd, end); at > 0 {
			cmd = cmd[:at]
		}
	}
	return strings.Join(strings.Fields(cmd), " ")
}
