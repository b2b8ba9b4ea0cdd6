-- What was deleted for good: sessions by their ids, parts of sessions by the identity
-- of the fact that deleted them. Such a session is not taken in again.
CREATE TABLE forgotten (
  fact   text COLLATE "C" PRIMARY KEY,
  author text NOT NULL,
  rows   bigint NOT NULL,
  at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sessions_author ON sessions (author);
