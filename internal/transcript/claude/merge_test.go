package claude

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
	"strandline/internal/transcript"
)

// store applies batches like an index: the last row of a key and the first owner of an
// identity win.
type store struct {
	session     archive.Session
	turns       map[int]archive.Turn
	steps       map[[2]int]archive.Step
	calls       map[[3]int]archive.Call
	passages    map[[3]int]archive.Passage
	files       map[string]archive.FileTouch
	tasks       map[[2]int]archive.TaskEvent
	compactions map[int]archive.Compaction
	keys        map[uint64]archive.Ref
	doubles     []string // rows that one batch held twice
	owns        transcript.Owns
}

// ownsOnly recognizes these records.
func ownsOnly(texts ...string) transcript.Owns {
	return func(_ string, r text.Record) bool {
		return slices.ContainsFunc(texts, func(s string) bool { return text.Records(s)[0].Sum() == r.Sum() })
	}
}

// ownsMarked recognizes the records in the fixtures that have Strandline's mark.
func ownsMarked(_ string, r text.Record) bool {
	return strings.HasPrefix(r.Text, text.FenceOpen+" 0123abcd: ")
}

func newStore() *store {
	return &store{
		turns: map[int]archive.Turn{}, steps: map[[2]int]archive.Step{}, calls: map[[3]int]archive.Call{},
		passages: map[[3]int]archive.Passage{}, files: map[string]archive.FileTouch{},
		tasks: map[[2]int]archive.TaskEvent{}, compactions: map[int]archive.Compaction{},
		keys: map[uint64]archive.Ref{}, owns: ownsMarked,
	}
}

func put[K comparable, V any](s *store, m, seen map[K]V, k K, v V) {
	if _, twice := seen[k]; twice {
		s.doubles = append(s.doubles, fmt.Sprintf("%T %v", v, k))
	}
	seen[k] = v
	m[k] = v
}

func (s *store) apply(b archive.Batch) {
	s.session = b.Session
	turns, steps, calls := map[int]archive.Turn{}, map[[2]int]archive.Step{}, map[[3]int]archive.Call{}
	passages, tasks := map[[3]int]archive.Passage{}, map[[2]int]archive.TaskEvent{}
	compactions := map[int]archive.Compaction{}
	for _, v := range b.Turns {
		put(s, s.turns, turns, v.Index, v)
	}
	for _, v := range b.Steps {
		put(s, s.steps, steps, [2]int{v.Turn, v.Index}, v)
	}
	for _, v := range b.Calls {
		put(s, s.calls, calls, [3]int{v.Turn, v.Step, v.Seq}, v)
	}
	for _, v := range b.Passages {
		put(s, s.passages, passages, [3]int{v.Turn, v.Step, v.Seq}, v)
	}
	for _, v := range b.Tasks {
		put(s, s.tasks, tasks, [2]int{v.Line, v.Seq}, v)
	}
	for _, v := range b.Compactions {
		put(s, s.compactions, compactions, v.Index, v)
	}
	for _, v := range b.Files {
		s.files[fmt.Sprint(v.Turn, v.Step, v.Seq, v.Path)] = v
	}
	for _, i := range b.DeadTurns {
		t := s.turns[i]
		t.Dead = true
		s.turns[i] = t
	}
	for _, k := range b.Keys {
		if _, taken := s.keys[k.Key]; !taken {
			s.keys[k.Key] = k.Ref
		}
	}
}

func (s *store) lookup(_ context.Context, keys []uint64) (map[uint64]archive.Ref, error) {
	found := map[uint64]archive.Ref{}
	for _, k := range keys {
		if ref, ok := s.keys[k]; ok {
			found[k] = ref
		}
	}
	return found, nil
}

// read folds data in the given pieces, each with a new reader from the last cursor.
func (s *store) read(tb testing.TB, base archive.Session, redact func(string) string, pieces ...[]byte) archive.Cursor {
	tb.Helper()
	var cur archive.Cursor
	for _, piece := range pieces {
		cur.State = slices.Clone(cur.State)
		r, err := NewReader(base, cur, redact)
		if err != nil {
			tb.Fatal(err)
		}
		r.Owns = s.owns
		from := cur.Offset
		b, err := r.Read(context.Background(), piece, s.lookup)
		if err != nil {
			tb.Fatal(err)
		}
		if b.From != from {
			tb.Fatalf("batch begins at %d, the cursor was at %d", b.From, from)
		}
		s.apply(b)
		cur = b.Cursor
	}
	if len(s.doubles) > 0 {
		tb.Errorf("rows given twice in one batch: %v", s.doubles)
	}
	return cur
}

// dump writes the rows as text, in order.
func (s *store) dump() string {
	var b strings.Builder
	x := &s.session
	fmt.Fprintf(&b, "session %s cwd=%s branch=%s version=%s model=%s title=%q\n", x.ID, x.Cwd, x.GitBranch, x.Version, x.Model, x.Title)
	fmt.Fprintf(&b, "  first=%s last=%s lines=%d turns=%d steps=%d calls=%d compactions=%d\n", clock(x.First), clock(x.Last), x.Lines, x.Turns, x.Steps, x.Calls, x.Compacts)
	fmt.Fprintf(&b, "  usage=%v cost=%v\n", x.Usage, x.Cost)
	for _, t := range sorted(s.turns) {
		fmt.Fprintf(&b, "turn %d [%d,%d) steps=%d %s..%s prompt=%s%s%s %q\n", t.Index, t.LineFrom, t.LineTo, t.Steps, clock(t.Start), clock(t.End), t.PromptID, mark(t.Dead, " dead"), copied(t.Copy), t.Title)
		for _, p := range s.at(t.Index, -1) {
			passage(&b, "  ", p)
		}
		for _, st := range sorted(s.steps) {
			if st.Turn != t.Index {
				continue
			}
			fmt.Fprintf(&b, "  step %d.%d %s %s [%d,%d) usage=%v stop=%s%s%s%s\n", st.Turn, st.Index, st.MessageID, st.Model, st.LineFrom, st.LineTo, st.Usage, st.Stop, mark(st.APIError, " api-error"), mark(st.Sidechain, " sidechain"), copied(st.Copy))
			for _, c := range sorted(s.calls) {
				if c.Turn == st.Turn && c.Step == st.Index {
					call(&b, c)
				}
			}
			for _, p := range s.at(st.Turn, st.Index) {
				passage(&b, "    ", p)
			}
		}
	}
	for _, f := range sorted(s.files) {
		fmt.Fprintf(&b, "file %d.%d/%d line %d %s %s\n", f.Turn, f.Step, f.Seq, f.Line, f.Kind, f.Path)
	}
	for _, e := range sorted(s.tasks) {
		fmt.Fprintf(&b, "task line %d.%d at %d.%d id=%s status=%s %q\n", e.Line, e.Seq, e.Turn, e.Step, e.TaskID, e.Status, e.Subject)
	}
	for _, c := range sorted(s.compactions) {
		fmt.Fprintf(&b, "compaction %d line %d %s %d->%d %s summary=%d kept=%d turn=%d%s\n", c.Index, c.Line, c.Trigger, c.PreTokens, c.PostTokens, c.Duration, c.SummaryLine, c.Kept, c.Turn, mark(c.Ours, " ours"))
	}
	return b.String()
}

func call(b *strings.Builder, c archive.Call) {
	exit := "-"
	if c.Exit != nil {
		exit = fmt.Sprint(*c.Exit)
	}
	fmt.Fprintf(b, "    call %d %s %s %s lines %d..%d exit=%s %s%s", c.Seq, c.ToolID, c.Name, c.Kind, c.LineUse, c.LineResult, exit, c.Duration, mark(c.Failed, " failed"))
	for _, f := range c.Files {
		fmt.Fprintf(b, " %s", f)
	}
	if c.Command != "" {
		fmt.Fprintf(b, " command=%q", c.Command)
	}
	if c.Error != "" {
		fmt.Fprintf(b, " error=%q", c.Error)
	}
	b.WriteByte('\n')
}

func passage(b *strings.Builder, indent string, p archive.Passage) {
	fmt.Fprintf(b, "%spassage %d %s/%s [%d,%d)%s %v\n", indent, p.Seq, p.Kind, p.Label, p.LineFrom, p.LineTo, mark(p.Partial, " partial"), p.Paths)
	text := p.Text
	if len(text) > 700 {
		text = text[:350] + fmt.Sprintf(" <%d bytes> ", len(text)-700) + text[len(text)-350:]
	}
	for line := range strings.Lines(text) {
		fmt.Fprintf(b, "%s  | %s\n", indent, strings.TrimRight(line, "\n"))
	}
}

func (s *store) at(turn, step int) []archive.Passage {
	var all []archive.Passage
	for _, p := range s.passages {
		if p.Turn == turn && p.Step == step {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b archive.Passage) int { return cmp.Compare(a.Seq, b.Seq) })
	return all
}

func sorted[K comparable, V any](m map[K]V) []V {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b K) int {
		return strings.Compare(sortKey(a), sortKey(b))
	})
	var all []V
	for _, k := range keys {
		all = append(all, m[k])
	}
	return all
}

// sortKey pads the numbers in a key, so that they sort by value.
func sortKey(k any) string {
	var b strings.Builder
	for w := range strings.FieldsSeq(strings.Trim(fmt.Sprint(k), "[]")) {
		fmt.Fprintf(&b, "%8s ", w)
	}
	return b.String()
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format("15:04:05.000")
}

func mark(on bool, text string) string {
	if on {
		return text
	}
	return ""
}

func copied(r *archive.Ref) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf(" copy=%s/%d.%d", r.Session, r.Turn, r.Step)
}

// cut splits data after each of the given lines.
func cutAt(data []byte, lines ...int) [][]byte {
	var pieces [][]byte
	from, line := 0, 0
	for i, c := range data {
		if c != '\n' {
			continue
		}
		if line++; slices.Contains(lines, line) {
			pieces = append(pieces, data[from:i+1])
			from = i + 1
		}
	}
	return append(pieces, data[from:])
}
