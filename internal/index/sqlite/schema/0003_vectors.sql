-- One row for each embedder and dimension with vectors.
CREATE TABLE embedders (
  no    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL,
  dim   INTEGER NOT NULL,
  rows  INTEGER NOT NULL DEFAULT 0,
  last  INTEGER NOT NULL DEFAULT 0, -- vectors.no of the newest row, even if deleted
  gone  INTEGER NOT NULL DEFAULT 0,
  stamp INTEGER NOT NULL,           -- differs between sets created at different times
  UNIQUE (name, dim)
) STRICT;

-- A passage's vectors as encoded by package vector. A passage that the embedder has no
-- vectors for has no row.
CREATE TABLE vectors (
  embedder INTEGER NOT NULL,
  no       INTEGER NOT NULL,
  passage  INTEGER NOT NULL,
  data     BLOB NOT NULL,
  PRIMARY KEY (embedder, no)
) STRICT, WITHOUT ROWID;
CREATE INDEX vectors_passage ON vectors (passage, embedder);

-- The first sequence number (see index.ID) of a session that is not embedded yet.
CREATE TABLE embedded (
  embedder INTEGER NOT NULL,
  session  INTEGER NOT NULL,
  next     INTEGER NOT NULL,
  PRIMARY KEY (embedder, session)
) STRICT, WITHOUT ROWID;

-- Deleting a passage deletes its vectors.
CREATE TRIGGER passages_vectors AFTER DELETE ON passages BEGIN
  DELETE FROM vectors WHERE passage = old.id;
END;
CREATE TRIGGER vectors_gone AFTER DELETE ON vectors BEGIN
  UPDATE embedders SET rows = rows - 1, gone = gone + 1 WHERE no = old.embedder;
END;
