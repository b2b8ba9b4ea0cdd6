package claude

// Slug returns the name of the folder in which the client keeps the transcripts
// of the working directory cwd: every character that is not an ASCII letter or
// digit becomes a dash.
func Slug(cwd string) string {
	b := make([]byte, 0, len(cwd))
	for _, r := range cwd {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			b = append(b, byte(r))
			continue
		}
		b = append(b, '-')
	}
	return string(b)
}
