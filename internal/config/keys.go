package config

import (
	"strings"
	"time"
)

// rights limits the effect of a project's settings file on a key. The file comes with
// a cloned repository, so it is untrusted input.
type rights int

const (
	denied  rights = iota // nothing
	offOnly               // switch off
	allowed               // set any valid value
)

// key is one setting. A new one needs a line in keys and in notes.txt, and a field in Config.
type key struct {
	name    string
	value   string // default
	parse   parser
	project rights
	old     string // environment name of the system that Strandline replaces, "" for none
}

// clientCap is the most characters that the client accepts from one hook; it writes
// longer output to a file and shows the first 2 KB.
const clientCap = 10_000

// keys lists every setting of c in the order in which it is shown.
func keys(c *Config) []key {
	const maxKeep = 10 * 365 * 24 * time.Hour
	return []key{
		{"restore.budget", "9500", number(&c.Restore.Budget, 0, clientCap), allowed, "CLAUDE_FLOW_COMPACT_RESTORE_BUDGET"},
		{"restore.on_clear", "pointer", oneOf(&c.Restore.OnClear, ModePointer, ModeBlock, ModeOff), allowed, ""},
		{"restore.on_startup", "pointer", oneOf(&c.Restore.OnStartup, ModePointer, ModeBlock, ModeOff), allowed, ""},
		{"restore.learn", "names", learn(&c.Restore.Learn), allowed, ""},
		{"compaction.instruction_budget", "9500", number(&c.Compaction.InstructionBudget, 0, clientCap), allowed, "CLAUDE_FLOW_COMPACT_INSTRUCTION_BUDGET"},
		{"compaction.block_auto", "never", oneOf(&c.Compaction.BlockAuto, BlockNever, BlockHeadroom, BlockAlways), denied, ""},
		{"autopilot.enabled", "true", toggle(&c.Autopilot.Enabled), offOnly, "CLAUDE_FLOW_CONTEXT_AUTOPILOT"},
		{"autopilot.report", "change", oneOf(&c.Autopilot.Report, ReportChange, ReportAlways, ReportTools, ReportOff), allowed, ""},
		{"autopilot.warn", "0.7", fraction(&c.Autopilot.Warn), allowed, "CLAUDE_FLOW_AUTOPILOT_WARN"},
		{"autopilot.prune", "0.85", fraction(&c.Autopilot.Prune), allowed, "CLAUDE_FLOW_AUTOPILOT_PRUNE"},
		{"autopilot.window", "0", number(&c.Autopilot.Window, 0, 10_000_000), allowed, "CLAUDE_FLOW_CONTEXT_WINDOW"},
		{"autopilot.compact_early", "0", zeroOr(&c.Autopilot.CompactEarly, 0.5, 1, "0, or a number from %v to %v, such as 0.8"), allowed, ""},
		{"statusline.template", "default", template(&c.Statusline.Template), denied, ""},
		{"statusline.ascii", "false", toggle(&c.Statusline.ASCII), denied, ""},
		{"hook.deadline", "1s", duration(&c.Hook.Deadline, 50*time.Millisecond, 5*time.Second), denied, ""},
		{"hook.post_tool_interval", "10s", duration(&c.Hook.PostToolInterval, 0, time.Hour), denied, ""},
		{"capture.enabled", "true", toggle(&c.Capture.Enabled), offOnly, ""},
		{"redact.enabled", "true", toggle(&c.Redact.Enabled), denied, ""},
		{"retention.days", "30", number(&c.Retention.Days, 1, 36_500), denied, "CLAUDE_FLOW_RETENTION_DAYS"},
		{"retention.max_bytes", "0", bytes(&c.Retention.MaxBytes), denied, ""},
		{"retention.delete", "false", toggle(&c.Retention.Delete), denied, ""},
		{"lifecycle.auto", "true", toggle(&c.Lifecycle.Auto), denied, "CLAUDE_FLOW_AUTO_OPTIMIZE"},
		{"embed.model", "static", line(&c.Embed.Model), denied, ""},
		{"embed.url", "", line(&c.Embed.URL), denied, ""},
		{"embed.endpoint_model", "", line(&c.Embed.EndpointModel), denied, ""},
		{"embed.helper", "", line(&c.Embed.Helper), denied, ""},
		{"embed.library", "", line(&c.Embed.Library), denied, ""},
		{"embed.wait", "2s", duration(&c.Embed.Wait, 10*time.Millisecond, time.Minute), denied, ""},
		{"lifecycle.decay", "0.005", between(&c.Lifecycle.Decay, 0, 1, "a number from %v to %v, such as 0.005"), denied, ""},
		{"segments.disabled", "false", toggle(&c.Segments.Disabled), allowed, "DISABLE_AUTO_CONTEXT_MANAGER"},
		{"segments.force_check", "false", toggle(&c.Segments.ForceCheck), denied, "FORCE_COMPRESSION_CHECK"},
		{"segments.queue_at", "60", number(&c.Segments.QueueAt, 1, 100), allowed, ""},
		{"segments.summarise_at", "70", number(&c.Segments.SummariseAt, 1, 100), allowed, ""},
		{"segments.archive_at", "80", number(&c.Segments.ArchiveAt, 1, 100), allowed, ""},
		{"segments.every", "10", number(&c.Segments.Every, 1, 10_000), allowed, ""},
		{"segments.cold_after", "20", number(&c.Segments.ColdAfter, 0, 10_000), allowed, ""},
		{"segments.messages", "5", number(&c.Segments.Messages, 0, 10_000), allowed, ""},
		{"segments.archive_after", "50", number(&c.Segments.ArchiveAfter, 0, 10_000), allowed, ""},
		{"segments.keep", "720h", duration(&c.Segments.Keep, 0, maxKeep), allowed, ""},
		{"recall.unasked", "true", toggle(&c.Recall.Unasked), offOnly, ""},
		{"gateway.prune_at", "50000", number(&c.Gateway.PruneAt, 0, 10_000_000), denied, "CLAUDE_TEXT_PRUNE_THRESHOLD"},
		{"gateway.prune_keep", "4", number(&c.Gateway.PruneKeep, 0, 10_000), denied, "CLAUDE_TEXT_PRUNE_KEEP"},
		{"gateway.prune_chars", "80", number(&c.Gateway.PruneChars, 0, 100_000), denied, "CLAUDE_TEXT_PRUNE_MAX_CHARS"},
		{"gateway.prune_text", "false", toggle(&c.Gateway.PruneText), denied, ""},
		{"gateway.compact", "true", toggle(&c.Gateway.Compact), denied, ""},
		{"gateway.active", "false", toggle(&c.Gateway.Active), denied, ""},
		{"postgres.url", "", address(&c.Postgres.URL), denied, ""},
		{"postgres.host", "", line(&c.Postgres.Host), denied, "RUVECTOR_HOST"},
		{"postgres.port", "0", number(&c.Postgres.Port, 0, 65535), denied, "RUVECTOR_PORT"},
		{"postgres.database", "", line(&c.Postgres.Database), denied, "RUVECTOR_DATABASE"},
		{"postgres.user", "", line(&c.Postgres.User), denied, "RUVECTOR_USER"},
		{"postgres.ssl", "", sslMode(&c.Postgres.SSL), denied, "RUVECTOR_SSL"},
		{"postgres.schema", "strandline", line(&c.Postgres.Schema), denied, ""},
		{"postgres.author", "", line(&c.Postgres.Author), denied, ""},
		{"postgres.read", "false", toggle(&c.Postgres.Read), denied, ""},
		{"postgres.auto", "false", toggle(&c.Postgres.Auto), denied, ""},
		{"search.limit", "10", number(&c.Search.Limit, 1, 1000), allowed, ""},
		{"stats.prices", "", prices(&c.Stats.Prices), denied, ""},
	}
}

// envName returns the environment variable of a key.
func envName(name string) string {
	return "STRANDLINE_" + strings.ToUpper(strings.ReplaceAll(name, ".", "_"))
}
