package archive

// ColdTurn is a turn outside the hot tier: old, and never injected or used.
type ColdTurn struct {
	Session  string
	Turn     int
	LineFrom int
	LineTo   int
	Trimmed  bool // the texts of its passages are only in the log
}
