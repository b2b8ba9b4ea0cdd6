package archive

// VectorSet describes the vectors of one embedder. Only vectors of one set can be compared.
type VectorSet struct {
	Embedder string // the name in every row
	Dim      int    // components of each vector
	Rows     int64  // passages that have vectors
	Last     int64  // number of the newest row, 0 if there is none; numbers only grow
	Gone     int64  // rows that were deleted since the set was created
	Stamp    int64  // differs for every set that was ever created, also after a reindex
}

// VectorRow holds one passage's vectors, quantised by package vector.
type VectorRow struct {
	No      int64 // within its set, from 1
	Passage int64 // as in Hit.ID
	Data    []byte
}

// Unembedded is work for an embedder: passages that it has not processed, those of the
// newest sessions first, and the marks to store afterwards.
type Unembedded struct {
	Passages []PassageText
	Marks    []EmbedMark
}

// PassageText is a passage's number and text.
type PassageText struct {
	ID   int64
	Text string
}

// EmbedMark records that a session's passages with sequence numbers [From, Next) are
// embedded. A store ignores a mark if From has changed: another process did the same work.
type EmbedMark struct {
	Session, From, Next int64 // Session is the store's number
}
