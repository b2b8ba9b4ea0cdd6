-- One row for each embedder and dimension that vectors are held of.
CREATE TABLE embedders (
  no    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL,
  dim   INTEGER NOT NULL,
  rows  INTEGER NOT NULL DEFAULT 0,
  last  INTEGER NOT NULL DEFAULT 0, -- vectors.no of the newest row, also if it is gone
  gone  INTEGER NOT NULL DEFAULT 0,
  stamp INTEGER NOT NULL,           -- tells a set from another one begun later
  UNIQUE (name, dim)
) STRICT;

-- A passage's vectors, as package vector writes them. A passage of which the
-- embedder knows nothing has none.
CREATE TABLE vectors (
  embedder INTEGER NOT NULL,
  no       INTEGER NOT NULL,
  passage  INTEGER NOT NULL,
  data     BLOB NOT NULL,
  PRIMARY KEY (embedder, no)
) STRICT, WITHOUT ROWID;
CREATE INDEX vectors_passage ON vectors (passage, embedder);

-- How far a session's passages are embedded, as sequence numbers of docID.
CREATE TABLE embedded (
  embedder INTEGER NOT NULL,
  session  INTEGER NOT NULL,
  next     INTEGER NOT NULL,
  PRIMARY KEY (embedder, session)
) STRICT, WITHOUT ROWID;

-- Whoever deletes a passage deletes what was made of it.
CREATE TRIGGER passages_vectors AFTER DELETE ON passages BEGIN
  DELETE FROM vectors WHERE passage = old.id;
END;
CREATE TRIGGER vectors_gone AFTER DELETE ON vectors BEGIN
  UPDATE embedders SET rows = rows - 1, gone = gone + 1 WHERE no = old.embedder;
END;
