-- Sessions deleted for good, by ID, and parts of sessions, by the ID of the fact that
-- deleted them. They cannot be pushed again.
CREATE TABLE forgotten (
  fact   text COLLATE "C" PRIMARY KEY,
  author text NOT NULL,
  rows   bigint NOT NULL,
  at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sessions_author ON sessions (author);
