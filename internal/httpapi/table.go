package httpapi

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf16"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/recall"
)

// table returns the routes.
func (s *Server) table() []route {
	a := &s.opts.Archive
	return []route{
		get(s, route{path: "/projects", id: "listProjects", summary: "List the projects of archived sessions"},
			func(ctx context.Context, _ *call) (page[app.Project], error) { return all(a.Projects(ctx)) }),
		get(s, route{path: "/sessions", id: "listSessions", summary: "List archived sessions, newest first", params: []param{
			projectParam, {name: "parent", kind: isHandle, desc: "only sub-agents and forks of this session"}, agentsParam, sinceParam,
			limitParam(defaultPage, 500), cursorParam,
		}}, s.sessions),
		get(s, route{path: "/running", id: "listRunning", summary: "List running sessions with their context-window usage"},
			func(ctx context.Context, _ *call) (page[app.Running], error) { return all(a.Running(ctx)) }),
		get(s, route{path: "/sessions/{session}", id: "getSession", summary: "Get a session's outline: its turns, and the client files stored with its transcript"},
			bySession(a.Outline)),
		get(s, route{path: "/sessions/{session}/turns", id: "listTurns", summary: "Get a session and a page of its turns with their actions",
			params: []param{
				{name: "from", kind: isNumber, least: -1, most: 1 << 30, desc: "index of the first turn; -1: the last turns"}, limitParam(turnsPage, 500),
			}},
			func(ctx context.Context, c *call) (app.TurnPage, error) {
				return a.Turns(ctx, c.PathValue("session"), c.number("from", 0), c.number("limit", turnsPage))
			}),
		get(s, route{path: "/sessions/{session}/curve", id: "getCurve", summary: "Get the course of a session's context in tokens, in at most 1,200 points"},
			bySession(a.Curve)),
		get(s, route{path: "/digests", id: "listDigests", summary: "Get what sessions did: a small token curve, changed lines, outcome",
			params: []param{{name: "session", kind: isHandle, many: true, required: true, desc: "a session; can be repeated"}}},
			func(ctx context.Context, c *call) (page[app.Digest], error) {
				list := c.query["session"]
				return all(a.Digests(ctx, list[:min(len(list), digestsMax)]))
			}),
		get(s, route{path: "/sessions/{session}/turns/{place}", id: "getPlace", summary: "Get the full text of a turn (12) or a step (12.3) with its tool calls"}, s.place),
		get(s, route{path: "/sessions/{session}/timeline", id: "getTimeline", summary: "Get a session's timeline: turns, tasks, segments, compactions, tokens"},
			bySession(a.Timeline)),
		get(s, route{path: "/sessions/{session}/tasks", id: "listTasks", summary: "List a session's tasks; a sub-agent's tasks are nested in the task it was given",
			params: []param{{name: "open", kind: isFlag, desc: "only unfinished tasks"}}},
			func(ctx context.Context, c *call) (page[app.TaskTree], error) {
				return all(a.Tasks(ctx, c.PathValue("session"), c.flag("open")))
			}),
		get(s, route{path: "/sessions/{session}/segments", id: "listSegments", summary: "List a session's segments with their summaries", params: []param{pendingParam}}, s.segments),
		get(s, route{path: "/sessions/{session}/files", id: "listSessionFiles", summary: "List the files that a session touched, most often changed first"},
			func(ctx context.Context, c *call) (page[app.File], error) {
				return all(a.SessionFiles(ctx, c.PathValue("session"), 0))
			}),
		get(s, route{path: "/sessions/{session}/compactions", id: "listSessionCompactions", summary: "List a session's compactions and their outcomes, newest first"},
			func(ctx context.Context, c *call) (page[app.Compaction], error) {
				return all(a.Compactions(ctx, app.CompactionsQuery{Session: c.PathValue("session")}))
			}),
		get(s, route{path: "/sessions/{session}/compactions/{index}", id: "getCompaction", summary: "Get what a compaction kept, restored and lost of what the session used afterwards"},
			func(ctx context.Context, c *call) (app.CompactionAccount, error) {
				index, err := c.pathNumber("index")
				if err != nil {
					return app.CompactionAccount{}, err
				}
				return a.Compaction(ctx, c.PathValue("session"), index)
			}),
		get(s, route{path: "/sessions/{session}/restore", id: "restore", summary: "Get the context that a compaction of the session would restore", params: []param{budgetParam, lineParam, roleParam}},
			func(ctx context.Context, c *call) (app.Context, error) { return a.Restore(ctx, c.context()) }),
		get(s, route{path: "/sessions/{session}/preserve", id: "preserve", summary: "Get the steering text for the client's summarizer", params: []param{budgetParam, lineParam}},
			func(ctx context.Context, c *call) (app.Context, error) { return a.Preserve(ctx, c.context()) }),
		get(s, route{path: "/sessions/{session}/stats", id: "getSessionStats", summary: "Get a session's turns, tokens and cost by day and model, and its tool calls",
			params: []param{sinceParam}}, s.stats),
		get(s, route{path: "/search", id: "search", summary: "Search prompts, replies, commands, edits and outputs", params: searchParams()}, s.search),
		get(s, route{path: "/segments", id: "listAllSegments", summary: "List the segments of all sessions", params: []param{pendingParam}}, s.segments),
		get(s, route{path: "/files", id: "listTouches", summary: "List the history of a file, oldest first", params: []param{
			{name: "path", required: true, desc: "the file's path, or its end after a slash, such as pay/retry.go"},
			projectParam, sessionParam, sinceParam, {name: "reads", kind: isFlag, desc: "include reads and searches"}, limitParam(defaultPage, 1000),
		}}, s.files),
		get(s, route{path: "/compactions", id: "listCompactions", summary: "List the newest compactions with their measured outcomes",
			params: []param{limitParam(compactionsDefault, compactionsMax)}},
			func(ctx context.Context, c *call) (page[app.Compaction], error) {
				return all(a.Compactions(ctx, app.CompactionsQuery{Scope: app.Scope{All: true}, Limit: c.number("limit", compactionsDefault)}))
			}),
		get(s, route{path: "/stats", id: "getStats", summary: "Get turns, tokens and cost by day, model and project, and tool calls with their failures",
			params: []param{projectParam, sinceParam}}, s.stats),
		get(s, route{path: "/status", id: "getStatus", summary: "Get the archive's contents, size and problems"},
			func(ctx context.Context, _ *call) (app.Status, error) { return a.Status(ctx) }),
		get(s, route{path: "/health", id: "getHealth", summary: "Check that the server responds"},
			func(context.Context, *call) (health, error) { return health{"ok", s.opts.Version}, nil }),
		get(s, route{path: "/openapi.json", id: "getDocument", summary: "Get this document"},
			func(context.Context, *call) (json.RawMessage, error) {
				return bytes.Replace(openAPI, []byte(`"version": "1"`), fmt.Appendf(nil, `"version": %q`, s.opts.Version), 1), nil
			}),
		{
			method: http.MethodGet, path: "/sessions/{session}/transcript", id: "exportTranscript", media: "application/x-ndjson", serve: s.export,
			summary: "Export a transcript's exact bytes, secrets included, with Range and If-Range; requires a server started with --exact",
			params:  []param{{name: "generation", kind: isNumber, least: 0, most: 1 << 20, desc: "an earlier generation of a rewritten transcript; 0 is the latest"}},
		},
		{
			method: http.MethodGet, path: "/sessions/{session}/images/{line}/{index}", id: "getImage", media: "image/*", serve: s.image,
			summary: "Get a picture of a transcript's line, counted from 0; pictures are not redacted",
		},
		{
			method: http.MethodGet, path: "/events", id: "streamEvents", media: "text/event-stream", serve: s.events, params: []param{sessionParam},
			summary: "Stream server-sent events: `turns` for each session that has grown, with the session as in the list of sessions",
		},
		post(s, route{path: "/snapshots", id: "saveSnapshot", summary: "Save a snapshot of a session's work: tasks, agents, messages, actions"}, a.SaveSnapshot),
		get(s, route{path: "/snapshots", id: "listSnapshots", summary: "List snapshots, newest first", params: []param{snapshotParam, limitParam(defaultPage, 500), cursorParam}},
			func(ctx context.Context, c *call) (page[app.SnapshotLine], error) {
				list, err := a.Snapshots(ctx, c.query.Get("session"))
				return paged(list, c), err
			}),
		get(s, route{path: "/snapshots/{snapshot}", id: "getSnapshot", summary: "Get a snapshot", params: []param{snapshotParam}},
			func(ctx context.Context, c *call) (app.Snapshot, error) { return a.Snapshot(ctx, c.snapshot()) }),
		get(s, route{path: "/snapshots/{snapshot}/brief", id: "getSnapshotBrief", summary: "Get what an agent of a role needs from a snapshot, fenced as data",
			params: []param{snapshotParam, roleParam, {name: "budget", kind: isNumber, least: 500, most: maxBudget, desc: "maximal number of characters (default 8000)"}}},
			func(ctx context.Context, c *call) (app.SnapshotBrief, error) {
				return a.SnapshotBrief(ctx, c.snapshot(), c.query.Get("role"), c.number("budget", 0))
			}),
	}
}

// openAPI is the OpenAPI document of the routes. A test generates it.
//
//go:embed openapi.json
var openAPI []byte

// health is the response of /health.
type health struct {
	Status  string `json:"status"`
	Version string `json:"version"`
}

// Measuring a compaction for the first time takes some 10 ms, so few are listed.
const compactionsDefault, compactionsMax = 20, 200

// turnsPage is the default number of turns in a page, digestsMax the maximal
// number of sessions in a request.
const turnsPage, digestsMax = 200, 100

// maxBudget is the largest text of a compaction, in characters.
const maxBudget = 400_000

// Parameters of several routes.
var (
	projectParam  = param{name: "project", desc: "only this project: its name, or a part of its folder's path"}
	sessionParam  = param{name: "session", kind: isHandle, desc: "only this session"}
	sinceParam    = param{name: "since", kind: isTime, desc: "only newer than this: an age such as 7d or 12h, a date, or an RFC 3339 time"}
	cursorParam   = param{name: "cursor", kind: isCursor, desc: "next of the previous page"}
	agentsParam   = param{name: "agents", kind: isFlag, desc: "include sub-agent runs"}
	pendingParam  = param{name: "pending", kind: isFlag, desc: "only segments without a summary"}
	snapshotParam = param{name: "session", kind: isHandle, desc: "of this session; latest is then its newest snapshot"}
	budgetParam   = param{name: "budget", kind: isNumber, most: maxBudget, desc: "maximal number of characters (default: from the settings)"}
	lineParam     = param{name: "at_line", kind: isNumber, most: 1 << 30, desc: "as if the session had ended before this line of its transcript"}
	roleParam     = param{name: "role", oneOf: []string{"orchestrator", "developer", "specialist", "validator", "auto"},
		desc: "the role to select for; auto derives it from the agent's type"}
)

func limitParam(normal, most int) param {
	return param{name: "limit", kind: isNumber, least: 1, most: most, normal: normal, desc: "maximal number of entries"}
}

// scope is the named project, or all.
func (c *call) scope() app.Scope { return app.Scope{All: true, Name: c.query.Get("project")} }

// context returns the parameters of restore and preserve.
func (c *call) context() app.ContextQuery {
	q := app.ContextQuery{Session: c.PathValue("session"), Role: c.query.Get("role"), AtLine: c.number("at_line", 0)}
	if n := c.number("budget", 0); n > 0 {
		q.Budget = &n
	}
	return q
}

func (c *call) snapshot() app.SnapshotQuery {
	return app.SnapshotQuery{ID: c.PathValue("snapshot"), Session: c.query.Get("session")}
}

func (s *Server) segments(ctx context.Context, c *call) (page[app.Segment], error) {
	session := c.PathValue("session")
	return all(s.opts.Archive.Segments(ctx, app.SegmentsQuery{Session: session, All: session == "", Pending: c.flag("pending")}))
}

// bySession returns a handler that calls do with the session in the path, or "".
func bySession[T any](do func(ctx context.Context, session string) (T, error)) func(context.Context, *call) (T, error) {
	return func(ctx context.Context, c *call) (T, error) { return do(ctx, c.PathValue("session")) }
}

func (s *Server) sessions(ctx context.Context, c *call) (page[app.Session], error) {
	since, err := c.since()
	if err != nil {
		return page[app.Session]{}, err
	}
	list, err := s.opts.Archive.Sessions(ctx, app.SessionsQuery{Scope: c.scope(), Parent: c.query.Get("parent"), Agents: c.flag("agents"), Since: since})
	return paged(list, c), err
}

func (s *Server) stats(ctx context.Context, c *call) (app.Stats, error) {
	since, err := c.since()
	if err != nil {
		return app.Stats{}, err
	}
	return s.opts.Archive.Stats(ctx, app.StatsQuery{Scope: c.scope(), Session: c.PathValue("session"), Since: since})
}

func (s *Server) place(ctx context.Context, c *call) (app.Place, error) {
	at, err := archive.ParseHandle(c.PathValue("session") + "/" + c.PathValue("place"))
	if err != nil {
		return app.Place{}, err
	}
	return s.opts.Archive.Place(ctx, at)
}

// image sends a picture.
func (s *Server) image(w http.ResponseWriter, c *call) error {
	line, err := c.pathNumber("line")
	if err != nil {
		return err
	}
	index, err := c.pathNumber("index")
	if err != nil {
		return err
	}
	release, err := s.acquireReader(c.Context())
	if err != nil {
		return err
	}
	defer release()
	image, err := s.opts.Archive.Image(c.Context(), c.PathValue("session"), line, index)
	if err != nil {
		return err
	}
	if len(image.Data) == 0 {
		return archive.NotFound("this kind of picture is not shown", "`strandline export` writes the transcript")
	}
	w.Header().Set("Content-Type", image.Media)
	_, _ = w.Write(image.Data) // the client may have disconnected
	return nil
}

func (s *Server) files(ctx context.Context, c *call) (app.FileHistory, error) {
	since, err := c.since()
	if err != nil {
		return app.FileHistory{}, err
	}
	return s.opts.Archive.FileHistory(ctx, app.FilesQuery{
		Path: c.query.Get("path"), Scope: c.scope(), Session: c.query.Get("session"), Since: since, Reads: c.flag("reads"), Limit: c.number("limit", defaultPage),
	})
}

const (
	searchHits   = 20
	searchMax    = 100
	searchDepth  = 500 // hits that all pages together hold
	snippetWidth = 110 // characters of a row
	snippetRows  = 3
)

func searchParams() []param {
	var kinds []string
	for _, k := range archive.QueryKinds() {
		kinds = append(kinds, string(k))
	}
	return []param{
		{name: "q", required: true, desc: `words, "phrases", prefixes*, and filters such as file: kind: since: project: session:`},
		projectParam, sessionParam, sinceParam,
		{name: "until", kind: isTime, desc: "only older than this; a day or a month is included whole"},
		{name: "branch", desc: "only sessions on this git branch: its name, or a part of it"},
		{name: "failed", kind: isFlag, desc: "only calls that failed"},
		{name: "kind", many: true, oneOf: kinds, desc: "only these kinds of passages"},
		agentsParam,
		{name: "rewound", kind: isFlag, desc: "include rewound turns"},
		{name: "deep", kind: isFlag, desc: "also scan the logs for text that is not indexed in full"},
		{name: "explain", kind: isFlag, desc: "explain each hit's score"},
		limitParam(searchHits, searchMax), cursorParam,
	}
}

// hit is a hit with a snippet of some lines.
type hit struct {
	recall.Hit
	Snippet string `json:"snippet"`
	// Marks are the matching ranges of the snippet, in UTF-16 units.
	Marks [][2]int `json:"marks"`
}

// searchAnswer has the fields of `search --json` and the cursor of the next page.
type searchAnswer struct {
	recall.Result
	Hits []hit  `json:"hits"`
	Next string `json:"next,omitempty"`
}

func (s *Server) search(ctx context.Context, c *call) (searchAnswer, error) {
	since, err := c.since()
	if err != nil {
		return searchAnswer{}, err
	}
	until, err := recall.Until(c.query.Get("until"), c.now())
	if err != nil {
		return searchAnswer{}, err
	}
	from, limit := c.offset(), c.number("limit", searchHits)
	q := app.SearchQuery{
		Text: c.query.Get("q"), Scope: c.scope(), Session: c.query.Get("session"), Since: since, Until: until,
		Branch: c.query.Get("branch"), Failed: c.flag("failed"),
		Agents: c.flag("agents"), Rewound: c.flag("rewound"), Deep: c.flag("deep"), Explain: c.flag("explain"),
		Limit: min(from+limit+1, searchDepth),
	}
	for _, k := range c.query["kind"] {
		q.Kinds = append(q.Kinds, archive.PassageKind(k))
	}
	found, err := s.opts.Archive.Search(ctx, q)
	if err != nil {
		return searchAnswer{}, err
	}
	hits := found.Hits[min(from, len(found.Hits)):]
	out := searchAnswer{Hits: make([]hit, 0, min(limit, len(hits)))}
	if len(hits) > limit {
		hits, out.Next = hits[:limit], cursorAt(from+limit)
	}
	for _, h := range hits {
		h.Text = s.opts.Redact(h.Text) // before it is shortened
		text := excerpt(h, found.Marks)
		out.Hits = append(out.Hits, hit{Hit: h, Snippet: text, Marks: utf16Ranges(text, found.Marks(text))})
	}
	found.Hits = nil
	out.Result = found
	return out, nil
}

// excerpt returns the lines of a hit with most matches of the query.
func excerpt(h recall.Hit, marksIn func(string) []recall.Mark) string {
	if h.Kind == archive.KindEdit && !h.Deep {
		head, rest, _ := strings.Cut(h.Text, "\n")
		return head + "\n" + strings.Join(recall.Excerpt(recall.Signed(rest), marksIn, len("+ "), snippetWidth, snippetRows), "\n")
	}
	return strings.Join(recall.Excerpt(h.Text, marksIn, 0, snippetWidth, snippetRows), "\n")
}

// utf16Ranges converts byte ranges to UTF-16 units, which JavaScript counts in.
func utf16Ranges(text string, marks []recall.Mark) [][2]int {
	out := make([][2]int, 0, len(marks))
	at, n := 0, 0
	count := func(to int) int {
		for _, r := range text[at:to] {
			n += utf16.RuneLen(r)
		}
		at = to
		return n
	}
	for _, m := range marks {
		from := count(m.From)
		out = append(out, [2]int{from, count(m.To)})
	}
	return out
}
