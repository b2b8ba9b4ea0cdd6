-- Times are nanoseconds since 1970 UTC, 0 if unknown. Lines count from 0.
-- A column named session holds sessions.no, a column named session_id the ID. IDs and
-- terms are compared bytewise, independent of the database's locale.

CREATE TABLE projects (
  no     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key    text COLLATE "C" NOT NULL UNIQUE,
  name   text NOT NULL,
  root   text NOT NULL,
  remote text NOT NULL
);

-- A row with known = false is only referred to: by an identity or a journal entry that was
-- stored before the session. author and machine name who pushed the session.
CREATE TABLE sessions (
  no          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id          text COLLATE "C" NOT NULL UNIQUE,
  known       boolean NOT NULL DEFAULT false,
  next_doc    bigint NOT NULL DEFAULT 0,
  held        bigint NOT NULL DEFAULT 0, -- number of passages
  author      text NOT NULL DEFAULT '',
  machine     text NOT NULL DEFAULT '',
  client      text NOT NULL DEFAULT '',
  project     bigint NOT NULL DEFAULT 0,
  worktree    text NOT NULL DEFAULT '',
  parent_id   text COLLATE "C" NOT NULL DEFAULT '',
  relation    text NOT NULL DEFAULT '',
  agent_id    text NOT NULL DEFAULT '',
  agent_type  text NOT NULL DEFAULT '',
  agent_desc  text NOT NULL DEFAULT '',
  cwd         text NOT NULL DEFAULT '',
  branch      text NOT NULL DEFAULT '',
  version     text NOT NULL DEFAULT '',
  model       text NOT NULL DEFAULT '',
  title       text NOT NULL DEFAULT '',
  first       bigint NOT NULL DEFAULT 0,
  last        bigint NOT NULL DEFAULT 0,
  generation  bigint NOT NULL DEFAULT 0,
  bytes       bigint NOT NULL DEFAULT 0,
  lines       bigint NOT NULL DEFAULT 0,
  turns       bigint NOT NULL DEFAULT 0,
  steps       bigint NOT NULL DEFAULT 0,
  calls       bigint NOT NULL DEFAULT 0,
  compacts    bigint NOT NULL DEFAULT 0,
  input       bigint NOT NULL DEFAULT 0,
  output      bigint NOT NULL DEFAULT 0,
  cache_read  bigint NOT NULL DEFAULT 0,
  cache_write bigint NOT NULL DEFAULT 0,
  cost_usd    double precision NOT NULL DEFAULT 0,
  cost_api    bigint NOT NULL DEFAULT 0,
  cost_time   bigint NOT NULL DEFAULT 0,
  cost_turns  bigint NOT NULL DEFAULT 0,
  lines_added bigint NOT NULL DEFAULT 0,
  lines_gone  bigint NOT NULL DEFAULT 0
);
CREATE INDEX sessions_last ON sessions (last, id);
CREATE INDEX sessions_project ON sessions (project, last);
CREATE INDEX sessions_parent ON sessions (parent_id, last) WHERE parent_id <> '';

CREATE TABLE turns (
  session      bigint NOT NULL,
  turn         bigint NOT NULL,
  title        text NOT NULL,
  prompt_id    text NOT NULL,
  began        bigint NOT NULL,
  ended        bigint NOT NULL,
  line_from    bigint NOT NULL,
  line_to      bigint NOT NULL,
  steps        bigint NOT NULL,
  dead         boolean NOT NULL,
  -- The place from which a row was copied; copy_session is 0 if it was not copied.
  copy_session bigint NOT NULL,
  copy_turn    bigint NOT NULL,
  copy_step    bigint NOT NULL,
  PRIMARY KEY (session, turn)
);

CREATE TABLE steps (
  session      bigint NOT NULL,
  turn         bigint NOT NULL,
  step         bigint NOT NULL,
  message_id   text NOT NULL,
  model        text NOT NULL,
  time         bigint NOT NULL,
  line_from    bigint NOT NULL,
  line_to      bigint NOT NULL,
  input        bigint NOT NULL,
  output       bigint NOT NULL,
  cache_read   bigint NOT NULL,
  cache_write  bigint NOT NULL,
  stop         text NOT NULL,
  api_error    boolean NOT NULL,
  sidechain    boolean NOT NULL, -- a sub-agent's response in its parent's transcript
  copy_session bigint NOT NULL,
  copy_turn    bigint NOT NULL,
  copy_step    bigint NOT NULL,
  PRIMARY KEY (session, turn, step)
);
CREATE INDEX turns_copied ON turns (copy_session) WHERE copy_session <> 0;
CREATE INDEX steps_copied ON steps (copy_session) WHERE copy_session <> 0;

CREATE TABLE calls (
  session     bigint NOT NULL,
  turn        bigint NOT NULL,
  step        bigint NOT NULL,
  seq         bigint NOT NULL,
  tool_id     text NOT NULL,
  name        text NOT NULL,
  kind        text NOT NULL,
  command     text NOT NULL,
  files       text NOT NULL, -- JSON list, '' for none
  exit        bigint,
  failed      boolean NOT NULL,
  error       text NOT NULL,
  duration    bigint NOT NULL, -- nanoseconds
  line_use    bigint NOT NULL,
  line_result bigint NOT NULL, -- -1 if there is none yet
  PRIMARY KEY (session, turn, step, seq)
);

-- id is an index.ID: session, sequence, agent and kind in one number. terms is encoded by
-- index.Encoder.
CREATE TABLE passages (
  id        bigint PRIMARY KEY,
  session   bigint NOT NULL,
  turn      bigint NOT NULL,
  step      bigint NOT NULL,
  seq       bigint NOT NULL,
  kind      text NOT NULL,
  label     text NOT NULL,
  paths     text NOT NULL, -- JSON list, '' for none
  line_from bigint NOT NULL,
  line_to   bigint NOT NULL,
  time      bigint NOT NULL,
  partial   boolean NOT NULL,
  sum       bigint NOT NULL, -- see index.Checksum
  terms     text NOT NULL,
  text      text NOT NULL
);
CREATE UNIQUE INDEX passages_place ON passages (session, turn, step, seq);

-- The passages of a session with a term: the lower 30 bits of their IDs, four bytes each,
-- ascending, in one list for strong terms and one for others. Users who push at the same
-- time write different sessions, and so different rows.
CREATE TABLE postings (
  term    text COLLATE "C" NOT NULL,
  session bigint NOT NULL,
  strong  bytea NOT NULL,
  weak    bytea NOT NULL,
  PRIMARY KEY (term, session)
);
CREATE INDEX postings_session ON postings (session);

CREATE TABLE files (
  session bigint NOT NULL,
  turn    bigint NOT NULL,
  step    bigint NOT NULL,
  seq     bigint NOT NULL,
  path    text COLLATE "C" NOT NULL,
  kind    text NOT NULL,
  line    bigint NOT NULL,
  time    bigint NOT NULL,
  PRIMARY KEY (session, turn, step, seq, path)
);

CREATE TABLE tasks (
  session bigint NOT NULL,
  line    bigint NOT NULL,
  seq     bigint NOT NULL,
  task_id text NOT NULL,
  subject text NOT NULL,
  status  text NOT NULL,
  time    bigint NOT NULL,
  turn    bigint NOT NULL,
  step    bigint NOT NULL,
  PRIMARY KEY (session, line, seq)
);

CREATE TABLE compactions (
  session      bigint NOT NULL,
  idx          bigint NOT NULL,
  line         bigint NOT NULL,
  time         bigint NOT NULL,
  cause        text NOT NULL,
  pre_tokens   bigint NOT NULL,
  post_tokens  bigint NOT NULL,
  duration     bigint NOT NULL,
  summary_line bigint NOT NULL,
  kept         bigint NOT NULL,
  ours         boolean NOT NULL,
  turn         bigint NOT NULL,
  PRIMARY KEY (session, idx)
);

CREATE TABLE cursors (
  session    bigint PRIMARY KEY,
  generation bigint NOT NULL,
  position   bigint NOT NULL,
  line       bigint NOT NULL,
  state      bytea
);

CREATE TABLE identities (
  key     bigint PRIMARY KEY,
  session bigint NOT NULL,
  turn    bigint NOT NULL,
  step    bigint NOT NULL
);
CREATE INDEX identities_session ON identities (session);

-- Journal entries except summaries.
CREATE TABLE journal (
  id         text COLLATE "C" PRIMARY KEY,
  kind       text NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  time       bigint NOT NULL,
  data       text NOT NULL
);
CREATE INDEX journal_session ON journal (session_id, kind, time);

-- Summaries from hooks that no transcript holds yet.
CREATE TABLE hook_summaries (
  id         text COLLATE "C" PRIMARY KEY,
  session_id text COLLATE "C" NOT NULL,
  time       bigint NOT NULL,
  source     text NOT NULL,
  text       text NOT NULL
);
CREATE INDEX hook_summaries_session ON hook_summaries (session_id, time);

-- Each access to a place.
CREATE TABLE accesses (
  session_id text COLLATE "C" NOT NULL,
  turn       bigint NOT NULL,
  step       bigint NOT NULL,
  time       bigint NOT NULL,
  id         text COLLATE "C" NOT NULL, -- of the journal entry
  how        text NOT NULL,
  PRIMARY KEY (session_id, turn, step, time, id)
);

-- Merged project keys. The latest entry for a key is stored.
CREATE TABLE aliases (
  old    text COLLATE "C" PRIMARY KEY,
  target text COLLATE "C" NOT NULL,
  time   bigint NOT NULL,
  id     text COLLATE "C" NOT NULL
);

-- journal: the cursor of ApplyJournal.
CREATE TABLE meta (
  name  text PRIMARY KEY,
  value bytea NOT NULL
);

-- One row for each embedder and dimension with vectors.
CREATE TABLE embedders (
  no    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name  text NOT NULL,
  dim   bigint NOT NULL,
  held  bigint NOT NULL DEFAULT 0,
  last  bigint NOT NULL DEFAULT 0, -- vectors.no of the newest row, even if deleted
  gone  bigint NOT NULL DEFAULT 0,
  stamp bigint NOT NULL,           -- differs between sets created at different times
  UNIQUE (name, dim)
);

-- A passage's vectors as encoded by package vector. A passage that the embedder has no
-- vectors for has no row.
CREATE TABLE vectors (
  embedder bigint NOT NULL,
  no       bigint NOT NULL,
  passage  bigint NOT NULL,
  data     bytea NOT NULL,
  PRIMARY KEY (embedder, no)
);
CREATE INDEX vectors_passage ON vectors (passage, embedder);

-- The first sequence number (see index.ID) of a session that is not embedded yet.
CREATE TABLE embedded (
  embedder bigint NOT NULL,
  session  bigint NOT NULL,
  next     bigint NOT NULL,
  PRIMARY KEY (embedder, session)
);
