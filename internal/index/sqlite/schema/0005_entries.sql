-- Turns in the form of an earlier system's table, with all its columns. Times are
-- milliseconds since 1970. content holds the indexed prompts and replies, content_hash
-- identifies it, and confidence is as docs/maintenance.md describes it, without its limit
-- of 1 after each access. SQLite 3.37 can read it: a view that a program cannot parse keeps
-- it from the whole file.
DROP VIEW transcript_entries;
CREATE VIEW transcript_entries AS
WITH turn AS (
  SELECT s.id AS session_id, t.session, t.turn, max(t.start, t.end) / 1000000 AS ended,
    strftime('%Y-%m-%dT%H:%M:%fZ', max(t.start, t.end) / 1e9, 'unixepoch') AS at,
    coalesce((SELECT group_concat(text, char(10)) FROM (SELECT p.text FROM passages p
      WHERE p.session = t.session AND p.turn = t.turn AND p.kind = 'prompt' ORDER BY p.step, p.seq)), t.title) AS prompt,
    coalesce((SELECT group_concat(text, char(10)) FROM (SELECT p.text FROM passages p
      WHERE p.session = t.session AND p.turn = t.turn AND p.kind = 'reply' ORDER BY p.step, p.seq)), '') AS reply,
    (SELECT printf('%016x%016x', min(p.sum), max(p.sum)) FROM passages p WHERE p.session = t.session AND p.turn = t.turn) AS hash,
    (SELECT json_group_array(name) FROM (SELECT DISTINCT c.name FROM calls c WHERE c.session = t.session AND c.turn = t.turn)) AS tools,
    (SELECT json_group_array(path) FROM (SELECT DISTINCT f.path FROM files f WHERE f.session = t.session AND f.turn = t.turn)) AS paths,
    (SELECT x.input + x.cache_read + x.cache_write + x.output FROM steps x
      WHERE x.session = t.session AND x.turn = t.turn AND x.sidechain = 0 AND x.api_error = 0 ORDER BY x.step DESC LIMIT 1) AS tokens,
    (SELECT c.cause FROM compactions c WHERE c.session = t.session AND c.line >= t.line_from ORDER BY c.line LIMIT 1) AS cause,
    (SELECT count(*) FROM accesses a WHERE a.session_id = s.id AND a.turn = t.turn) AS uses,
    (SELECT max(a.time) / 1000000 FROM accesses a WHERE a.session_id = s.id AND a.turn = t.turn) AS used,
    substr(t.title
      || coalesce(' | Tools: ' || (SELECT group_concat(DISTINCT name) FROM calls c WHERE c.session = t.session AND c.turn = t.turn), '')
      || coalesce(' | Files: ' || (SELECT group_concat(DISTINCT path) FROM files f WHERE f.session = t.session AND f.turn = t.turn), '')
      || coalesce(' | ' || (SELECT substr(text, 1, 200) FROM passages p
          WHERE p.session = t.session AND p.turn = t.turn AND p.kind = 'reply' ORDER BY p.step, p.seq LIMIT 1), ''),
      1, 300) AS summary,
    t.line_from, t.line_to, t.dead
  FROM turns t JOIN sessions s ON s.no = t.session
)
SELECT
  'ctx-' || ended || '-' || turn || '-' || substr(session_id, 1, 8) AS id,
  'transcript:' || session_id || ':' || turn || ':' || at AS key,
  'User: ' || prompt || char(10, 10) || 'Assistant: ' || reply AS content,
  'episodic' AS type,
  'transcript-archive' AS namespace,
  json_array('transcript', 'compaction', session_id) AS tags,
  json_object(
    'sessionId', session_id, 'chunkIndex', turn, 'trigger', coalesce(cause, 'proactive'), 'timestamp', at, 'toolNames', json(tools),
    'filePaths', json(paths), 'summary', summary, 'contentHash', hash, 'preTokens', coalesce(tokens, 0), 'turnRange', json_array(turn, turn)
  ) AS metadata,
  'private' AS access_level,
  ended AS created_at,
  ended AS updated_at,
  1 AS version,
  uses AS access_count,
  coalesce(used, ended) AS last_accessed_at,
  max(0.1, min(1.0, 1.0 - 0.005 * (CAST(strftime('%s', 'now') AS INTEGER) - ended / 1000) / 3600 + 0.03 * uses)) AS confidence,
  hash AS content_hash,
  session_id,
  turn AS chunk_index,
  summary,
  line_from,
  line_to,
  dead
FROM turn;
