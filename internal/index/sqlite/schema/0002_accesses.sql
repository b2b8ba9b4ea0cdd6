-- Each access to a place, instead of the number of accesses: confidence depends on their
-- times.
DROP TABLE access;
CREATE TABLE accesses (
  session_id TEXT NOT NULL,
  turn       INTEGER NOT NULL,
  step       INTEGER NOT NULL,
  time       INTEGER NOT NULL,
  id         TEXT NOT NULL, -- of the journal entry
  how        TEXT NOT NULL,
  PRIMARY KEY (session_id, turn, step, time, id)
) STRICT, WITHOUT ROWID;
WITH
  facts AS MATERIALIZED (SELECT id, time, data FROM journal WHERE kind = 'access' AND json_valid(data)),
  refs AS MATERIALIZED (
    SELECT f.id, f.time, f.data, iif(r.type = 'object', r.value, '{}') AS ref FROM facts f, json_each(f.data, '$.refs') r
  )
INSERT INTO accesses (session_id, turn, step, time, id, how)
  SELECT json_extract(ref, '$.s'), json_extract(ref, '$.t'), json_extract(ref, '$.p'), time, id, json_extract(data, '$.how')
  FROM refs
  WHERE json_type(data, '$.how') = 'text' AND json_type(ref, '$.s') = 'text' AND json_type(ref, '$.t') = 'integer'
    AND json_type(ref, '$.p') = 'integer'
  ON CONFLICT DO NOTHING;
