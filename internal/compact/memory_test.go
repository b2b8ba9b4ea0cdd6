package compact_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/compact"
)

const sessionID = "7f3a12cd-0000-4000-8000-000000000000"

var start = time.Date(2026, 11, 19, 9, 0, 0, 0, time.UTC)

// memory is a store of one session. Its methods add rows, one transcript line
// each, in the form that a reader returns.
type memory struct {
	session     archive.Session
	turns       []archive.Turn
	steps       []archive.Step
	calls       []archive.Call
	passages    []archive.Passage
	tasks       []archive.TaskEvent
	compactions []archive.Compaction
	hooks       []archive.HookSummary
	notes       []archive.Note
	sessions    []archive.Session
	injected    []archive.Injection
	snapshots   []archive.JournalEntry

	line, turn, step, seq int
	rows                  int // last used
	err                   error
}

func newMemory() *memory {
	return &memory{
		session: archive.Session{ID: sessionID, Client: "claude", Cwd: "/home/ada/shop", Project: archive.Project{Key: "dir:/home/ada/shop", Name: "shop"}},
		turn:    -1, step: -1,
	}
}

func (m *memory) time() time.Time { return start.Add(time.Duration(m.line) * time.Minute) }

func (m *memory) passage(kind archive.PassageKind, label, text string, paths ...string) {
	m.passages = append(m.passages, archive.Passage{
		Session: m.session.ID, Turn: m.turn, Step: m.step, Seq: m.seq, Kind: kind, Label: label, Text: text, Paths: paths,
		LineFrom: m.line, LineTo: m.line + 1, Time: m.time(),
	})
	m.seq++
}

// prompt begins a turn.
func (m *memory) prompt(text string) {
	m.turn, m.step, m.seq = m.turn+1, -1, 0
	m.turns = append(m.turns, archive.Turn{Session: m.session.ID, Index: m.turn, Title: text, LineFrom: m.line, LineTo: m.line + 1, Start: m.time()})
	m.passage(archive.KindPrompt, "", text)
	m.line++
}

// reply begins a step.
func (m *memory) reply(text string) {
	m.begin()
	m.passage(archive.KindReply, "", text)
	m.line++
}

func (m *memory) begin() {
	if m.turn < 0 {
		m.turn = 0
		m.turns = append(m.turns, archive.Turn{Session: m.session.ID})
	}
	m.step, m.seq = m.step+1, 0
	m.steps = append(m.steps, archive.Step{Session: m.session.ID, Turn: m.turn, Index: m.step, Time: m.time(), LineFrom: m.line, LineTo: m.line + 1})
}

func (m *memory) call(c archive.Call) archive.Call {
	c.Session, c.Turn, c.Step, c.LineUse, c.LineResult = m.session.ID, m.turn, m.step, m.line, m.line+1
	m.calls = append(m.calls, c)
	return c
}

// run adds a command in a separate step; its result is a second line.
func (m *memory) run(command string, exit int, output string) {
	m.begin()
	m.call(archive.Call{Name: "Bash", Kind: archive.CallCommand, Command: command, Exit: &exit, Failed: exit != 0, Error: lastError(exit, output)})
	m.passage(archive.KindCommand, "Bash", fmt.Sprintf("$ %s\n[exit %d]\n%s", command, exit, output))
	m.passages[len(m.passages)-1].LineTo++
	m.line += 2
}

func lastError(exit int, output string) string {
	if exit == 0 {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return lines[len(lines)-1]
}

// edit adds an edit of a file.
func (m *memory) edit(path, before, after string) {
	m.begin()
	m.call(archive.Call{Name: "Edit", Kind: archive.CallEdit, Files: []string{path}})
	m.passage(archive.KindEdit, "Edit", "Edit "+path+"\n--- old\n"+before+"\n+++ new\n"+after, path)
	m.line += 2
}

// refusedEdit adds an edit that the user refused.
func (m *memory) refusedEdit(path, before, after string) {
	m.edit(path, before, after)
	m.calls[len(m.calls)-1].Failed = true
	m.passage(archive.KindOutput, "Edit", "Edit "+path+"\nThe user refused it: keep the old name", path)
}

// read adds a file that was read.
func (m *memory) read(path, content string) {
	m.begin()
	m.call(archive.Call{Name: "Read", Kind: archive.CallRead, Files: []string{path}})
	m.passage(archive.KindOutput, "Read", "Read "+path+"\n"+content, path)
	m.line += 2
}

func (m *memory) task(id, subject, status string) {
	m.tasks = append(m.tasks, archive.TaskEvent{
		Session: m.session.ID, Line: m.line, TaskID: id, Subject: subject, Status: status, Turn: max(m.turn, 0), Step: max(m.step, 0), Time: m.time(),
	})
	m.line++
}

// start starts sub-agents in one step. Those without an answer are still running.
func (m *memory) start(answers ...[2]string) {
	m.begin()
	for i, a := range answers {
		c := archive.Call{Name: "Agent", Kind: archive.CallAgent, ToolID: fmt.Sprintf("toolu_%d_%d", m.line, i)}
		m.call(c)
		if a[1] == "" {
			m.calls[len(m.calls)-1].LineResult = -1
			continue
		}
		m.passage(archive.KindOutput, "Agent", "Agent "+a[0]+"\n"+a[1])
	}
	m.line += 2
}

// skill calls a skill.
func (m *memory) skill(name string) {
	m.begin()
	m.call(archive.Call{Name: "Skill", Kind: archive.CallOther})
	m.passage(archive.KindOutput, "Skill", "Skill skill "+name+"\nLaunching skill: "+name)
	m.line += 2
}

// compact adds a boundary and the client's summary.
func (m *memory) compact(summary string) {
	m.compactions = append(m.compactions, archive.Compaction{
		Session: m.session.ID, Index: len(m.compactions), Line: m.line, SummaryLine: m.line + 1, Time: m.time(), Turn: m.turn, Trigger: "auto",
	})
	m.line++
	step, seq := m.step, m.seq
	m.step, m.seq = -1, 100
	m.passage(archive.KindSummary, "", summary)
	m.step, m.seq = step, seq
	m.line++
}

func limit[T any](m *memory, all []T, sp archive.Span, at func(T) (line, turn int)) ([]T, error) {
	if m.err != nil {
		return nil, m.err
	}
	var out []T
	for _, x := range all {
		line, turn := at(x)
		if sp.BeforeLine > 0 && line >= sp.BeforeLine || sp.TurnTo > 0 && (turn < sp.TurnFrom || turn >= sp.TurnTo) {
			continue
		}
		out = append(out, x)
	}
	if sp.Newest {
		slices.Reverse(out)
	}
	if sp.Limit > 0 && len(out) > sp.Limit {
		out = out[:sp.Limit]
	}
	m.rows += len(out)
	return out, nil
}

func (m *memory) Session(_ context.Context, id string) (archive.Session, error) {
	if id != m.session.ID {
		return archive.Session{}, archive.NotFound("no such session", "")
	}
	return m.session, m.err
}

func (m *memory) Turns(_ context.Context, sp archive.Span) ([]archive.Turn, error) {
	return limit(m, m.turns, sp, func(x archive.Turn) (int, int) { return x.LineFrom, x.Index })
}

func (m *memory) Rewound(ctx context.Context, sp archive.Span) (out []int, err error) {
	turns, err := m.Turns(ctx, archive.Span{Session: sp.Session, BeforeLine: sp.BeforeLine, TurnFrom: sp.TurnFrom, TurnTo: sp.TurnTo, Newest: true})
	for i, t := range turns {
		if t.Dead && slices.ContainsFunc(turns[:i], func(x archive.Turn) bool { return !x.Dead }) {
			out = append(out, t.Index)
		}
	}
	return out, err
}

func (m *memory) Steps(_ context.Context, sp archive.Span) ([]archive.Step, error) {
	return limit(m, m.steps, sp, func(x archive.Step) (int, int) { return x.LineFrom, x.Turn })
}

func (m *memory) Calls(_ context.Context, sp archive.CallSpan) ([]archive.Call, error) {
	return limit(m, m.calls, sp.Span, func(x archive.Call) (int, int) { return x.LineUse, x.Turn })
}

func (m *memory) Passages(_ context.Context, sp archive.PassageSpan) ([]archive.Passage, error) {
	var of []archive.Passage
	for _, x := range m.passages {
		if slices.Contains(sp.Kinds, x.Kind) {
			of = append(of, x)
		}
	}
	return limit(m, of, sp.Span, func(x archive.Passage) (int, int) { return x.LineFrom, x.Turn })
}

func (m *memory) Tasks(_ context.Context, sp archive.Span) ([]archive.TaskEvent, error) {
	return limit(m, m.tasks, sp, func(x archive.TaskEvent) (int, int) { return x.Line, x.Turn })
}

func (m *memory) Compactions(_ context.Context, sp archive.Span) ([]archive.Compaction, error) {
	return limit(m, m.compactions, sp, func(x archive.Compaction) (int, int) { return x.Line, x.Turn })
}

func (m *memory) Notes(context.Context) ([]archive.Note, error) { return m.notes, m.err }

func (m *memory) Facts(context.Context, string, archive.JournalKind) ([]archive.JournalEntry, error) {
	return m.snapshots, m.err
}

func (m *memory) HookSummaries(context.Context, string) ([]archive.HookSummary, error) {
	return m.hooks, m.err
}

func (m *memory) Injected(context.Context, string) ([]archive.Injection, error) {
	return m.injected, m.err
}

func (m *memory) Sessions(_ context.Context, f archive.SessionFilter) ([]archive.Session, error) {
	return m.sessions[:min(len(m.sessions), f.Limit)], m.err
}

var _ compact.Measured = (*memory)(nil)
var _ compact.Sessions = (*memory)(nil)

// shop is a small session with most kinds of rows: a plan, a failing test with its
// cause and fix, a decision, open tasks, a rewind, a preference of the user.
func shop() *memory {
	m := newMemory()
	m.prompt("Add a discount code field to the checkout page.\nIt must never be logged, and please use the existing FormField component.")
	m.reply("I'll look at the checkout page first.")
	m.read("/home/ada/shop/web/checkout.tsx", "import { FormField } from './form'\nexport function CheckoutPage(props: CheckoutProps) {\n  return <FormField name=\"email\" label={t('email_label')} />\n}")
	m.task("1", "Add the discount field", "in_progress")
	m.task("2", "Validate codes on the server", "pending")
	m.task("3", "Write a migration for discount_codes", "pending")
	m.edit("/home/ada/shop/web/checkout.tsx", "return <FormField name=\"email\" />", "return <DiscountField name=\"discount_code\" onApply={props.applyDiscount} />\n// DiscountField never logs its value, see secretFields")
	m.run("npm test -- checkout", 1, "FAIL web/checkout.test.tsx\n  ● CheckoutPage shows the discount field\nTypeError: props.applyDiscount is not a function")
	m.reply("The root cause is that CheckoutProps has no applyDiscount callback, because the test renders the page through renderCheckout in web/testkit.ts.")
	m.edit("/home/ada/shop/web/testkit.ts", "renderCheckout()", "export function renderCheckout(over: Partial<CheckoutProps> = {}) {\n  return render(<CheckoutPage applyDiscount={noop} {...over} />)")
	m.run("npm test -- checkout", 0, "PASS web/checkout.test.tsx\nTests: 14 passed, 14 total")
	m.task("1", "", "completed")

	m.prompt("Try it with Redux.")
	m.reply("Redux store added in web/reduxStore.ts as the abandonedBranch.")
	m.turns[1].Dead = true

	m.prompt("Now the server side. I prefer plain SQL over the query builder.")
	m.task("2", "", "in_progress")
	m.read("/home/ada/shop/api/orders.py", "def apply_discount(order_id: int, code: str) -> Decimal:\n    \"\"\"Return the new total of an order after a discount code.\"\"\"\n    raise NotImplementedError")
	m.reply("We decided to keep codes case-insensitive: citext column discount_codes.code instead of lower() in every query, so that the unique index holds.")
	m.edit("/home/ada/shop/api/orders.py", "raise NotImplementedError", "row = db.fetch_one(\"SELECT percent FROM discount_codes WHERE code = %s\", code)\nif row is None:\n    raise UnknownDiscount(code)\nreturn total * (100 - row.percent) / 100")
	m.run("pytest api/test_orders.py -q", 1, "E   psycopg.errors.UndefinedTable: relation \"discount_codes\" does not exist\n1 failed, 8 passed in 2.31s")
	m.reply("The table is missing because migration 0042_discount_codes.sql was not applied to the test database.")
	return m
}

// team is a session that delegates: two groups of sub-agents, a skill, a manifest,
// and a task that an error blocks.
func team() *memory {
	m := newMemory()
	m.prompt("Move the shop to TypeScript. Never change the public API.")
	m.skill("superpowers:writing-plans")
	m.read("/home/ada/shop/package.json", "{\n  \"name\": \"shop\",\n  \"version\": \"1.2.0\",\n  \"dependencies\": {\n    \"react\": \"^18.2.0\",\n    \"express\": \"4.18.2\"\n  },\n  \"devDependencies\": {\n    \"vitest\": \"^1.0.0\"\n  },\n  \"scripts\": {\n    \"test\": \"vitest run\"\n  }\n}")
	m.task("1", "Type the cart", "pending")
	m.task("2", "Type the checkout", "pending")
	m.task("3", "Turn on strict mode", "pending")
	m.start(
		[2]string{"Explore · Find untyped modules · Look through web/", "There are 14 untyped modules, all of them below web/legacy. The largest is web/legacy/cart.js."},
		[2]string{"backend-dev · Read the API · Look at api/", "The public API is what api/index.js exports."},
	)
	m.task("1", "", "completed")
	m.task("2", "", "in_progress")
	m.edit("/home/ada/shop/web/checkout.ts", "function total(items)", "export function total(items: Item[]): Money {")
	m.reply("We keep api/index.js as it is, because clients import it by its name.")
	m.run("npm run typecheck", 2, "web/checkout.ts(12,3): error TS2322: Type 'string' is not assignable to type 'Money'")
	m.start([2]string{"", ""})
	m.reply("Next, the Money type has to come from web/money.ts.")
	return m
}
