package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// rights say what a project's settings file may do with a key. It comes with a
// cloned repository, so it is input that nobody vouches for.
type rights int

const (
	denied  rights = iota // nothing
	offOnly               // switch off
	allowed               // set any valid value
)

// key is one setting. A new one takes a line in keys and a field in Config.
type key struct {
	name    string
	value   string   // default
	old     []string // environment names of the systems this replaces
	project rights
	note    string // what it does, and why ours differs where it does
	parse   parser
}

// parser stores a value and returns how it is shown. Its error says what is
// allowed.
type parser func(c *Config, value string) (string, error)

// keys lists every setting in the order in which it is shown.
func keys() []key {
	return []key{
		{"restore.budget", "9500", []string{"CLAUDE_FLOW_COMPACT_RESTORE_BUDGET"}, allowed,
			"characters of the block restored after a compaction; the older default of 4000 used less than half of what the client takes (10000)",
			number(func(c *Config) *int { return &c.Restore.Budget }, 0, clientCap)},
		{"restore.on_clear", "pointer", nil, allowed,
			"what /clear restores: pointer, block or off; a cleared context was meant to be clear",
			mode(func(c *Config) *Mode { return &c.Restore.OnClear })},
		{"restore.on_startup", "pointer", nil, allowed,
			"what a new session restores: pointer, block or off",
			mode(func(c *Config) *Mode { return &c.Restore.OnStartup })},
		{"restore.learn", "names", nil, allowed,
			"what a restored block learns from: names (which kinds of names were needed after earlier compactions) or off",
			learn(func(c *Config) *Learn { return &c.Restore.Learn })},
		{"compaction.instruction_budget", "9500", []string{"CLAUDE_FLOW_COMPACT_INSTRUCTION_BUDGET"}, allowed,
			"characters that steer the client's summary; the older default of 2000 used a fifth of what the client takes (10000)",
			number(func(c *Config) *int { return &c.Compaction.InstructionBudget }, 0, clientCap)},
		{"compaction.block_auto", "never", nil, denied,
			"automatic compactions that are blocked: never, headroom (while there is room for more) or always (until the session would be stuck)",
			block(func(c *Config) *Block { return &c.Compaction.BlockAuto })},
		{"autopilot.enabled", "true", []string{"CLAUDE_FLOW_CONTEXT_AUTOPILOT"}, offOnly,
			"watch how full the context window is",
			toggle(func(c *Config) *bool { return &c.Autopilot.Enabled })},
		{"autopilot.report", "change", nil, allowed,
			"when the model is told how full its window is: change (at a new zone, and each further 5 % above the warning), always (each prompt) or off",
			report(func(c *Config) *Report { return &c.Autopilot.Report })},
		{"autopilot.warn", "0.7", []string{"CLAUDE_FLOW_AUTOPILOT_WARN"}, allowed,
			"part of the window at which the warning begins",
			fraction(func(c *Config) *float64 { return &c.Autopilot.Warn })},
		{"autopilot.prune", "0.85", []string{"CLAUDE_FLOW_AUTOPILOT_PRUNE"}, allowed,
			"part of the window above which it should be used sparingly",
			fraction(func(c *Config) *float64 { return &c.Autopilot.Prune })},
		{"autopilot.window", "0", []string{"CLAUDE_FLOW_CONTEXT_WINDOW"}, allowed,
			"tokens of the context window, for models that are not known and clients that do not tell; 0: what was seen",
			number(func(c *Config) *int { return &c.Autopilot.Window }, 0, 10_000_000)},
		{"autopilot.compact_early", "0", nil, allowed,
			"part of the window above which the compactor plugin compacts between two turns in a terminal; 0: never",
			share(func(c *Config) *float64 { return &c.Autopilot.CompactEarly })},
		{"statusline.template", "default", nil, denied,
			"form of the statusline; {percent} {tokens} {window} {bar} {trend} {turns} {zone} {cycles} {shield} {brain} {health} {model} {dot} stand for values",
			template(func(c *Config) *string { return &c.Statusline.Template })},
		{"statusline.ascii", "false", nil, denied,
			"plain characters in the statusline even where the locale takes others",
			toggle(func(c *Config) *bool { return &c.Statusline.ASCII })},
		{"hook.deadline", "1s", nil, denied,
			"a hook stops working after this long; the rest is done behind it",
			duration(func(c *Config) *time.Duration { return &c.Hook.Deadline }, 50*time.Millisecond, 5*time.Second)},
		{"hook.post_tool_interval", "10s", nil, denied,
			"captures during a tool loop are at least this far apart",
			duration(func(c *Config) *time.Duration { return &c.Hook.PostToolInterval }, 0, time.Hour)},
		{"capture.enabled", "true", nil, offOnly,
			"record sessions",
			toggle(func(c *Config) *bool { return &c.Capture.Enabled })},
		{"redact.enabled", "true", nil, denied,
			"replace secrets before anything is indexed or given out",
			toggle(func(c *Config) *bool { return &c.Redact.Enabled })},
		{"retention.days", "30", []string{"CLAUDE_FLOW_RETENTION_DAYS"}, denied,
			"days after which what was never given back leaves the hot set; logs and full text stay, every search still finds it",
			number(func(c *Config) *int { return &c.Retention.Days }, 1, 36_500)},
		{"retention.max_bytes", "0", nil, denied,
			"disk that the archive may take, in bytes or with KB, MB, GB; above it the index gives up duplicate text, oldest first (0: no limit)",
			bytes(func(c *Config) *int64 { return &c.Retention.MaxBytes })},
		{"retention.delete", "false", nil, denied,
			"delete sessions for good, logs and all, that are older than retention.days or in the way of retention.max_bytes and of which nothing was ever given back to the model",
			toggle(func(c *Config) *bool { return &c.Retention.Delete })},
		{"lifecycle.auto", "true", []string{"CLAUDE_FLOW_AUTO_OPTIMIZE"}, denied,
			"do a pass of upkeep after sessions and compactions, at most once an hour; `strandline maintain` does one in any case",
			toggle(func(c *Config) *bool { return &c.Lifecycle.Auto })},
		{"embed.model", "static", nil, denied,
			"what makes vectors beside the built-in table: static (nothing), http (the endpoint in embed.url) or a model of `strandline model list`",
			words(func(c *Config) *string { return &c.Embed.Model })},
		{"embed.url", "", nil, denied,
			"endpoint of embed.model = http, as OpenAI's /v1/embeddings or Ollama's /api/embed; its key, if any, stands in STRANDLINE_EMBED_KEY",
			words(func(c *Config) *string { return &c.Embed.URL })},
		{"embed.endpoint_model", "", nil, denied,
			"model that the endpoint is asked for",
			words(func(c *Config) *string { return &c.Embed.EndpointModel })},
		{"embed.helper", "", nil, denied,
			"program that runs added models; empty: strandline-onnx beside strandline or in PATH",
			words(func(c *Config) *string { return &c.Embed.Helper })},
		{"embed.library", "", nil, denied,
			"ONNX Runtime library of the helper; empty: beside the helper, else the system's",
			words(func(c *Config) *string { return &c.Embed.Library })},
		{"embed.wait", "2s", nil, denied,
			"how long a search waits for embed.model before it does with the built-in table",
			duration(func(c *Config) *time.Duration { return &c.Embed.Wait }, 10*time.Millisecond, time.Minute)},
		{"lifecycle.decay", "0.005", nil, denied,
			"confidence that a place loses in an hour; from 1 it is 180 hours to the floor of 0.1",
			hourly(func(c *Config) *float64 { return &c.Lifecycle.Decay })},
		{"segments.disabled", "false", []string{"DISABLE_AUTO_CONTEXT_MANAGER"}, allowed,
			"do not summarise finished work as the context fills",
			toggle(func(c *Config) *bool { return &c.Segments.Disabled })},
		{"segments.force_check", "false", []string{"FORCE_COMPRESSION_CHECK"}, denied,
			"look for finished work at every hook, and summarise it however full the context is",
			toggle(func(c *Config) *bool { return &c.Segments.ForceCheck })},
		{"segments.queue_at", "60", nil, allowed,
			"percent of the context window from which on finished work is queued",
			number(func(c *Config) *int { return &c.Segments.QueueAt }, 1, 100)},
		{"segments.summarise_at", "70", nil, allowed,
			"percent of the context window from which on it is summarised",
			number(func(c *Config) *int { return &c.Segments.SummariseAt }, 1, 100)},
		{"segments.archive_at", "80", nil, allowed,
			"percent of the context window above which old summaries are archived",
			number(func(c *Config) *int { return &c.Segments.ArchiveAt }, 1, 100)},
		{"segments.every", "10", nil, allowed,
			"responses of the model between two looks",
			number(func(c *Config) *int { return &c.Segments.Every }, 1, 10_000)},
		{"segments.cold_after", "20", nil, allowed,
			"responses of the model for which work must be finished, and not spoken of",
			number(func(c *Config) *int { return &c.Segments.ColdAfter }, 0, 10_000)},
		{"segments.messages", "5", nil, allowed,
			"messages that a piece of work has at least",
			number(func(c *Config) *int { return &c.Segments.Messages }, 0, 10_000)},
		{"segments.archive_after", "50", nil, allowed,
			"responses of the model after which a summary may be archived",
			number(func(c *Config) *int { return &c.Segments.ArchiveAfter }, 0, 10_000)},
		{"segments.keep", "720h", nil, allowed,
			"how long an archived summary keeps more than its text",
			duration(func(c *Config) *time.Duration { return &c.Segments.Keep }, 0, 10*365*24*time.Hour)},
		{"recall.unasked", "true", nil, offOnly,
			"remind the model, at a prompt that names it, of earlier work that is no longer in its context",
			toggle(func(c *Config) *bool { return &c.Recall.Unasked })},
		{"gateway.prune_at", "80000", []string{"CLAUDE_TEXT_PRUNE_THRESHOLD"}, denied,
			"estimated tokens of a conversation above which the gateway leaves out old results of tools that the archive gives back (0: never); the older default of 20000 gave them up in a nearly empty window",
			number(func(c *Config) *int { return &c.Gateway.PruneAt }, 0, 10_000_000)},
		{"gateway.prune_keep", "4", []string{"CLAUDE_TEXT_PRUNE_KEEP"}, denied,
			"newest responses of the model whose results the gateway never leaves out",
			number(func(c *Config) *int { return &c.Gateway.PruneKeep }, 0, 10_000)},
		{"gateway.prune_chars", "80", []string{"CLAUDE_TEXT_PRUNE_MAX_CHARS"}, denied,
			"characters of a result that stay where the gateway leaves it out",
			number(func(c *Config) *int { return &c.Gateway.PruneChars }, 0, 100_000)},
		{"gateway.compact", "true", nil, denied,
			"answer the client's requests for a summary in the gateway, with what `strandline compact` makes, instead of a model's",
			toggle(func(c *Config) *bool { return &c.Gateway.Compact })},
		{"gateway.active", "false", nil, denied,
			"this client's compactions are answered by a gateway, so that hooks do not steer them; `strandline run` sets it for the client that it starts",
			toggle(func(c *Config) *bool { return &c.Gateway.Active })},
		{"postgres.url", "", nil, denied,
			"address of the team's archive, postgres://USER@HOST/DATABASE; without a password, which PGPASSWORD or ~/.pgpass give; wins over the parts below",
			address(func(c *Config) *string { return &c.Postgres.URL })},
		{"postgres.host", "", []string{"RUVECTOR_HOST"}, denied,
			"server of the team's archive, or the folder of its socket; what is not set here comes from PGHOST, PGUSER …",
			words(func(c *Config) *string { return &c.Postgres.Host })},
		{"postgres.port", "0", []string{"RUVECTOR_PORT"}, denied,
			"its port; 0: PGPORT, else 5432",
			number(func(c *Config) *int { return &c.Postgres.Port }, 0, 65535)},
		{"postgres.database", "", []string{"RUVECTOR_DATABASE"}, denied,
			"its database; empty: PGDATABASE, else the user's name",
			words(func(c *Config) *string { return &c.Postgres.Database })},
		{"postgres.user", "", []string{"RUVECTOR_USER"}, denied,
			"user there; empty: PGUSER, else the user's name",
			words(func(c *Config) *string { return &c.Postgres.User })},
		{"postgres.ssl", "", []string{"RUVECTOR_SSL"}, denied,
			"disable, prefer, require, verify-ca or verify-full; true is require, false disable; empty: PGSSLMODE, else prefer",
			sslMode(func(c *Config) *string { return &c.Postgres.SSL })},
		{"postgres.schema", "strandline", nil, denied,
			"schema that the team's tables are in",
			words(func(c *Config) *string { return &c.Postgres.Schema })},
		{"postgres.author", "", nil, denied,
			"name under which sessions are brought to the team, the same on all of one's machines; empty: the user's name",
			words(func(c *Config) *string { return &c.Postgres.Author })},
		{"postgres.read", "false", nil, denied,
			"search the team's archive instead of one's own, as `strandline search --team` does",
			toggle(func(c *Config) *bool { return &c.Postgres.Read })},
		{"postgres.auto", "false", nil, denied,
			"push to the team's archive in each pass of upkeep; never in a hook",
			toggle(func(c *Config) *bool { return &c.Postgres.Auto })},
		{"search.limit", "10", nil, allowed,
			"hits that a search gives",
			number(func(c *Config) *int { return &c.Search.Limit }, 1, 1000)},
	}
}

// clientCap is the most characters that the client takes from one hook; what
// is longer it puts into a file and shows the first 2 KB of.
const clientCap = 10_000

// envName returns the environment variable of a key.
func envName(name string) string {
	return "STRANDLINE_" + strings.ToUpper(strings.ReplaceAll(name, ".", "_"))
}

func number(field func(*Config) *int, low, high int) parser {
	return func(c *Config, value string) (string, error) {
		n, err := strconv.Atoi(value)
		if err != nil || n < low || n > high {
			return "", fmt.Errorf("a whole number from %d to %d", low, high)
		}
		*field(c) = n
		return strconv.Itoa(n), nil
	}
}

func duration(field func(*Config) *time.Duration, low, high time.Duration) parser {
	return func(c *Config, value string) (string, error) {
		d, err := time.ParseDuration(value)
		if err != nil || d < low || d > high {
			return "", fmt.Errorf("a duration from %v to %v, such as 1s or 500ms", low, high)
		}
		*field(c) = d
		return d.String(), nil
	}
}

// between takes a number from low to high; want says which ones, with an example.
func between(field func(*Config) *float64, low, high float64, want string) parser {
	return func(c *Config, value string) (string, error) {
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || !(f >= low && f <= high) {
			return "", errors.New(want)
		}
		*field(c) = f
		return strconv.FormatFloat(f, 'g', -1, 64), nil
	}
}

func fraction(field func(*Config) *float64) parser {
	return between(field, 0.05, 1, "a part from 0.05 to 1, such as 0.7")
}

// template takes one line; "default" stands for none of one's own.
func template(field func(*Config) *string) parser {
	return func(c *Config, value string) (string, error) {
		if len(value) > 1000 || strings.ContainsAny(value, "\r\n\x00") {
			return "", fmt.Errorf("one line of at most 1000 bytes, or default")
		}
		*field(c) = value
		if value == "default" {
			*field(c) = ""
		}
		return value, nil
	}
}

// share is a fraction from a half on, or 0 for none.
func share(field func(*Config) *float64) parser {
	const want = "0, or a part from 0.5 to 1, such as 0.8"
	most := between(field, 0.5, 1, want)
	return func(c *Config, value string) (string, error) {
		if f, err := strconv.ParseFloat(value, 64); err == nil && f == 0 {
			*field(c) = 0
			return "0", nil
		}
		return most(c, value)
	}
}

func learn(field func(*Config) *Learn) parser {
	return func(c *Config, value string) (string, error) {
		l := Learn(strings.ToLower(value))
		if l == "confidence" { // a rule of earlier versions that had no effect
			l = LearnOff
		}
		if l != LearnNames && l != LearnOff {
			return "", fmt.Errorf("names or off")
		}
		*field(c) = l
		return string(l), nil
	}
}

func report(field func(*Config) *Report) parser {
	return func(c *Config, value string) (string, error) {
		r := Report(strings.ToLower(value))
		if r != ReportChange && r != ReportAlways && r != ReportOff {
			return "", fmt.Errorf("change, always or off")
		}
		*field(c) = r
		return string(r), nil
	}
}

// hourly takes what a share loses in an hour, from nothing to all.
func hourly(field func(*Config) *float64) parser {
	return between(field, 0, 1, "a number from 0 to 1, such as 0.005")
}

// bytes takes a size in bytes, or in thousands, millions or billions of them.
func bytes(field func(*Config) *int64) parser {
	units := []struct {
		name string
		size float64
	}{{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1}}
	return func(c *Config, value string) (string, error) {
		for _, u := range units {
			text, ok := strings.CutSuffix(strings.ToUpper(strings.TrimSpace(value)), u.name)
			if !ok {
				continue
			}
			n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil || !(n >= 0 && n*u.size <= 1e15) {
				break
			}
			*field(c) = int64(n * u.size)
			return strconv.FormatInt(*field(c), 10), nil
		}
		return "", fmt.Errorf("a number of bytes, such as 500MB or 2GB")
	}
}

func words(field func(*Config) *string) parser {
	return func(c *Config, value string) (string, error) {
		if len(value) > maxWords || strings.ContainsFunc(value, unicode.IsControl) {
			return "", fmt.Errorf("at most %d characters in one line", maxWords)
		}
		*field(c) = value
		return value, nil
	}
}

// maxWords is the longest free text of a setting in bytes.
const maxWords = 1000

// address takes the address of a database. A password in it would be shown with the
// settings.
func address(field func(*Config) *string) parser {
	line := words(field)
	return func(c *Config, value string) (string, error) {
		_, behind, url := strings.Cut(value, "://")
		user, _, _ := strings.Cut(behind, "/")
		user, _, named := strings.Cut(user, "@")
		if strings.Contains(value, "password=") || url && named && strings.Contains(user, ":") {
			return "", errors.New("an address without a password, which PGPASSWORD or ~/.pgpass give")
		}
		return line(c, value)
	}
}

// sslMode takes the modes of PostgreSQL, and yes or no as older systems did.
func sslMode(field func(*Config) *string) parser {
	return func(c *Config, value string) (string, error) {
		v := strings.ToLower(value)
		switch v {
		case "true", "1", "on", "yes":
			v = "require"
		case "false", "0", "off", "no":
			v = "disable"
		case "", "disable", "allow", "prefer", "require", "verify-ca", "verify-full":
		default:
			return "", fmt.Errorf("disable, prefer, require, verify-ca or verify-full")
		}
		*field(c) = v
		return v, nil
	}
}

func toggle(field func(*Config) *bool) parser {
	return func(c *Config, value string) (string, error) {
		switch strings.ToLower(value) {
		case "true", "1", "on", "yes":
			*field(c) = true
		case "false", "0", "off", "no":
			*field(c) = false
		default:
			return "", fmt.Errorf("true or false")
		}
		return strconv.FormatBool(*field(c)), nil
	}
}

func mode(field func(*Config) *Mode) parser {
	return func(c *Config, value string) (string, error) {
		m := Mode(strings.ToLower(value))
		if m != ModePointer && m != ModeBlock && m != ModeOff {
			return "", fmt.Errorf("pointer, block or off")
		}
		*field(c) = m
		return string(m), nil
	}
}

func block(field func(*Config) *Block) parser {
	return func(c *Config, value string) (string, error) {
		b := Block(strings.ToLower(value))
		if b != BlockNever && b != BlockHeadroom && b != BlockAlways {
			return "", fmt.Errorf("never, headroom or always")
		}
		*field(c) = b
		return string(b), nil
	}
}
