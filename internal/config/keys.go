package config

import (
	"strings"
	"time"
)

// rights says what a project's settings file may do with a key. The file comes with
// a cloned repository, so it is untrusted input.
type rights int

const (
	denied  rights = iota // nothing
	offOnly               // switch off
	allowed               // set any valid value
)

// key is one setting. A new one needs a line in keys and a field in Config.
type key struct {
	name    string
	value   string // default
	parse   parser
	project rights
	note    string   // shown by `strandline config`
	old     []string // environment names of the systems that Strandline replaces
}

// clientCap is the most characters that the client accepts from one hook; it writes
// longer output to a file and shows the first 2 KB.
const clientCap = 10_000

// keys lists every setting of c in the order in which it is shown.
func keys(c *Config) []key {
	old := func(names ...string) []string { return names }
	const maxKeep = 10 * 365 * 24 * time.Hour
	return []key{
		{"restore.budget", "9500", number(&c.Restore.Budget, 0, clientCap), allowed,
			"characters of the context restored after a compaction; the older default of 4000 used less than half of the client's limit (10000)", old("CLAUDE_FLOW_COMPACT_RESTORE_BUDGET")},
		{"restore.on_clear", "pointer", oneOf(&c.Restore.OnClear, ModePointer, ModeBlock, ModeOff), allowed,
			"context restored after /clear: pointer (two lines), block (everything) or off", nil},
		{"restore.on_startup", "pointer", oneOf(&c.Restore.OnStartup, ModePointer, ModeBlock, ModeOff), allowed,
			"context restored in a new session: pointer (two lines), block (everything) or off", nil},
		{"restore.learn", "names", learn(&c.Restore.Learn), allowed,
			"rank restored context by earlier compactions: names (by the kinds of names that were needed afterwards) or off", nil},
		{"compaction.instruction_budget", "9500", number(&c.Compaction.InstructionBudget, 0, clientCap), allowed,
			"characters of the steering text for the client's summarizer; the older default of 2000 used a fifth of the client's limit (10000)", old("CLAUDE_FLOW_COMPACT_INSTRUCTION_BUDGET")},
		{"compaction.block_auto", "never", oneOf(&c.Compaction.BlockAuto, BlockNever, BlockHeadroom, BlockAlways), denied,
			"block automatic compactions: never, headroom (while the window has room) or always (until the session could not continue)", nil},
		{"autopilot.enabled", "true", toggle(&c.Autopilot.Enabled), offOnly,
			"track the usage of the context window", old("CLAUDE_FLOW_CONTEXT_AUTOPILOT")},
		{"autopilot.report", "change", oneOf(&c.Autopilot.Report, ReportChange, ReportAlways, ReportOff), allowed,
			"report the usage to the model: change (in a new zone, and at each further 5 % above the warning), always (at each prompt) or off", nil},
		{"autopilot.warn", "0.7", fraction(&c.Autopilot.Warn), allowed,
			"share of the window at which the warning zone begins", old("CLAUDE_FLOW_AUTOPILOT_WARN")},
		{"autopilot.prune", "0.85", fraction(&c.Autopilot.Prune), allowed,
			"share of the window at which the optimize zone begins, with advice to save tokens", old("CLAUDE_FLOW_AUTOPILOT_PRUNE")},
		{"autopilot.window", "0", number(&c.Autopilot.Window, 0, 10_000_000), allowed,
			"tokens of the context window, for unknown models and clients that do not report it; 0: estimated from usage", old("CLAUDE_FLOW_CONTEXT_WINDOW")},
		{"autopilot.compact_early", "0", zeroOr(&c.Autopilot.CompactEarly, 0.5, 1, "0, or a number from 0.5 to 1, such as 0.8"), allowed,
			"share of the window above which the compactor plugin compacts between two turns in a terminal; 0: never", nil},
		{"statusline.template", "default", template(&c.Statusline.Template), denied,
			"template of the statusline, with {percent} {tokens} {window} {bar} {trend} {turns} {zone} {cycles} {shield} {brain} {health} {model} {dot}", nil},
		{"statusline.ascii", "false", toggle(&c.Statusline.ASCII), denied,
			"use only ASCII characters in the statusline, whatever the locale", nil},
		{"hook.deadline", "1s", duration(&c.Hook.Deadline, 50*time.Millisecond, 5*time.Second), denied,
			"time limit of a hook; a background process does the rest", nil},
		{"hook.post_tool_interval", "10s", duration(&c.Hook.PostToolInterval, 0, time.Hour), denied,
			"least time between two captures during a tool loop", nil},
		{"capture.enabled", "true", toggle(&c.Capture.Enabled), offOnly, "capture sessions", nil},
		{"redact.enabled", "true", toggle(&c.Redact.Enabled), denied,
			"replace secrets by placeholders before text is indexed or leaves the archive", nil},
		{"retention.days", "30", number(&c.Retention.Days, 1, 36_500), denied,
			"days after which turns that were never restored leave the hot tier; logs and full text stay searchable", old("CLAUDE_FLOW_RETENTION_DAYS")},
		{"retention.max_bytes", "0", bytes(&c.Retention.MaxBytes), denied,
			"disk space of the archive, in bytes or with KB, MB, GB; above it the index drops duplicate text, oldest first (0: no limit)", nil},
		{"retention.delete", "false", toggle(&c.Retention.Delete), denied,
			"permanently delete sessions, with their logs, that exceed retention.days or retention.max_bytes and were never restored or recalled", nil},
		{"lifecycle.auto", "true", toggle(&c.Lifecycle.Auto), denied,
			"run maintenance after sessions and compactions, at most once an hour; `strandline maintain` runs it at any time", old("CLAUDE_FLOW_AUTO_OPTIMIZE")},
		{"embed.model", "static", line(&c.Embed.Model), denied,
			"embedding model besides the built-in one: static (none), http (the endpoint in embed.url) or a model of `strandline model list`", nil},
		{"embed.url", "", line(&c.Embed.URL), denied,
			"endpoint for embed.model = http, such as OpenAI's /v1/embeddings or Ollama's /api/embed; STRANDLINE_EMBED_KEY holds its key", nil},
		{"embed.endpoint_model", "", line(&c.Embed.EndpointModel), denied, "model name sent to the endpoint", nil},
		{"embed.helper", "", line(&c.Embed.Helper), denied,
			"program that runs added models; empty: strandline-onnx next to strandline or in PATH", nil},
		{"embed.library", "", line(&c.Embed.Library), denied,
			"ONNX Runtime library of the helper; empty: next to the helper, else the system's", nil},
		{"embed.wait", "2s", duration(&c.Embed.Wait, 10*time.Millisecond, time.Minute), denied,
			"time that a search waits for embed.model before it uses the built-in model", nil},
		{"lifecycle.decay", "0.005", between(&c.Lifecycle.Decay, 0, 1, "a number from 0 to 1, such as 0.005"), denied,
			"confidence that a turn loses per hour; from 1 to the minimum of 0.1 takes 180 hours by default", nil},
		{"segments.disabled", "false", toggle(&c.Segments.Disabled), allowed,
			"do not summarize finished work as the context fills", old("DISABLE_AUTO_CONTEXT_MANAGER")},
		{"segments.force_check", "false", toggle(&c.Segments.ForceCheck), denied,
			"look for finished work at every hook, and summarize it at any usage", old("FORCE_COMPRESSION_CHECK")},
		{"segments.queue_at", "60", number(&c.Segments.QueueAt, 1, 100), allowed,
			"percent of the context window from which finished work is queued", nil},
		{"segments.summarise_at", "70", number(&c.Segments.SummariseAt, 1, 100), allowed,
			"percent of the context window from which queued work is summarized", nil},
		{"segments.archive_at", "80", number(&c.Segments.ArchiveAt, 1, 100), allowed,
			"percent of the context window above which old summaries are archived", nil},
		{"segments.every", "10", number(&c.Segments.Every, 1, 10_000), allowed,
			"model responses between two checks for finished work", nil},
		{"segments.cold_after", "20", number(&c.Segments.ColdAfter, 0, 10_000), allowed,
			"model responses without a mention after which work counts as finished", nil},
		{"segments.messages", "5", number(&c.Segments.Messages, 0, 10_000), allowed, "least number of messages in a segment", nil},
		{"segments.archive_after", "50", number(&c.Segments.ArchiveAfter, 0, 10_000), allowed,
			"model responses after which a summary may be archived", nil},
		{"segments.keep", "720h", duration(&c.Segments.Keep, 0, maxKeep), allowed,
			"time for which an archived summary keeps its details; afterwards only its text is kept", nil},
		{"recall.unasked", "true", toggle(&c.Recall.Unasked), offOnly,
			"automatic recall: at a prompt that refers to earlier work, add a note about that work if it is not in the context", nil},
		{"gateway.prune_at", "80000", number(&c.Gateway.PruneAt, 0, 10_000_000), denied,
			"estimated tokens of a conversation above which the gateway replaces old tool results by handles (0: never); the older default of 20000 did so in a nearly empty window", old("CLAUDE_TEXT_PRUNE_THRESHOLD")},
		{"gateway.prune_keep", "4", number(&c.Gateway.PruneKeep, 0, 10_000), denied,
			"newest model responses whose tool results the gateway never replaces", old("CLAUDE_TEXT_PRUNE_KEEP")},
		{"gateway.prune_chars", "80", number(&c.Gateway.PruneChars, 0, 100_000), denied,
			"characters of a tool result that the gateway keeps when it replaces the rest", old("CLAUDE_TEXT_PRUNE_MAX_CHARS")},
		{"gateway.compact", "true", toggle(&c.Gateway.Compact), denied,
			"answer the client's requests for a summary in the gateway, with the output of `strandline compact` and no model call", nil},
		{"gateway.active", "false", toggle(&c.Gateway.Active), denied,
			"a gateway answers this client's compactions, so hooks do not steer them; `strandline run` sets it for the client that it starts", nil},
		{"postgres.url", "", address(&c.Postgres.URL), denied,
			"address of the team archive, postgres://USER@HOST/DATABASE, without a password (use PGPASSWORD or ~/.pgpass); overrides the parts below", nil},
		{"postgres.host", "", line(&c.Postgres.Host), denied,
			"server of the team archive, or the folder of its socket; unset parts come from PGHOST, PGUSER …", old("RUVECTOR_HOST")},
		{"postgres.port", "0", number(&c.Postgres.Port, 0, 65535), denied,
			"port of the server; 0: PGPORT, else 5432", old("RUVECTOR_PORT")},
		{"postgres.database", "", line(&c.Postgres.Database), denied,
			"database of the team archive; empty: PGDATABASE, else the user name", old("RUVECTOR_DATABASE")},
		{"postgres.user", "", line(&c.Postgres.User), denied,
			"user of the database; empty: PGUSER, else the user name", old("RUVECTOR_USER")},
		{"postgres.ssl", "", sslMode(&c.Postgres.SSL), denied,
			"disable, prefer, require, verify-ca or verify-full; true means require, false disable; empty: PGSSLMODE, else prefer", old("RUVECTOR_SSL")},
		{"postgres.schema", "strandline", line(&c.Postgres.Schema), denied, "schema of the team's tables", nil},
		{"postgres.author", "", line(&c.Postgres.Author), denied,
			"author of the pushed sessions, the same on all of a user's machines; empty: the user name", nil},
		{"postgres.read", "false", toggle(&c.Postgres.Read), denied,
			"search the team archive instead of the local one, as `strandline search --team` does", nil},
		{"postgres.auto", "false", toggle(&c.Postgres.Auto), denied,
			"push to the team archive in each maintenance run, never in a hook", nil},
		{"search.limit", "10", number(&c.Search.Limit, 1, 1000), allowed, "number of search results", nil},
	}
}

// envName returns the environment variable of a key.
func envName(name string) string {
	return "STRANDLINE_" + strings.ToUpper(strings.ReplaceAll(name, ".", "_"))
}
