-- Times are nanoseconds since 1970 UTC, 0 if unknown. Lines count from 0.
-- A column named session holds sessions.no, a column named session_id the ID.

CREATE TABLE projects (
  no     INTEGER PRIMARY KEY,
  key    TEXT NOT NULL UNIQUE,
  name   TEXT NOT NULL,
  root   TEXT NOT NULL,
  remote TEXT NOT NULL
) STRICT;

-- A row with known = 0 is only referred to: by an identity or a journal entry that was
-- stored before the session.
CREATE TABLE sessions (
  no          INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  known       INTEGER NOT NULL DEFAULT 0,
  next_doc    INTEGER NOT NULL DEFAULT 0,
  client      TEXT NOT NULL DEFAULT '',
  project     INTEGER NOT NULL DEFAULT 0,
  worktree    TEXT NOT NULL DEFAULT '',
  parent_id   TEXT NOT NULL DEFAULT '',
  relation    TEXT NOT NULL DEFAULT '',
  agent_id    TEXT NOT NULL DEFAULT '',
  agent_type  TEXT NOT NULL DEFAULT '',
  agent_desc  TEXT NOT NULL DEFAULT '',
  cwd         TEXT NOT NULL DEFAULT '',
  branch      TEXT NOT NULL DEFAULT '',
  version     TEXT NOT NULL DEFAULT '',
  model       TEXT NOT NULL DEFAULT '',
  title       TEXT NOT NULL DEFAULT '',
  first       INTEGER NOT NULL DEFAULT 0,
  last        INTEGER NOT NULL DEFAULT 0,
  generation  INTEGER NOT NULL DEFAULT 0,
  bytes       INTEGER NOT NULL DEFAULT 0,
  lines       INTEGER NOT NULL DEFAULT 0,
  turns       INTEGER NOT NULL DEFAULT 0,
  steps       INTEGER NOT NULL DEFAULT 0,
  calls       INTEGER NOT NULL DEFAULT 0,
  compacts    INTEGER NOT NULL DEFAULT 0,
  input       INTEGER NOT NULL DEFAULT 0,
  output      INTEGER NOT NULL DEFAULT 0,
  cache_read  INTEGER NOT NULL DEFAULT 0,
  cache_write INTEGER NOT NULL DEFAULT 0,
  cost_usd    REAL NOT NULL DEFAULT 0,
  cost_api    INTEGER NOT NULL DEFAULT 0,
  cost_time   INTEGER NOT NULL DEFAULT 0,
  cost_turns  INTEGER NOT NULL DEFAULT 0,
  lines_added INTEGER NOT NULL DEFAULT 0,
  lines_gone  INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX sessions_last ON sessions (last, id);
CREATE INDEX sessions_project ON sessions (project, last);
CREATE INDEX sessions_parent ON sessions (parent_id, last) WHERE parent_id <> '';

CREATE TABLE turns (
  session   INTEGER NOT NULL,
  turn      INTEGER NOT NULL,
  title     TEXT NOT NULL,
  prompt_id TEXT NOT NULL,
  start     INTEGER NOT NULL,
  end       INTEGER NOT NULL,
  line_from INTEGER NOT NULL,
  line_to   INTEGER NOT NULL,
  steps     INTEGER NOT NULL,
  dead      INTEGER NOT NULL,
  -- The place from which a row was copied; copy_session is 0 if it was not copied.
  copy_session INTEGER NOT NULL,
  copy_turn    INTEGER NOT NULL,
  copy_step    INTEGER NOT NULL,
  PRIMARY KEY (session, turn)
) STRICT, WITHOUT ROWID;

CREATE TABLE steps (
  session     INTEGER NOT NULL,
  turn        INTEGER NOT NULL,
  step        INTEGER NOT NULL,
  message_id  TEXT NOT NULL,
  model       TEXT NOT NULL,
  time        INTEGER NOT NULL,
  line_from   INTEGER NOT NULL,
  line_to     INTEGER NOT NULL,
  input       INTEGER NOT NULL,
  output      INTEGER NOT NULL,
  cache_read  INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  stop        TEXT NOT NULL,
  api_error   INTEGER NOT NULL,
  sidechain   INTEGER NOT NULL, -- a sub-agent's response in its parent's transcript
  copy_session INTEGER NOT NULL,
  copy_turn    INTEGER NOT NULL,
  copy_step    INTEGER NOT NULL,
  PRIMARY KEY (session, turn, step)
) STRICT, WITHOUT ROWID;

-- The places that a session was copied from.
CREATE INDEX turns_copied ON turns (session, copy_session, copy_turn, line_from) WHERE copy_session <> 0;
CREATE INDEX steps_copied ON steps (session, copy_session, copy_turn, copy_step, line_from) WHERE copy_session <> 0;

CREATE TABLE calls (
  session     INTEGER NOT NULL,
  turn        INTEGER NOT NULL,
  step        INTEGER NOT NULL,
  seq         INTEGER NOT NULL,
  tool_id     TEXT NOT NULL,
  name        TEXT NOT NULL,
  kind        TEXT NOT NULL,
  command     TEXT NOT NULL,
  files       TEXT NOT NULL, -- JSON list, '' for none
  exit        INTEGER,
  failed      INTEGER NOT NULL,
  error       TEXT NOT NULL,
  duration    INTEGER NOT NULL, -- nanoseconds
  line_use    INTEGER NOT NULL,
  line_result INTEGER NOT NULL, -- -1 if there is none yet
  PRIMARY KEY (session, turn, step, seq)
) STRICT, WITHOUT ROWID;

-- id is an index.ID: session, sequence, agent and kind in one number.
CREATE TABLE passages (
  id        INTEGER PRIMARY KEY,
  session   INTEGER NOT NULL,
  turn      INTEGER NOT NULL,
  step      INTEGER NOT NULL,
  seq       INTEGER NOT NULL,
  kind      TEXT NOT NULL,
  label     TEXT NOT NULL,
  paths     TEXT NOT NULL, -- JSON list, '' for none
  line_from INTEGER NOT NULL,
  line_to   INTEGER NOT NULL,
  time      INTEGER NOT NULL,
  partial   INTEGER NOT NULL,
  sum       INTEGER NOT NULL, -- xxhash64 of the indexed text and paths, and the kind
  text      TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX passages_place ON passages (session, turn, step, seq);

-- The terms of each passage, encoded by index.Encoder and separated by spaces. Only the
-- lists of rowids are stored (detail=none), because ranking is done in Go: the index is a
-- third of the size and twice as fast to build.
CREATE VIRTUAL TABLE words USING fts5(
  terms, content='', contentless_delete=1, detail=none, tokenize="ascii tokenchars '.'"
);
-- The terms of each passage, for Dump.
CREATE VIRTUAL TABLE words_terms USING fts5vocab(words, instance);
-- An import writes large segments. The data that a hook adds is far below both sizes.
INSERT INTO words (words, rank) VALUES ('hashsize', 8388608);
INSERT INTO words (words, rank) VALUES ('automerge', 8);

CREATE TABLE files (
  session INTEGER NOT NULL,
  turn    INTEGER NOT NULL,
  step    INTEGER NOT NULL,
  seq     INTEGER NOT NULL,
  path    TEXT NOT NULL,
  kind    TEXT NOT NULL,
  line    INTEGER NOT NULL,
  time    INTEGER NOT NULL,
  PRIMARY KEY (session, turn, step, seq, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
  session INTEGER NOT NULL,
  line    INTEGER NOT NULL,
  seq     INTEGER NOT NULL,
  task_id TEXT NOT NULL,
  subject TEXT NOT NULL,
  status  TEXT NOT NULL,
  time    INTEGER NOT NULL,
  turn    INTEGER NOT NULL,
  step    INTEGER NOT NULL,
  PRIMARY KEY (session, line, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE compactions (
  session      INTEGER NOT NULL,
  idx          INTEGER NOT NULL,
  line         INTEGER NOT NULL,
  time         INTEGER NOT NULL,
  cause        TEXT NOT NULL,
  pre_tokens   INTEGER NOT NULL,
  post_tokens  INTEGER NOT NULL,
  duration     INTEGER NOT NULL,
  summary_line INTEGER NOT NULL,
  kept         INTEGER NOT NULL,
  ours         INTEGER NOT NULL,
  turn         INTEGER NOT NULL,
  PRIMARY KEY (session, idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE cursors (
  session    INTEGER PRIMARY KEY,
  generation INTEGER NOT NULL,
  offset     INTEGER NOT NULL,
  line       INTEGER NOT NULL,
  state      BLOB
) STRICT;

CREATE TABLE identities (
  key     INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  turn    INTEGER NOT NULL,
  step    INTEGER NOT NULL
) STRICT;

-- Journal entries except summaries.
CREATE TABLE journal (
  id         TEXT PRIMARY KEY,
  kind       TEXT NOT NULL,
  session_id TEXT NOT NULL,
  time       INTEGER NOT NULL,
  data       TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX journal_session ON journal (session_id, kind, time);

-- Summaries from hooks that no transcript holds yet.
CREATE TABLE hook_summaries (
  id         TEXT PRIMARY KEY,
  session_id TEXT NOT NULL,
  time       INTEGER NOT NULL,
  source     TEXT NOT NULL,
  text       TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX hook_summaries_session ON hook_summaries (session_id, time);

CREATE TABLE access (
  session_id TEXT NOT NULL,
  turn       INTEGER NOT NULL,
  step       INTEGER NOT NULL,
  how        TEXT NOT NULL,
  times      INTEGER NOT NULL,
  last       INTEGER NOT NULL,
  PRIMARY KEY (session_id, turn, step, how)
) STRICT, WITHOUT ROWID;

-- Merged project keys. The latest entry for a key is stored.
CREATE TABLE aliases (
  old  TEXT PRIMARY KEY,
  target TEXT NOT NULL,
  time INTEGER NOT NULL,
  id   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- journal: the cursor of ApplyJournal; passages: the number of passages.
CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value ANY NOT NULL
) STRICT, WITHOUT ROWID;

-- The memory-entry view of turns, for users of the sqlite3 tool.
CREATE VIEW transcript_entries AS
SELECT
  'transcript:' || s.id || ':' || t.turn || ':' || (t.start / 1000000) AS id,
  s.id AS session_id,
  'episodic' AS type,
  'transcript-archive' AS namespace,
  t.turn AS chunk_index,
  coalesce((SELECT group_concat(text, char(10) || char(10)) FROM
    (SELECT text FROM passages p WHERE p.session = t.session AND p.turn = t.turn ORDER BY p.step, p.seq)), '') AS content,
  substr(t.title
    || coalesce(' | Tools: ' || (SELECT group_concat(DISTINCT name) FROM calls c WHERE c.session = t.session AND c.turn = t.turn), '')
    || coalesce(' | Files: ' || (SELECT group_concat(DISTINCT path) FROM files f WHERE f.session = t.session AND f.turn = t.turn), '')
    || coalesce(' | ' || (SELECT substr(text, 1, 200) FROM passages p
        WHERE p.session = t.session AND p.turn = t.turn AND p.kind = 'reply' ORDER BY p.step, p.seq LIMIT 1), ''),
    1, 300) AS summary,
  strftime('%Y-%m-%dT%H:%M:%fZ', t.start / 1e9, 'unixepoch') AS created_at,
  t.line_from AS line_from,
  t.line_to AS line_to,
  t.dead AS dead
FROM turns t JOIN sessions s ON s.no = t.session;
