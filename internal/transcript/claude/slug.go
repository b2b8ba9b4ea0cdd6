package claude

// Slug returns the name of the folder in which the client keeps the transcripts
// of the working directory cwd: every UTF-16 unit that is not an ASCII letter or
// digit becomes a dash.
func Slug(cwd string) string {
	b := make([]byte, 0, len(cwd))
	for _, r := range cwd {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			b = append(b, byte(r))
		case r > 0xFFFF: // a pair of units
			b = append(b, "--"...)
		default:
			b = append(b, '-')
		}
	}
	return string(b)
}
