-- Turns outside the hot set, each with the line that stands for it. Where trimmed
-- is 1 the texts of its passages are '' and stand in the log alone.
CREATE TABLE cold (
  session INTEGER NOT NULL,
  turn    INTEGER NOT NULL,
  trimmed INTEGER NOT NULL,
  summary TEXT NOT NULL,
  PRIMARY KEY (session, turn)
) STRICT, WITHOUT ROWID;
