package redact

// Finding is a secret in a text.
type Finding struct {
	Kind       string
	Start, End int
}

// Findings returns the secrets that String replaces in one pass.
func Findings(s string) (list []Finding) {
	for _, f := range scan(s) {
		list = append(list, Finding{f.kind, f.start, f.end})
	}
	return list
}
