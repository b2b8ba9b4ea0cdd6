-- Turns outside the hot tier, each with a one-line summary. If trimmed is 1, the texts of
-- its passages are '' and are only in the log.
CREATE TABLE cold (
  session INTEGER NOT NULL,
  turn    INTEGER NOT NULL,
  trimmed INTEGER NOT NULL,
  summary TEXT NOT NULL,
  PRIMARY KEY (session, turn)
) STRICT, WITHOUT ROWID;
