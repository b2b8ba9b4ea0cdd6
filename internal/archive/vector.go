package archive

// VectorSet is what one embedder made of the archive's passages. Vectors are
// comparable within a set only.
type VectorSet struct {
	Embedder string // the name in every row
	Dim      int    // components of each vector
	Rows     int64  // passages that have vectors
	Last     int64  // number of the newest row; numbers only grow, 0 before the first
	Gone     int64  // rows that were removed since the set began
	Stamp    int64  // another one for every set ever begun, also after a reindex
}

// VectorRow is one passage's vectors, quantised as package vector does.
type VectorRow struct {
	No      int64 // within its set, from 1
	Passage int64 // the store's number of the passage, as in Hit.ID
	Data    []byte
}

// Unembedded is work for an embedder: the next passages that it has not seen, the
// newest sessions' first, and what is to be noted once it has.
type Unembedded struct {
	Passages []PassageText
	Marks    []EmbedMark
}

// PassageText is a passage's number and text.
type PassageText struct {
	ID   int64
	Text string
}

// EmbedMark says that a session's passages from one sequence number up to
// another are embedded. A store refuses a mark whose beginning has moved:
// another process did the same work.
type EmbedMark struct {
	Session, From, Next int64 // Session is the store's number
}
