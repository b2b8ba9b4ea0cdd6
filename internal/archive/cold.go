package archive

// ColdTurn is a turn outside the hot set: old, and never given to the model.
type ColdTurn struct {
	Session  string
	Turn     int
	LineFrom int
	LineTo   int
	Trimmed  bool // the texts of its passages stand in the log alone
}
