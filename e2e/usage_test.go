package e2e

// known is the usage that strandline's hooks stored for a session.
type known struct {
	Tokens  int64  `json:"lastTokenEstimate"`
	Window  int64  `json:"window"`
	From    string `json:"windowFrom"`
	Seen    int64  `json:"seen"`
	History []struct {
		Tokens int64 `json:"tokens"`
	} `json:"history"`
}

// counted reports whether the hooks have counted that many tokens.
func (k known) counted(tokens int64) bool {
	for _, p := range k.History {
		if p.Tokens == tokens {
			return true
		}
	}
	return k.Seen == tokens
}
